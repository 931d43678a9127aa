//! How driving a run came to its end, and what its listeners are told on the way.

use sprag_core::codes::Code;
use sprag_core::run::Ending;

/// Why a process drives a run no longer.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The run is over.
    Ended(Ending),
    /// Only a person can move it on.
    Waiting,
    /// The process was asked to leave; what had finished is saved.
    Interrupted,
    /// Another process owns the run now.
    TakenOver,
    /// The store cannot be written, and the process was asked not to wait for it.
    Unavailable(String),
    /// The disk failed to keep what it took (`R-JRN-3`).
    Broken(String),
    /// What is stored is not what was written, and waiting does not mend it.
    Damaged {
        /// Whether it is the store or the journal of this run.
        code: Code,
        /// What is wrong.
        why: String,
    },
    /// The rules of sprag contradict themselves: a bug, noticed before anything illegal was written.
    Faulty(String),
}

/// Something that a person should know while a run goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The store cannot be written; nothing new starts until it can.
    StoreUnavailable(String),
    /// It can be written again, and nothing was lost.
    StoreBack,
}
