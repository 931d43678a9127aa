//! The kinds of nodes.

use serde::{Deserialize, Serialize};

/// What a node does (`R-NODE-1`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the keys of the file")]
pub enum Kind {
    Run,
    Http,
    Agent,
    Approve,
    Workflow,
    Map,
    Loop,
    Wait,
    Generate,
    Call,
    Noop,
}

impl Kind {
    /// All kinds, in the order of the docs.
    pub const ALL: [Self; 11] = [
        Self::Run,
        Self::Http,
        Self::Agent,
        Self::Approve,
        Self::Workflow,
        Self::Map,
        Self::Loop,
        Self::Wait,
        Self::Generate,
        Self::Call,
        Self::Noop,
    ];

    /// The key in the file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Http => "http",
            Self::Agent => "agent",
            Self::Approve => "approve",
            Self::Workflow => "workflow",
            Self::Map => "map",
            Self::Loop => "loop",
            Self::Wait => "wait",
            Self::Generate => "generate",
            Self::Call => "call",
            Self::Noop => "noop",
        }
    }

    /// Whether it expands into children (`R-GROW-1`).
    pub const fn grows(self) -> bool {
        matches!(self, Self::Workflow | Self::Map | Self::Loop | Self::Generate)
    }

    /// Whether an attempt at it takes a slot: what waits for time, people or children holds none (`R-SCHED-3`).
    pub const fn holds_slot(self) -> bool {
        !matches!(self, Self::Wait | Self::Approve | Self::Workflow | Self::Map | Self::Loop)
    }

    /// Whether it is an attempt at work, rather than a wait, a gate, nothing, or its children.
    pub const fn works(self) -> bool {
        matches!(self, Self::Run | Self::Http | Self::Agent | Self::Call)
    }
}
