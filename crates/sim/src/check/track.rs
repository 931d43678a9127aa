//! A reader's notes: what the entries so far say about each node. It believes everything and decides nothing.

use sprag_core::definition::Kind;
use sprag_core::file::When;
use sprag_core::graph::{EdgeIndex, NodeIndex};
use sprag_core::run::{
    CancelCause, Entry, KeptEnd, NodeError, NodeState, Seq, SkipReason, StopCause, Taint, Timestamp,
};

use super::case::Case;
use super::history::Line;

/// What is known of a node.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Note {
    pub state: NodeState,
    /// Nothing about it may change any more (`R-STATE-4`).
    pub settled: bool,
    pub attempt: u32,
    pub cancelled: Option<CancelCause>,
    /// When its retry is due.
    pub due: Option<Timestamp>,
    /// When its wait is over.
    pub waits_until: Option<Timestamp>,
    /// Edges into it whose condition did not hold.
    pub unmet: Vec<EdgeIndex>,
    /// Whether a condition on its edges had an error.
    pub doomed: bool,
    pub tainted: bool,
    /// When it became settled.
    pub settled_at: Option<Seq>,
    /// The graph that its current attempt grew into last.
    pub inside: Option<usize>,
    /// Whether it goes on with what its children made.
    pub gathered: bool,
    /// Whether its task is being split, or was.
    pub splits: bool,
    /// Whether it waits for money.
    pub withheld: bool,
    /// Whether it began as it ended in an earlier run.
    pub kept: bool,
    /// Why it did not run.
    pub skipped: Option<SkipReason>,
    /// What went wrong last.
    pub error: Option<NodeError>,
}

/// What is known of a run.
#[derive(Debug, Clone)]
pub(super) struct Track {
    pub nodes: Vec<Note>,
    pub held: bool,
    /// How many graphs there are so far.
    pub opened: usize,
    /// Why each of the graphs stops.
    pub stops: Vec<Option<StopCause>>,
    /// How many phases of the workflow are done.
    pub phases: u16,
    pub person_owns: bool,
    pub ended: bool,
}

/// The node and the state that an entry moves it to.
pub(super) const fn moved(entry: &Entry) -> Option<(NodeIndex, NodeState)> {
    match entry {
        Entry::Ready { node, .. } => Some((*node, NodeState::Ready)),
        Entry::Started { node, .. } => Some((*node, NodeState::Running)),
        Entry::Completed { node, .. } => Some((*node, NodeState::Completed)),
        Entry::Failed { node, .. } => Some((*node, NodeState::Failed)),
        Entry::Asked(question) => match question.node {
            Some(node) => Some((node, NodeState::AwaitingApproval)),
            None => None,
        },
        Entry::Approved { node } => Some((*node, NodeState::Approved)),
        Entry::Skipped { node, .. } => Some((*node, NodeState::Skipped)),
        Entry::Cancelled { node, .. } => Some((*node, NodeState::Cancelled)),
        _ => None,
    }
}

/// The node and attempt that an entry without a move is about.
pub(super) const fn staged(entry: &Entry) -> Option<(NodeIndex, u32)> {
    match entry {
        Entry::Produced { node, attempt, .. }
        | Entry::Checked { node, attempt }
        | Entry::Graded { node, attempt, .. }
        | Entry::Gathered { node, attempt }
        | Entry::Decomposing { node, attempt, .. }
        | Entry::Unknown { node, attempt, .. } => Some((*node, *attempt)),
        Entry::Expanded(expansion) => Some((expansion.node, expansion.attempt)),
        _ => None,
    }
}

impl Track {
    pub fn new(history: &Case<'_>) -> Self {
        let known = Note {
            state: NodeState::Pending,
            settled: false,
            attempt: 0,
            cancelled: None,
            due: None,
            waits_until: None,
            unmet: Vec::new(),
            doomed: false,
            tainted: false,
            settled_at: None,
            inside: None,
            gathered: false,
            splits: false,
            withheld: false,
            kept: false,
            skipped: None,
            error: None,
        };
        let mut track = Self {
            nodes: vec![known; history.count()],
            held: false,
            opened: 1,
            stops: vec![None; history.levels.len()],
            phases: 0,
            person_owns: false,
            ended: false,
        };
        track.begin_kept(history, 0);
        track.pass_phases(history);
        track
    }

