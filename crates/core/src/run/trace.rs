//! The canonical trace: what happened, without times, in the order (phase, depth, id) (`R-TRACE-1`, `R-SCHED-4`).

use std::fmt;

use super::cause::SkipReason;
use super::fold::Run;
use super::state::NodeState;
use crate::file::ErrorCode;
use crate::graph::NodeIndex;

/// One line of the trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TraceEvent {
    /// A node has its result.
    TaskExecuted {
        /// The node.
        node: String,
    },
    /// A node has the result that it had in an earlier run (`R-CACHE-4`).
    TaskArtifactsRestored {
        /// The node.
        node: String,
    },
    /// A node failed for good.
    TaskFailed {
        /// The node.
        node: String,
        /// The code of its last error.
        code: ErrorCode,
    },
    /// A node did not run.
    TaskSkipped {
        /// The node.
        node: String,
        /// Why.
        reason: SkipReason,
        /// The direct source that caused it.
        cause: Option<String>,
    },
}

impl fmt::Display for TraceEvent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TaskExecuted { node } => write!(formatter, "TaskExecuted {node}"),
            Self::TaskArtifactsRestored { node } => write!(formatter, "TaskArtifactsRestored {node}"),
            Self::TaskFailed { node, code } => write!(formatter, "TaskFailed {node} {code}"),
            Self::TaskSkipped { node, reason, cause: Some(cause) } => {
                write!(formatter, "TaskSkipped {node} {} {cause}", reason.as_str())
            }
            Self::TaskSkipped { node, reason, cause: None } => {
                write!(formatter, "TaskSkipped {node} {}", reason.as_str())
            }
        }
    }
}

impl Run {
    /// The trace so far: settled nodes only, so that it never takes a line back. What grew inside a node comes before it.
    pub fn trace(&self) -> Vec<TraceEvent> {
        let mut lines = Vec::new();
        self.trace_level(0, &mut lines);
        lines
    }

    fn trace_level(&self, level: usize, lines: &mut Vec<TraceEvent>) {
        let mut nodes: Vec<_> = self.levels[level].nodes().collect();
        nodes.sort_unstable_by_key(|node| self.canonical_place(*node));
        for node in nodes {
            for inside in self.grown.get(&node).into_iter().flatten() {
                self.trace_level(*inside as usize, lines);
            }
            lines.extend(self.traced(node));
        }
    }

    fn traced(&self, node: NodeIndex) -> Option<TraceEvent> {
        let record = &self.nodes[node.at()];
        let id = |node: NodeIndex| self.address(node);
        match record.state {
            NodeState::Completed if record.kept => Some(TraceEvent::TaskArtifactsRestored { node: id(node) }),
            NodeState::Completed => Some(TraceEvent::TaskExecuted { node: id(node) }),
            NodeState::Failed if record.settled => {
                Some(TraceEvent::TaskFailed { node: id(node), code: self.error(node)?.code })
            }
            NodeState::Skipped => {
                let (reason, cause) = record.skipped?;
                Some(TraceEvent::TaskSkipped { node: id(node), reason, cause: cause.map(id) })
            }
            NodeState::Pending
            | NodeState::Ready
            | NodeState::Running
            | NodeState::AwaitingApproval
            | NodeState::Approved
            | NodeState::Failed
            | NodeState::Cancelled => None,
        }
    }
}
