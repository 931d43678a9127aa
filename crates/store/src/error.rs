//! What can go wrong in a store. The variant says what the caller does next.

use std::fmt;

use sprag_core::file::Duration;
use sprag_core::run::{Fence, RunId, Seq};

/// The backend's own words.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why a store did not do what it was asked.
#[derive(Debug)]
pub enum StoreError {
    /// The journal is not where the writer thought: fold it again and decide again.
    Conflict {
        /// The last entry that the writer knew.
        expected: Seq,
        /// The last entry there is.
        actual: Seq,
    },
    /// Somebody else owns the run now: stop, and write nothing more.
    Fenced {
        /// What the writer holds.
        held: Fence,
        /// What counts now.
        current: Fence,
    },
    /// There is no such run.
    NoRun(RunId),
    /// The store cannot be reached or is full: wait, and repeat the same. Whether a write landed is not known.
    Unavailable {
        /// How long to wait, if the store said so.
        retry_after: Option<Duration>,
        /// Why.
        source: BoxError,
    },
    /// The disk failed to keep what it took, twice: stop the process, because nobody knows what is on it (`R-JRN-3`).
    Broken {
        /// Why.
        source: BoxError,
    },
    /// Something that belongs to no single run is not what was written.
    Damaged {
        /// What it is, and what is wrong with it.
        detail: String,
    },
    /// What is stored is not what was written: stop the run and tell a person.
    Corrupt {
        /// The run.
        run: RunId,
        /// The first entry that cannot be trusted.
        seq: Seq,
        /// What is wrong.
        detail: String,
    },
}

impl fmt::Display for StoreError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict { expected, actual } => {
                write!(formatter, "the journal moved on: its last entry is {actual}, not {expected}")
            }
            Self::Fenced { held, current } => {
                write!(formatter, "another process owns the run (fence {current}, this one holds {held})")
            }
            Self::NoRun(run) => write!(formatter, "there is no run `{run}`"),
            Self::Unavailable { source, .. } => write!(formatter, "the store cannot be used now: {source}"),
            Self::Broken { source } => write!(formatter, "the disk failed to keep what was written: {source}"),
            Self::Damaged { detail } => write!(formatter, "the store is damaged: {detail}"),
            Self::Corrupt { run, seq, detail } => {
                write!(formatter, "the journal of run `{run}` is damaged at entry {seq}: {detail}")
            }
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unavailable { source, .. } | Self::Broken { source } => Some(source.as_ref()),
            Self::Conflict { .. }
            | Self::Fenced { .. }
            | Self::NoRun(_)
            | Self::Damaged { .. }
            | Self::Corrupt { .. } => None,
        }
    }
}