    /// The nodes of a graph begin as the creation says.
    fn begin_kept(&mut self, history: &Case<'_>, level: usize) {
        let Some(carried) = history.carried() else { return };
        for node in history.levels[level].nodes() {
            let Some(kept) = carried.nodes.get(history.name(node)) else { continue };
            let known = &mut self.nodes[node.at()];
            match &kept.end {
                KeptEnd::Completed(result) => {
                    known.state = NodeState::Completed;
                    known.tainted = result.tainted || result.taint.is_some();
                }
                KeptEnd::Failed(error) => {
                    known.state = NodeState::Failed;
                    known.error.clone_from(error);
                    known.tainted = continues(history, node);
                }
                KeptEnd::Skipped(reason, _) => {
                    known.state = NodeState::Skipped;
                    known.skipped = Some(*reason);
                }
                KeptEnd::Cancelled(cause) => {
                    let failed = matches!(cause, CancelCause::Rejected | CancelCause::TimedOut);
                    known.tainted = failed && continues(history, node);
                    known.state = NodeState::Cancelled;
                    known.cancelled = Some(*cause);
                }
                KeptEnd::AwaitingApproval { .. } => continue,
            }
            let edges: Vec<_> = history.edges_into(node).map(|(index, ..)| index).collect();
            known.unmet = kept.unmet.iter().filter_map(|place| edges.get(*place as usize).copied()).collect();
            known.attempt = kept.attempts;
            known.settled = true;
            known.settled_at = Some(Seq(1));
            known.kept = true;
        }
    }

    /// Phases that an earlier run was done with are not announced again.
    fn pass_phases(&mut self, history: &Case<'_>) {
        let root = &history.levels[0];
        let done = |track: &Self| {
            let mut own = root.nodes().filter(|node| history.phase(*node) == track.phases);
            let may = root.rules.fail_open || track.unhandled(history, 0).is_empty();
            may && own.all(|node| track.of(node).settled)
        };
        while history.carried().is_some() && usize::from(self.phases) < root.body.phases.len() && done(self) {
            self.phases += 1;
        }
    }

    pub fn of(&self, node: NodeIndex) -> &Note {
        &self.nodes[node.at()]
    }

    /// Believes an entry.
    pub fn read(&mut self, history: &Case<'_>, line: &Line<'_>) {
        if let Some((node, state)) = moved(line.entry) {
            let Some(known) = self.nodes.get_mut(node.at()) else { return };
            known.state = state;
            known.due = None;
            known.waits_until = None;
            known.withheld = false;
            if matches!(state, NodeState::Completed | NodeState::Skipped | NodeState::Cancelled) {
                known.settled = true;
                known.settled_at = Some(line.seq);
            }
        }
        match line.entry {
            Entry::Owned { person, .. } => self.person_owns = *person,
            Entry::Ready { node, verdict: Some(verdict) } => {
                let known = &mut self.nodes[node.at()];
                known.unmet.clone_from(&verdict.unmet);
                known.doomed = verdict.doomed.is_some();
            }
            Entry::Started { node, attempt, due, .. } => {
                let known = &mut self.nodes[node.at()];
                known.attempt = *attempt;
                known.waits_until = *due;
                known.inside = None;
                known.gathered = false;
                known.splits = false;
            }
            Entry::Decomposing { node, error, .. } => {
                let known = &mut self.nodes[node.at()];
                known.splits = true;
                known.error = Some((**error).clone());
            }
            Entry::Withheld { node, .. } => self.nodes[node.at()].withheld = true,
            Entry::Expanded(expansion) if self.opened < self.stops.len() => {
                let known = &mut self.nodes[expansion.node.at()];
                known.inside = Some(self.opened);
                known.gathered = false;
                // In a run that goes on from another, it may have been split there.
                known.splits |= !history.compiled(expansion.node).kind.grows();
                if history.keeps_children(expansion) {
                    self.begin_kept(history, self.opened);
                }
                self.opened += 1;
            }
            Entry::Gathered { node, .. } => self.gather(history, *node),
            Entry::PhaseCompleted { phase } => self.phases = phase.saturating_add(1),
            Entry::Completed { node, taint, .. } => {
                let known = &mut self.nodes[node.at()];
                known.tainted |= taint.is_some();
                if let Some(Taint::Fallback(error)) = taint.as_deref() {
                    known.error = Some(error.clone());
                }
            }
            Entry::Failed { node, due, error, .. } => {
                self.nodes[node.at()].error = Some((**error).clone());
                self.nodes[node.at()].due = *due;
                if due.is_none() {
                    self.settle_failure(history, *node, line.seq);
                }
            }
            Entry::Finalised { node } if node.at() < self.nodes.len() => {
                self.nodes[node.at()].due = None;
                self.settle_failure(history, *node, line.seq);
            }
            Entry::Cancelled { node, cause } => {
                self.nodes[node.at()].cancelled = Some(*cause);
                if self.is_failure(*node) {
                    self.settle_failure(history, *node, line.seq);
                }
            }
            Entry::Skipped { node, reason, .. } => self.nodes[node.at()].skipped = Some(*reason),
            Entry::Held { on } => self.held = *on,
            Entry::Stopping { inside, cause } => {
                let level = inside.map_or(Some(0), |node| self.nodes.get(node.at())?.inside);
                if let Some(level) = level {
                    self.stops[level] = Some(cause.clone());
                }
            }
            Entry::Ended(_) => self.ended = true,
            _ => {}
        }
    }

