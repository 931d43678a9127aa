//! How a run stops early, and how it ends (`R-EDGE-5`, `R-EDGE-6`).

use crate::definition::Kind;
use crate::graph::NodeIndex;
use crate::run::cause::{CancelCause, EndFailure, EndStatus, Ending, SkipReason, StopCause, StopLevel};
use crate::run::class::Known;
use crate::run::entry::Entry;
use crate::run::failure::NodeError;
use crate::run::fold::Run;
use crate::run::input::Stage;
use crate::run::state::NodeState;

impl Run {
    /// The graph that a rule of its policy stops now, if there is one. The failure that is named is the smallest by id.
    pub(super) fn stop_trigger(&self) -> Option<(usize, StopCause)> {
        let at = *self.alarmed.first()? as usize;
        let level = &self.levels[at];
        let policy = &level.policy;
        let first = level.unhandled_here.first().filter(|_| policy.fail_fast.unwrap_or(false));
        let cause = if let Some(node) = first {
            StopCause::FailFast { node: *node }
        } else if policy.max_node_failures.is_some_and(|limit| level.node_failures >= limit) {
            StopCause::NodeFailures { count: level.node_failures }
        } else if policy.max_retries_exhausted.is_some_and(|limit| level.retries_exhausted >= limit) {
            StopCause::RetriesExhausted { count: level.retries_exhausted }
        } else {
            StopCause::PhaseFailed { phase: level.waves.phase() }
        };
        Some((at, cause))
    }

    /// A graph stops, and with it everything inside it that the stop does not leave alone. What is inside comes first.
    pub(super) fn stops(&self, at: usize, cause: StopCause) -> Vec<Entry> {
        let level = cause.level();
        let mut swept = Vec::new();
        for inside in self.within(at).into_iter().rev() {
            let open = self.levels[inside].nodes().filter(|node| !self.nodes[node.at()].settled);
            swept.extend(open.flat_map(|node| self.swept(level, &cause, node)));
        }
        let stopping = Entry::Stopping { inside: self.levels[at].parent, cause };
        std::iter::once(stopping).chain(swept).collect()
    }

    /// Whether a running node only waits for time or a signal.
    fn is_waiting(&self, node: NodeIndex) -> bool {
        self.compiled(node).kind == Kind::Wait && self.nodes[node.at()].stage == Stage::Work
    }

    fn swept(&self, level: StopLevel, cause: &StopCause, node: NodeIndex) -> Vec<Entry> {
        let record = &self.nodes[node.at()];
        let cancelled = || Entry::Cancelled { node, cause: CancelCause::Stopped };
        let skipped = || Entry::Skipped { node, reason: SkipReason::RunStopped, cause: None };
        let too_late = || self.final_failure(node, out_of_time(cause));
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
        let level = self.root();
        if level.unsettled > 0 {
            return None;
        }
        let failed =
            |exit, failure| Ending { status: EndStatus::Failed, exit, degraded: false, failure, superseded_by: None };
        let unhandled = self.first_unhandled(0);
        Some(match &level.stop {
            Some(StopCause::Cancel { .. }) => Ending { status: EndStatus::Cancelled, ..failed(5, None) },
            Some(StopCause::Superseded { by }) => {
                let error = NodeError::new(Known::INTERRUPTED, format!("it was closed, and run {by} goes on from it"));
                let closed = failed(1, Some(EndFailure { node: None, error }));
                Ending { superseded_by: Some(*by), ..closed }
            }
            Some(StopCause::Deadline) => {
                let error = NodeError::new(Known::DEADLINE_EXCEEDED, "the run's deadline passed");
                failed(6, Some(EndFailure { node: None, error }))
            }
            Some(cause) => failed(1, self.cause_of_failure(0, cause)),
            None => match unhandled {
                Some(node) if level.fails_open() => {
                    Ending { status: EndStatus::Completed, degraded: true, ..failed(0, self.failure_of(node)) }
                }
                Some(node) => failed(1, self.failure_of(node)),
                None => Ending { status: EndStatus::Completed, degraded: level.tainted, ..failed(0, None) },
            },
        })
    }

    /// The failure that a stopped graph ends with.
    pub(super) fn cause_of_failure(&self, at: usize, cause: &StopCause) -> Option<EndFailure> {
        match cause {
            StopCause::FailFast { node } => self.failure_of(*node),
            StopCause::NodeFailures { .. } | StopCause::RetriesExhausted { .. } | StopCause::PhaseFailed { .. } => {
                // What was handled before the stop is not what went wrong, unless nothing else did.
                self.first_unhandled(at).map_or_else(|| self.first_failure(at), |node| self.failure_of(node))
            }
            StopCause::PhaseTimeout { .. }
            | StopCause::Timeout
            | StopCause::Deadline
            | StopCause::Superseded { .. }
            | StopCause::Cancel { .. } => Some(EndFailure { node: None, error: out_of_time(cause) }),
        }
    }

    /// The open failure that comes first in canonical order, so that completion order does not show (`R-SCHED-4`).
    pub(super) fn first_unhandled(&self, at: usize) -> Option<NodeIndex> {
        self.levels[at].unhandled.iter().copied().min_by_key(|node| self.canonical_place(*node))
    }

    fn first_failure(&self, at: usize) -> Option<EndFailure> {
        // Of a graph that fails for what happened deeper inside, the node there is named.
        let failed = |inside: usize| {
            let failed = self.levels[inside].nodes().filter(|node| self.nodes[node.at()].state == NodeState::Failed);
            failed.min_by_key(|node| self.canonical_place(*node))
        };
        self.within(at).into_iter().find_map(failed).and_then(|node| self.failure_of(node))
    }

    /// A phase of the workflow is done: the next one may start, or nothing more does (`R-PHASE-1`).
    pub(super) fn phase_end(&self) -> Option<Vec<Entry>> {
        let level = self.root();
        let phase = level.waves.phase();
        if level.stop.is_some() || usize::from(phase) >= level.body.phases.len() || !level.waves.phase_done() {
            return None;
        }
        if level.unhandled.is_empty() || level.fails_open() {
            return Some(vec![Entry::PhaseCompleted { phase }]);
        }
        (level.unsettled > 0).then(|| self.stops(0, StopCause::PhaseFailed { phase }))
    }

    /// Whether a phase of the workflow may be announced as done.
    pub(in crate::run) fn may_complete(&self, phase: u16) -> bool {
        matches!(self.phase_end().as_deref(), Some([Entry::PhaseCompleted { phase: done }]) if *done == phase)
    }

    fn failure_of(&self, node: NodeIndex) -> Option<EndFailure> {
        self.error(node).map(|error| EndFailure { node: Some(node), error })
    }
}

/// The error of what a stop at a time cuts off.
fn out_of_time(cause: &StopCause) -> NodeError {
    match cause {
        StopCause::PhaseTimeout { .. } => NodeError::new(Known::TIMEOUT, "the phase took longer than its `timeout`"),
        StopCause::Timeout => NodeError::new(Known::TIMEOUT, "the node around it took longer than its `timeout`"),
        _ => NodeError::new(Known::DEADLINE_EXCEEDED, "the run's deadline passed before it was done"),
    }
}
