//! The states of a node and the moves between them (`R-STATE-1`).

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a node is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum NodeState {
    /// It waits for what it needs.
    Pending = 0,
    /// It may start.
    #[serde(alias = "queued")]
    Ready = 1,
    /// An attempt is under way.
    Running = 2,
    /// It waits for a person's answer.
    AwaitingApproval = 3,
    /// A person has let it pass, and it is about to complete.
    Approved = 4,
    /// It has an output.
    #[serde(alias = "succeeded")]
    Completed = 5,
    /// Its last attempt failed; a mark beside the state says whether for good.
    Failed = 6,
    /// It will not run, because of how others ended.
    Skipped = 7,
    /// It was stopped or rejected.
    #[serde(alias = "canceled")]
    Cancelled = 8,
}

impl NodeState {
    /// All states, in the order in which they are shown.
    pub const ALL: [Self; 9] = [
        Self::Pending,
        Self::Ready,
        Self::Running,
        Self::AwaitingApproval,
        Self::Approved,
        Self::Completed,
        Self::Failed,
        Self::Skipped,
        Self::Cancelled,
    ];

    /// The state as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Ready => "ready",
            Self::Running => "running",
            Self::AwaitingApproval => "awaiting_approval",
            Self::Approved => "approved",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Cancelled => "cancelled",
        }
    }

    /// The state of this name, or of one of the names other systems use (`R-STATE-6`).
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "queued" => Some(Self::Ready),
            "succeeded" => Some(Self::Completed),
            "canceled" => Some(Self::Cancelled),
            _ => Self::ALL.into_iter().find(|state| state.as_str() == name),
        }
    }

    /// The whole life of a node. A refused pair is journaled nowhere.
    pub const fn is_valid_transition(self, next: Self) -> bool {
        use NodeState::{Approved, AwaitingApproval, Cancelled, Completed, Failed, Pending, Ready, Running, Skipped};
        match (self, next) {
            (Pending, Ready | Skipped | Cancelled)
            | (Ready, Running | Skipped | Cancelled)
            | (Running, Completed | Failed | Cancelled | AwaitingApproval)
            | (AwaitingApproval, Approved | Cancelled | Failed)
            | (Approved, Completed)
            | (Failed, Ready) => true,
            // The negative space is written out, so a new state stops the build here.
            (Pending, Pending | Running | Completed | Failed | AwaitingApproval | Approved)
            | (Ready, Pending | Ready | Completed | Failed | AwaitingApproval | Approved)
            | (Running, Pending | Ready | Running | Skipped | Approved)
            | (AwaitingApproval, Pending | Ready | Running | Completed | Skipped | AwaitingApproval)
            | (Approved, Pending | Ready | Running | Failed | Skipped | Cancelled | AwaitingApproval | Approved)
            | (Failed, Pending | Running | Completed | Failed | Skipped | Cancelled | AwaitingApproval | Approved)
            | (
                Completed | Skipped | Cancelled,
                Pending | Ready | Running | AwaitingApproval | Approved | Completed | Failed | Skipped | Cancelled,
            ) => false,
        }
    }

    /// The next state of a node if the move is one of the table, otherwise the error that names node and move.
    pub fn moved(self, next: Self, node: &str) -> Result<Self, InvalidStateTransition> {
        if self.is_valid_transition(next) {
            Ok(next)
        } else {
            Err(InvalidStateTransition { node: node.to_owned(), from: self, to: next })
        }
    }
}

impl fmt::Display for NodeState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// Whether a node may move from one state to another.
pub const fn is_valid_transition(from: NodeState, to: NodeState) -> bool {
    from.is_valid_transition(to)
}

/// A move that is not in the table: refused before anything is written, and again when a journal is replayed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidStateTransition {
    /// The address of the node.
    pub node: String,
    /// The state it is in.
    pub from: NodeState,
    /// The state it was to move to.
    pub to: NodeState,
}

impl fmt::Display for InvalidStateTransition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Invalid state transition for node {}: {} -> {}", self.node, self.from, self.to)
    }
}

impl Error for InvalidStateTransition {}

#[cfg(test)]
mod tests {
    use super::{NodeState, is_valid_transition};

    /// Columns in the order of the rows; `x` is a move.
    const GRID: &str = "
        pending            . x . . . . . x x
        ready              . . x . . . . x x
        running            . . . x . x x . x
        awaiting_approval  . . . . x . x . x
        approved           . . . . . x . . .
        completed          . . . . . . . . .
        failed             . x . . . . . . .
        skipped            . . . . . . . . .
        cancelled          . . . . . . . . .
    ";

    #[test]
    fn all_pairs_are_those_of_the_contract() {
        // R-STATE-1, R-STATE-2, R-STATE-6
        let rows: Vec<Vec<&str>> =
            GRID.lines().map(|line| line.split_whitespace().collect()).filter(|row: &Vec<_>| !row.is_empty()).collect();
        let states: Vec<NodeState> = rows.iter().map(|row| NodeState::from_name(row[0]).unwrap()).collect();
        assert_eq!(states, NodeState::ALL);
        let mut pairs = 0;
        for (from, row) in states.iter().zip(&rows) {
            assert_eq!(row.len(), 10, "{from}");
            for (to, mark) in states.iter().zip(&row[1..]) {
                assert_eq!(is_valid_transition(*from, *to), *mark == "x", "{from} -> {to}");
                pairs += 1;
            }
        }
        assert_eq!(pairs, 81);
    }

    #[test]
    fn a_refused_move_says_which() {
        // R-STATE-1
        let refused = NodeState::Failed.moved(NodeState::Running, "build/linux").unwrap_err();
        assert_eq!(refused.to_string(), "Invalid state transition for node build/linux: failed -> running");
        let refused = NodeState::AwaitingApproval.moved(NodeState::Completed, "ship").unwrap_err();
        assert_eq!(refused.to_string(), "Invalid state transition for node ship: awaiting_approval -> completed");
        assert_eq!(NodeState::Failed.moved(NodeState::Ready, "build"), Ok(NodeState::Ready));
    }

    #[test]
    fn other_names_are_read_and_never_written() {
        // R-STATE-6
        for (name, state) in
            [("queued", NodeState::Ready), ("succeeded", NodeState::Completed), ("canceled", NodeState::Cancelled)]
        {
            assert_eq!(NodeState::from_name(name), Some(state));
            assert_eq!(serde_json::from_str::<NodeState>(&format!("\"{name}\"")).unwrap(), state);
        }
        for state in NodeState::ALL {
            assert_eq!(NodeState::from_name(state.as_str()), Some(state));
            assert_eq!(serde_json::to_string(&state).unwrap(), format!("\"{state}\""));
        }
        for name in ["", "Ready", "stale_running", "retrying"] {
            assert_eq!(NodeState::from_name(name), None, "{name}");
        }
    }
}