    /// What its children made is as good as they are.
    fn gather(&mut self, history: &Case<'_>, node: NodeIndex) {
        let Some(inside) = self.of(node).inside else { return };
        let spoiled = history.levels[inside].nodes().any(|child| self.of(child).tainted);
        let tainted = spoiled || !self.unhandled(history, inside).is_empty();
        let known = &mut self.nodes[node.at()];
        known.tainted |= tainted;
        known.gathered = true;
    }

    /// How many nodes there are so far.
    pub fn known(&self, history: &Case<'_>) -> usize {
        history.levels.get(self.opened - 1).map_or(0, super::case::Level::end)
    }

    /// How strictly a node is stopped: by its own graph, or by one around it.
    pub fn stopped(&self, history: &Case<'_>, node: NodeIndex) -> Option<u8> {
        history.chain(history.level_of(node)).filter_map(|level| self.stops[level].as_ref().map(strictness)).max()
    }

    /// Whether a node waits for its children.
    pub fn waits_for_children(&self, node: NodeIndex) -> bool {
        let known = self.of(node);
        known.state == NodeState::Running && known.inside.is_some() && !known.gathered
    }

    /// Whether an attempt at a node holds a slot: it runs, and neither waits nor has children (`R-SCHED-3`).
    pub fn holds_slot(&self, history: &Case<'_>, node: NodeIndex) -> bool {
        let known = self.of(node);
        known.state == NodeState::Running && known.inside.is_none() && needs_slot(history, node)
    }

    fn settle_failure(&mut self, history: &Case<'_>, node: NodeIndex, seq: Seq) {
        let known = &mut self.nodes[node.at()];
        known.settled = true;
        known.settled_at = Some(seq);
        known.tainted |= continues(history, node);
    }

    /// Whether it failed for good, was rejected or timed out (`R-EDGE-1`).
    pub fn is_failure(&self, node: NodeIndex) -> bool {
        let known = self.of(node);
        match known.state {
            NodeState::Failed => known.settled,
            NodeState::Cancelled => matches!(known.cancelled, Some(CancelCause::Rejected | CancelCause::TimedOut)),
            _ => false,
        }
    }

    /// Whether the `when` of an edge holds, now that its source is settled (`R-EDGE-1`, `R-EDGE-4`).
    pub fn when_holds(&self, history: &Case<'_>, source: NodeIndex, when: When) -> bool {
        let known = self.of(source);
        let failed = self.is_failure(source);
        match when {
            When::OnSuccess => known.state == NodeState::Completed || (failed && continues(history, source)),
            When::OnFailure => failed,
            When::Always => known.settled,
            When::Skip => known.state == NodeState::Skipped || known.cancelled == Some(CancelCause::SkippedByPerson),
        }
    }

    /// Failures that nobody handles (`R-EDGE-3`): neither `continue_on_error`, nor a node behind a holding `on_failure`
    /// edge that is not skipped. One that is not decided yet counts as a handler.
    pub fn unhandled(&self, history: &Case<'_>, level: usize) -> Vec<NodeIndex> {
        let handled = |node: NodeIndex| {
            continues(history, node)
                || history.edges_from(node).any(|(index, edge, to)| {
                    let target = self.of(to);
                    edge.when == When::OnFailure
                        && match target.state {
                            NodeState::Skipped => false,
                            // Taken out before it was decided, it never handled anything.
                            NodeState::Cancelled if target.attempt == 0 => false,
                            _ => !target.unmet.contains(&index),
                        }
                })
        };
        history.levels[level].nodes().filter(|node| self.is_failure(*node) && !handled(*node)).collect()
    }
}

/// Whether dependents go on after a failure of this node.
pub(super) fn continues(history: &Case<'_>, node: NodeIndex) -> bool {
    history.compiled(node).spec.continue_on_error == Some(true)
}

/// Whether an attempt at the node begins in a slot: what waits for time, people or children does not (`R-SCHED-3`).
pub(super) fn needs_slot(history: &Case<'_>, node: NodeIndex) -> bool {
    !matches!(history.compiled(node).kind, Kind::Wait | Kind::Approve | Kind::Map | Kind::Loop | Kind::Workflow)
}

/// How strict a stop is: a stricter one takes over from a milder one.
pub(super) const fn strictness(cause: &StopCause) -> u8 {
    match cause {
        StopCause::FailFast { .. }
        | StopCause::NodeFailures { .. }
        | StopCause::RetriesExhausted { .. }
        | StopCause::PhaseFailed { .. } => 0,
        StopCause::Deadline | StopCause::PhaseTimeout { .. } | StopCause::Timeout => 1,
        StopCause::Superseded { .. } | StopCause::Cancel { .. } => 2,
    }
}
