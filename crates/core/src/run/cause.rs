//! Why nodes are skipped and cancelled, why runs stop, and how they end.

use serde::{Deserialize, Serialize};

use super::entry::is_false;
use super::failure::NodeError;
use super::ids::RunId;
use crate::graph::NodeIndex;

/// Why a node was skipped (`R-STATE-5`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// A source failed.
    DependencyFailed,
    /// A source was skipped.
    DependencySkipped,
    /// A source was cancelled, rejected or timed out at its gate.
    DependencyCancelled,
    /// A source completed, but the edge's `when` or `condition` did not hold.
    ConditionNotMet,
    /// The run stopped first.
    RunStopped,
}

impl SkipReason {
    /// The word in the journal and the trace.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DependencyFailed => "dependency_failed",
            Self::DependencySkipped => "dependency_skipped",
            Self::DependencyCancelled => "dependency_cancelled",
            Self::ConditionNotMet => "condition_not_met",
            Self::RunStopped => "run_stopped",
        }
    }
}

/// Why a node was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelCause {
    /// The run was cancelled or killed, or stopped while the node waited.
    Stopped,
    /// A person rejected its result.
    Rejected,
    /// Nobody answered its gate in time.
    TimedOut,
    /// A person chose to skip it.
    SkippedByPerson,
}

impl CancelCause {
    /// Whether `on_failure` edges see it as a failure (`R-EDGE-1`).
    pub const fn is_failure(self) -> bool {
        matches!(self, Self::Rejected | Self::TimedOut)
    }
}

/// Why a run, or a graph inside it, stops before its nodes are done, from mild to strict: a stricter cause takes over
/// from a milder one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum StopCause {
    /// `fail_fast`, and this failure is unhandled.
    FailFast {
        /// The node.
        node: NodeIndex,
    },
    /// So many nodes have failed as `max_node_failures` allows.
    NodeFailures {
        /// How many.
        count: u32,
    },
    /// So many nodes have failed after retries as `max_retries_exhausted` allows.
    RetriesExhausted {
        /// How many.
        count: u32,
    },
    /// A phase ended with a failure that nobody handled, so the next one does not start.
    PhaseFailed {
        /// The phase, from 0.
        phase: u16,
    },
    /// A phase took longer than its `timeout`.
    PhaseTimeout {
        /// The phase, from 0.
        phase: u16,
    },
    /// The node whose graph this is took longer than its `timeout`.
    Timeout,
    /// The deadline has passed.
    Deadline,
    /// A run that is linked to it goes on in its place (`R-RES-1`).
    Superseded {
        /// That run.
        by: RunId,
    },
    /// A person cancelled or killed it.
    Cancel {
        /// Whether processes get no time to end.
        kill: bool,
    },
}

/// How much a stop leaves alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopLevel {
    /// Running attempts end and are kept.
    Halt,
    /// Running attempts are aborted and fail.
    Deadline,
    /// Running attempts are aborted and cancelled.
    Cancel,
}

impl StopCause {
    /// How much it leaves alone.
    pub const fn level(&self) -> StopLevel {
        match self {
            Self::FailFast { .. }
            | Self::NodeFailures { .. }
            | Self::RetriesExhausted { .. }
            | Self::PhaseFailed { .. } => StopLevel::Halt,
            Self::Deadline | Self::PhaseTimeout { .. } | Self::Timeout => StopLevel::Deadline,
            Self::Superseded { .. } | Self::Cancel { .. } => StopLevel::Cancel,
        }
    }
}

/// How a run ended (`R-EDGE-5`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ending {
    /// Completed, failed or cancelled.
    pub status: EndStatus,
    /// The exit code of the command that ran it.
    pub exit: u8,
    /// Whether some result is not what its work itself would have given, or a failure was left open.
    #[serde(default, skip_serializing_if = "is_false")]
    pub degraded: bool,
    /// The failure that decided it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<EndFailure>,
    /// The linked run that goes on in its place (`R-RES-1`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<RunId>,
}

/// The failure that decided how a run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndFailure {
    /// The node, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeIndex>,
    /// The error.
    pub error: NodeError,
}

/// The ways a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the states")]
pub enum EndStatus {
    Completed,
    Failed,
    Cancelled,
}
