//! Classes of failures of whole runs, and which of them can be resumed (`R-FAIL-1`).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::codes::Code;
use crate::run::{EndStatus, Ending};

/// Why a run as a whole failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The workflow: it does not load, or its structure is wrong.
    Graph,
    /// The project: its folder, its settings, its files.
    Workspace,
    /// A node failed.
    Execution,
    /// The machine, the process or the store.
    System,
}

impl FailureClass {
    /// All classes.
    pub const ALL: [Self; 4] = [Self::Graph, Self::Workspace, Self::Execution, Self::System];

    /// The word in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Graph => "graph",
            Self::Workspace => "workspace",
            Self::Execution => "execution",
            Self::System => "system",
        }
    }

    /// The class of this word.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.as_str() == name)
    }

    /// Whether a run that failed so can be resumed.
    pub const fn is_resumable(self) -> bool {
        match self {
            Self::Graph | Self::Workspace => false,
            Self::Execution | Self::System => true,
        }
    }

    /// The class of what happened to a run; none if it has not failed.
    pub const fn of(fate: &Fate<'_>) -> Option<Self> {
        match fate {
            Fate::BeforeFirstNode(code) => Some(Self::of_code(*code)),
            Fate::Ended(ending) => match ending.status {
                EndStatus::Failed if ending.superseded_by.is_some() => Some(Self::System),
                EndStatus::Failed => Some(Self::Execution),
                EndStatus::Completed | EndStatus::Cancelled => None,
            },
            Fate::OwnerDied | Fate::Panicked | Fate::StoreFailed | Fate::Superseded => Some(Self::System),
            Fate::Live => None,
        }
    }

    /// The class of an error that kept a run from its first node.
    pub const fn of_code(code: Code) -> Self {
        match code {
            Code::FILE_NOT_FOUND
            | Code::FILE_UNREADABLE
            | Code::BAD_SETTINGS
            | Code::BAD_WORKSPACE
            | Code::OUTPUT_FAILED
            | Code::UNKNOWN_STORE
            | Code::FOREIGN_STORE
            | Code::NEWER_STORE
            | Code::USAGE => Self::Workspace,
            Code::STORE_UNAVAILABLE
            | Code::DAMAGED_STORE
            | Code::CORRUPT_JOURNAL
            | Code::INTERNAL
            | Code::RUN_OWNED
            | Code::NOT_YET_APPLIED => Self::System,
            // Everything else is about what the file says, or about how it was asked to run.
            _ => Self::Graph,
        }
    }
}

impl fmt::Display for FailureClass {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// What happened to a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fate<'run> {
    /// Somebody is running it, or only a person can move it on.
    Live,
    /// This kept it from its first node.
    BeforeFirstNode(Code),
    /// It came to its end.
    Ended(&'run Ending),
    /// Its journal has no end and its lease is dead: a killed process leaves no other record.
    OwnerDied,
    /// The process that ran it met a bug.
    Panicked,
    /// The store could not be written.
    StoreFailed,
    /// It was closed because a linked run goes on (`R-RES-1`).
    Superseded,
}
