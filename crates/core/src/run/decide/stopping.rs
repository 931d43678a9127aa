//! How a run stops early, and how it ends (`R-EDGE-5`, `R-EDGE-6`).

use crate::definition::Kind;
use crate::graph::NodeIndex;
use crate::run::cause::{CancelCause, EndFailure, EndStatus, Ending, SkipReason, StopCause, StopLevel};
use crate::run::class::Known;
use crate::run::entry::Entry;
use crate::run::failure::NodeError;
use crate::run::fold::{Run, count};
use crate::run::input::Stage;
use crate::run::state::NodeState;

impl Run {
    /// The rule that stops the run now, if one does. The failure that is named is the smallest by id.
    pub(super) fn stop_trigger(&self) -> Option<StopCause> {
        if self.stop.is_some() {
            return None;
        }
        let policy = &self.definition.policy;
        if policy.fail_fast.unwrap_or(false)
            && let Some(node) = self.unhandled.first()
        {
            return Some(StopCause::FailFast { node: *node });
        }
        if policy.max_node_failures.is_some_and(|limit| self.node_failures >= limit) {
            return Some(StopCause::NodeFailures { count: self.node_failures });
        }
        if policy.max_retries_exhausted.is_some_and(|limit| self.retries_exhausted >= limit) {
            return Some(StopCause::RetriesExhausted { count: self.retries_exhausted });
        }
        None
    }

    /// What a stop does to the nodes it does not leave alone, all at once.
    pub(super) fn sweep(&self) -> Vec<Entry> {
        let Some(level) = self.stop.as_ref().map(StopCause::level) else { return Vec::new() };
        // What is being done may end; waiting for time or a signal is not doing.
        let spared = if level == StopLevel::Halt { count(self.active.len()) - self.waits } else { 0 };
        if self.unsettled == spared {
            return Vec::new();
        }
        let open = self.definition.graph.nodes().filter(|node| !self.nodes[node.at()].settled);
        open.flat_map(|node| self.swept(level, node)).collect()
    }

    /// Whether a running node only waits for time or a signal.
    fn is_waiting(&self, node: NodeIndex) -> bool {
        self.definition.node(node).kind == Kind::Wait && self.nodes[node.at()].stage == Stage::Work
    }

    fn swept(&self, level: StopLevel, node: NodeIndex) -> Vec<Entry> {
        let record = &self.nodes[node.at()];
        let cancelled = || Entry::Cancelled { node, cause: CancelCause::Stopped };
        let skipped = || Entry::Skipped { node, reason: SkipReason::RunStopped, cause: None };
        let too_late = || {
            let message = "the run's deadline passed before it was done";
            self.final_failure(node, NodeError::new(Known::DEADLINE_EXCEEDED, message))
        };
        match (record.state, level) {
            (NodeState::Pending | NodeState::Ready, StopLevel::Halt | StopLevel::Deadline) => vec![skipped()],
            (NodeState::Failed, _) => vec![Entry::Finalised { node }],
            (NodeState::Running, StopLevel::Deadline) => vec![too_late()],
            (NodeState::Running, StopLevel::Halt) if !self.is_waiting(node) => Vec::new(),
            (NodeState::Running, StopLevel::Halt | StopLevel::Cancel)
            | (NodeState::Pending | NodeState::Ready, StopLevel::Cancel) => vec![cancelled()],
            (NodeState::AwaitingApproval, _) => {
                let closed = record.rare().question.map(|question| Entry::Closed { question });
                let ends = if level == StopLevel::Deadline { too_late() } else { cancelled() };
                closed.into_iter().chain([ends]).collect()
            }
            (NodeState::Approved | NodeState::Completed | NodeState::Skipped | NodeState::Cancelled, _) => Vec::new(),
        }
    }

    /// How the run ends, once every node is settled: the first row of the table that fits.
    pub(super) fn ending(&self) -> Option<Ending> {
        if self.unsettled > 0 {
            return None;
        }
        let failed = |exit, failure| Ending { status: EndStatus::Failed, exit, degraded: false, failure };
        Some(match &self.stop {
            Some(StopCause::Cancel { .. }) => {
                Ending { status: EndStatus::Cancelled, exit: 5, degraded: false, failure: None }
            }
            Some(StopCause::Deadline) => {
                let error = NodeError::new(Known::DEADLINE_EXCEEDED, "the run's deadline passed");
                failed(6, Some(EndFailure { node: None, error }))
            }
            Some(StopCause::FailFast { node }) => failed(1, self.failure_of(*node)),
            Some(StopCause::NodeFailures { .. } | StopCause::RetriesExhausted { .. }) => {
                // What was handled before the stop is not what went wrong, unless nothing else did.
                failed(1, self.first_unhandled().map_or_else(|| self.first_failure(), |node| self.failure_of(node)))
            }
            None => match self.first_unhandled() {
                Some(node) if self.definition.policy.fail_open.unwrap_or(false) => {
                    Ending { status: EndStatus::Completed, exit: 0, degraded: true, failure: self.failure_of(node) }
                }
                Some(node) => failed(1, self.failure_of(node)),
                None => Ending { status: EndStatus::Completed, exit: 0, degraded: self.tainted, failure: None },
            },
        })
    }

    /// The open failure that comes first in canonical order, so that completion order does not show (`R-SCHED-4`).
    fn first_unhandled(&self) -> Option<NodeIndex> {
        self.unhandled.iter().copied().min_by_key(|node| self.canonical_place(*node))
    }

    fn first_failure(&self) -> Option<EndFailure> {
        let failed = self.definition.graph.nodes().filter(|node| self.nodes[node.at()].state == NodeState::Failed);
        failed.min_by_key(|node| self.canonical_place(*node)).and_then(|node| self.failure_of(node))
    }

    fn failure_of(&self, node: NodeIndex) -> Option<EndFailure> {
        self.error(node).map(|error| EndFailure { node: Some(node), error })
    }
}
