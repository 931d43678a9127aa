//! A reader's notes: what the entries so far say about each node. It believes everything and decides nothing.

use sprag_core::definition::Kind;
use sprag_core::file::When;
use sprag_core::graph::{EdgeIndex, NodeIndex};
use sprag_core::run::{CancelCause, Entry, NodeState, Seq, StopCause, Timestamp};

use super::history::{History, Line};

/// What is known of a node.
#[derive(Debug, Clone)]
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
}

/// What is known of a run.
#[derive(Debug, Clone)]
pub(super) struct Track {
    pub nodes: Vec<Note>,
    pub held: bool,
    pub stop: Option<StopCause>,
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
        | Entry::Unknown { node, attempt, .. } => Some((*node, *attempt)),
        _ => None,
    }
}

impl Track {
    pub fn new(history: &History<'_>) -> Self {
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
        };
        Self {
            nodes: vec![known; history.definition.graph.len()],
            held: false,
            stop: None,
            person_owns: false,
            ended: false,
        }
    }

    pub fn of(&self, node: NodeIndex) -> &Note {
        &self.nodes[node.at()]
    }

    /// Believes an entry.
    pub fn read(&mut self, history: &History<'_>, line: &Line<'_>) {
        if let Some((node, state)) = moved(line.entry) {
            let Some(known) = self.nodes.get_mut(node.at()) else { return };
            known.state = state;
            known.due = None;
            known.waits_until = None;
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
            }
            Entry::Completed { node, taint, .. } => self.nodes[node.at()].tainted = taint.is_some(),
            Entry::Failed { node, due, .. } => {
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
            Entry::Held { on } => self.held = *on,
            Entry::Stopping { inside: None, cause } => self.stop = Some(cause.clone()),
            Entry::Ended(_) => self.ended = true,
            _ => {}
        }
    }

    fn settle_failure(&mut self, history: &History<'_>, node: NodeIndex, seq: Seq) {
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
    pub fn when_holds(&self, history: &History<'_>, source: NodeIndex, when: When) -> bool {
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
    pub fn unhandled(&self, history: &History<'_>) -> Vec<NodeIndex> {
        let graph = &history.definition.graph;
        let handled = |node: NodeIndex| {
            continues(history, node)
                || graph.edges_from(node).any(|(index, edge)| {
                    let target = self.of(edge.to);
                    edge.when == When::OnFailure
                        && match target.state {
                            NodeState::Skipped => false,
                            // Taken out before it was decided, it never handled anything.
                            NodeState::Cancelled if target.attempt == 0 => false,
                            _ => !target.unmet.contains(&index),
                        }
                })
        };
        graph.nodes().filter(|node| self.is_failure(*node) && !handled(*node)).collect()
    }
}

/// Whether dependents go on after a failure of this node.
pub(super) fn continues(history: &History<'_>, node: NodeIndex) -> bool {
    history.definition.nodes[node.at()].spec.continue_on_error == Some(true)
}

/// Whether a running attempt at the node holds a slot: what waits for time or people does not (`R-SCHED-3`).
pub(super) fn needs_slot(history: &History<'_>, node: NodeIndex) -> bool {
    !matches!(history.definition.nodes[node.at()].kind, Kind::Wait | Kind::Approve)
}

/// The depth of each node: the longest way from a node without sources.
pub(super) fn depths(history: &History<'_>) -> Vec<u32> {
    let graph = &history.definition.graph;
    let mut depths = vec![0_u32; graph.len()];
    // A longest path has at most as many edges as there are nodes, so this many rounds settle every depth.
    for _ in 0..graph.len() {
        let mut changed = false;
        for edge in graph.edges() {
            let least = depths[edge.from.at()] + 1;
            if depths[edge.to.at()] < least {
                depths[edge.to.at()] = least;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    depths
}
