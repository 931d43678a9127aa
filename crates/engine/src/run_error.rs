//! What can be wrong with what somebody wants of a run.

use std::fmt;

use sprag_core::codes::Code;
use sprag_core::facts::Facts;
use sprag_core::run::{Corrupt, OwnerId, Refusal, RunId};

/// Why a verb cannot be applied to a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunError {
    /// Nothing has been run here.
    NoRuns,
    /// No run is called this.
    NotFound {
        /// What was given.
        name: String,
    },
    /// Several runs start like this.
    Ambiguous {
        /// What was given.
        name: String,
        /// Some of them.
        runs: Vec<RunId>,
    },
    /// A live process owns it.
    Owned {
        /// The run.
        run: RunId,
        /// The process, where that is known.
        pid: Option<u32>,
    },
    /// Its owner is dead, but something that it started is not: its guard is stopped, or a process cannot be ended.
    Ending {
        /// The run.
        run: RunId,
        /// The owner that died.
        owner: OwnerId,
    },
    /// No run is waiting to be resumed.
    NothingToResume,
    /// It is over.
    Ended {
        /// The run.
        run: RunId,
        /// How it ended, in a word.
        status: &'static str,
    },
    /// It has no node of this name.
    NoNode {
        /// The run.
        run: RunId,
        /// What was given.
        node: String,
        /// Nearly the same.
        nearest: Option<String>,
    },
    /// The command waits in the mailbox.
    NotYetApplied {
        /// The run.
        run: RunId,
    },
    /// The run did not take the command.
    Refused(Refusal),
    /// Its journal holds what no rule allows.
    Corrupt {
        /// The run.
        run: RunId,
        /// What.
        corrupt: Corrupt,
    },
}

impl RunError {
    /// The stable code and what to do next.
    pub fn facts(&self) -> Facts {
        match self {
            Self::NoRuns => Facts::new(Code::RUN_NOT_FOUND, "start one with `sprag run`"),
            Self::NotFound { .. } => Facts::new(
                Code::RUN_NOT_FOUND,
                "`sprag runs` lists them; an id may be shortened, and `@last` is the newest",
            ),
            Self::Ambiguous { .. } => Facts::new(Code::AMBIGUOUS_RUN, "give more of the id"),
            Self::Owned { run, .. } => Facts::new(
                Code::RUN_OWNED,
                format!("follow it with `sprag events -f {run}`, or end it with `sprag cancel {run}`"),
            ),
            Self::Ending { owner, .. } => Facts::new(
                Code::RUN_OWNED,
                format!("look for its `sprag-guard` and for processes with `SPRAG_OWNER={owner}`, and try again"),
            ),
            Self::NothingToResume => {
                Facts::new(Code::NOTHING_TO_RESUME, "`sprag runs` lists all; `sprag run` starts a new one")
            }
            Self::Ended { .. } => {
                Facts::new(Code::RUN_ENDED, "a run that is over does not change: `sprag run` starts a new one")
            }
            Self::NoNode { nearest: Some(nearest), .. } => {
                Facts::new(Code::UNKNOWN_NODE, format!("did you mean `{nearest}`?"))
            }
            Self::NoNode { nearest: None, run, .. } => {
                Facts::new(Code::UNKNOWN_NODE, format!("`sprag show {run}` lists its nodes"))
            }
            Self::NotYetApplied { run } => Facts::new(
                Code::NOT_YET_APPLIED,
                format!("it is kept and will be applied; `sprag show {run}` tells when"),
            ),
            Self::Refused(refusal) => Facts::new(refusal.code, "`sprag show` tells the state of the run"),
            Self::Corrupt { .. } => {
                Facts::new(Code::CORRUPT_JOURNAL, "the other runs of the store are not concerned; please report it")
            }
        }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRuns => formatter.write_str("nothing has been run here yet"),
            Self::NotFound { name } => write!(formatter, "there is no run `{name}`"),
            Self::Ambiguous { name, runs } => {
                let shown: Vec<_> = runs.iter().map(|run| format!("`{run}`")).collect();
                write!(formatter, "`{name}` could be {}", shown.join(" or "))
            }
            Self::Owned { run, pid: Some(pid) } => write!(formatter, "process {pid} is running `{run}` right now"),
            Self::Owned { run, pid: None } => write!(formatter, "another process is running `{run}` right now"),
            Self::Ending { run, .. } => {
                write!(formatter, "what the process that ran `{run}` left behind is still ending")
            }
            Self::NothingToResume => formatter.write_str("no run was interrupted or is waiting"),
            Self::Ended { run, status } => write!(formatter, "run `{run}` is over: it is {status}"),
            Self::NoNode { run, node, .. } => write!(formatter, "run `{run}` has no node `{node}`"),
            Self::NotYetApplied { run } => {
                write!(formatter, "the process that runs `{run}` has not answered within 5 s")
            }
            Self::Refused(refusal) => formatter.write_str(&refusal.message),
            Self::Corrupt { run, corrupt } => write!(formatter, "run `{run}` cannot be read: {corrupt}"),
        }
    }
}

impl std::error::Error for RunError {}
