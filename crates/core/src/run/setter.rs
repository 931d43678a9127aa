//! The single setter of node states, and what follows from a node being decided or settled.

use super::fold::{Run, count};
use super::ids::{Seq, Timestamp};
use super::input::{Effect, Stage};
use super::level::Level;
use super::queue::{Side, Turn};
use super::record::Record;
use super::schedule::Timer;
use super::state::NodeState;
use crate::definition::Kind;
use crate::file::{NodeId, When};
use crate::graph::NodeIndex;

impl Run {
    /// Moves a node. Every move passes here and was checked against the table before ([`Run::apply`]); the ready queue,
    /// the slots, the timers and what is owed are kept true.
    pub(super) fn set(&mut self, node: NodeIndex, to: NodeState) {
        let from = self.nodes[node.at()].state;
        match from {
            NodeState::Pending => {
                self.undecided.remove(&node);
            }
            NodeState::Ready => {
                let (turn, side) = self.turn(node);
                self.level_mut(node).queue.remove(turn, side);
                self.withheld.remove(&node);
            }
            NodeState::Running => self.leave_running(node),
            NodeState::Failed => self.leave_failed(node),
            NodeState::AwaitingApproval
            | NodeState::Approved
            | NodeState::Completed
            | NodeState::Skipped
            | NodeState::Cancelled => {}
        }
        match to {
            NodeState::Ready => {
                let (turn, side) = self.turn(node);
                self.level_mut(node).queue.insert(turn, side);
            }
            NodeState::Running => {
                self.active.insert(node);
                self.level_mut(node).running += 1;
                if self.compiled(node).kind.holds_slot() {
                    self.take_slot(node);
                }
            }
            NodeState::Pending
            | NodeState::AwaitingApproval
            | NodeState::Approved
            | NodeState::Completed
            | NodeState::Failed
            | NodeState::Skipped
            | NodeState::Cancelled => {}
        }
        self.nodes[node.at()].state = to;
        let level = self.level_at(node);
        self.offer(level);
        // The money that a node was to have, and does not take, is there for those that wait for it.
        if from == NodeState::Ready && to != NodeState::Running && !self.withheld.is_empty() {
            self.hand_on();
        }
    }

    fn leave_running(&mut self, node: NodeIndex) {
        self.active.remove(&node);
        self.orphans.remove(&node);
        self.at_own_stage.remove(&node);
        self.drop_demand(node);
        self.end_wait(node);
        self.end_patience(node);
        self.leave_children(node);
        self.release_slot(node);
        self.level_mut(node).running -= 1;
    }

    fn take_slot(&mut self, node: NodeIndex) {
        self.nodes[node.at()].holds_slot = true;
        self.for_each_around(node, |level| level.occupied += 1);
    }

    /// A node that waits for its children holds no slot (`R-GROW-2`).
    pub(super) fn release_slot(&mut self, node: NodeIndex) {
        if std::mem::take(&mut self.nodes[node.at()].holds_slot) {
            self.for_each_around(node, |level| level.occupied -= 1);
        }
    }

    /// Changes the graph that a node is in, and those around it.
    fn for_each_around(&mut self, node: NodeIndex, mut change: impl FnMut(&mut Level)) {
        let mut next = Some(self.level_at(node));
        while let Some(at) = next {
            change(&mut self.levels[at]);
            next = self.levels[at].around.map(|around| around as usize);
        }
    }

    /// Nobody waits for a node's children any longer.
    pub(super) fn end_patience(&mut self, node: NodeIndex) {
        if self.compiled(node).kind.grows()
            && let Some(due) = self.nodes[node.at()].rare().due
        {
            self.timers.remove(due, Timer::Children(node));
            self.nodes[node.at()].forget(|rare| rare.due = None);
        }
    }

    /// A node waits for time or a signal from now on.
    pub(super) fn begin_wait(&mut self, node: NodeIndex, due: Option<Timestamp>) {
        if let Some(due) = due {
            self.nodes[node.at()].rare_mut().due = Some(due);
            self.timers.insert(due, self.wait_timer(node));
        }
        if let Some(name) = self.signal_of(node) {
            self.waiting_for.entry(name.into()).or_default().insert(node);
        }
    }

    /// A wait is over once it leaves its work, although its output may still be checked.
    pub(super) fn end_wait(&mut self, node: NodeIndex) {
        let record = &self.nodes[node.at()];
        if self.compiled(node).kind != Kind::Wait || record.stage != Stage::Work {
            return;
        }
        if let Some(due) = record.rare().due {
            self.timers.remove(due, self.wait_timer(node));
            self.nodes[node.at()].forget(|rare| rare.due = None);
        }
        let Some(name) = self.signal_of(node).map(Box::<str>::from) else { return };
        if let Some(waiting) = self.waiting_for.get_mut(&name) {
            waiting.remove(&node);
            if waiting.is_empty() {
                self.waiting_for.remove(&name);
            }
        }
    }

    pub(super) fn wait_timer(&self, node: NodeIndex) -> Timer {
        if self.signal_of(node).is_some() { Timer::Signal(node) } else { Timer::Wait(node) }
    }

    /// The signal that a node waits for.
    pub(super) fn signal_of(&self, node: NodeIndex) -> Option<&str> {
        self.compiled(node).spec.wait.as_ref()?.signal.as_ref().map(NodeId::as_str)
    }

    /// A retry is no longer to come.
    pub(super) fn leave_failed(&mut self, node: NodeIndex) {
        if let Some(due) = self.nodes[node.at()].rare().due {
            self.timers.remove(due, Timer::Retry(node));
            self.nodes[node.at()].forget(|rare| rare.due = None);
        }
    }

    /// Somebody outside owes a stage of the node from the current entry on.
    pub(super) fn demand(&mut self, node: NodeIndex, stage: Stage) {
        let record = &mut self.nodes[node.at()];
        record.demand = self.seq;
        self.busy += 1;
        self.demands.insert(self.seq, Effect::Execute { node, attempt: record.attempt, stage });
    }

    /// Nobody outside owes anything for the node any more.
    pub(super) fn drop_demand(&mut self, node: NodeIndex) {
        let demand = std::mem::replace(&mut self.nodes[node.at()].demand, Seq(0));
        if demand != Seq(0) {
            self.busy -= 1;
            self.demands.remove(&demand);
        }
    }

    /// A node was decided, or taken out after it was: failures that hoped for it as their handler may be left alone
    /// (`R-EDGE-3`). `before` is its state until now.
    pub(super) fn decided(&mut self, node: NodeIndex, before: NodeState) {
        let runs = self.nodes[node.at()].state == NodeState::Ready;
        let lost: Vec<_> = self
            .edges_into(node)
            .filter(|(edge, row, _)| {
                // An undecided edge counted as holding; one that was found not to hold is gone already.
                let counted = before == NodeState::Pending || self.holds(node, *edge);
                row.when == When::OnFailure && counted && !(runs && self.holds(node, *edge))
            })
            .map(|(_, _, from)| (from, self.nodes[from.at()].kept))
            .collect();
        let level = self.level_mut(node);
        let mut unhandled = false;
        for (source, kept) in lost {
            if let Some(left) = level.handlers.get_mut(&source) {
                *left -= 1;
                if *left == 0 {
                    level.handlers.remove(&source);
                    level.opened(source, kept);
                    unhandled = true;
                }
            }
        }
        if unhandled {
            self.watch_policy(node);
        }
    }

    /// A failure is final: it counts, and it is open unless somebody handles it (`R-EDGE-3`, `R-EDGE-6`).
    pub(super) fn settle_failure(&mut self, node: NodeIndex, inherited: bool) {
        // A node that fails with its child's error is not counted again.
        if !inherited {
            let exhausted = u32::from(self.nodes[node.at()].rare().tries > 1);
            self.for_each_around(node, |level| {
                level.node_failures += 1;
                level.retries_exhausted += exhausted;
            });
        }
        self.settle_rejection(node);
    }

    /// A rejection is no node failure, but it is open unless somebody handles it.
    pub(super) fn settle_rejection(&mut self, node: NodeIndex) {
        self.leave_open(node);
        self.watch_policy(node);
        self.settle(node);
    }

    /// A failure is open, unless somebody handles it or the node lets others go on.
    pub(super) fn leave_open(&mut self, node: NodeIndex) {
        if self.continues_on_error(node) {
            self.taint(node);
        } else {
            let level = self.level(node);
            let handlers = level
                .body
                .graph
                .edges_from(level.local(node))
                .filter(|(index, edge)| {
                    let target = &self.nodes[level.global(edge.to).at()];
                    let out = matches!(target.state, NodeState::Skipped | NodeState::Cancelled);
                    edge.when == When::OnFailure && !out && !target.found_unmet(*index)
                })
                .count();
            let kept = self.nodes[node.at()].kept;
            let level = self.level_mut(node);
            if handlers == 0 {
                level.opened(node, kept);
            } else {
                level.handlers.insert(node, count(handlers));
            }
        }
    }

    /// A node's result is not what its work would have given, and so neither is that of the graph it is in.
    pub(super) fn taint(&mut self, node: NodeIndex) {
        self.nodes[node.at()].tainted = true;
        self.doubts = true;
        self.level_mut(node).tainted = true;
    }

    /// A failure may be one too many for the policy of its graph, or of one around it.
    pub(super) fn watch_policy(&mut self, node: NodeIndex) {
        let chain: Vec<_> = self.chain(self.level_at(node)).collect();
        for at in chain {
            let level = &self.levels[at];
            if level.stop.is_none() && level.has_cause_to_stop() {
                self.alarmed.insert(count(at));
            }
        }
    }

    /// Nothing about a node will change any more: dependents may be decided, outputs nobody will read are let go.
    pub(super) fn settle(&mut self, node: NodeIndex) {
        self.settle_alone(node);
        let at = self.level_at(node);
        if at > 0 {
            self.advance(at);
        }
    }

    /// The same, without what follows for the graph as a whole.
    pub(super) fn settle_alone(&mut self, node: NodeIndex) {
        self.nodes[node.at()].settled = true;
        let at = self.level_at(node);
        let level = &mut self.levels[at];
        level.unsettled -= 1;
        let local = level.local(node);
        let body = std::sync::Arc::clone(&level.body);
        let base = level.base;
        let global = |local: NodeIndex| NodeIndex(base + local.0);
        let graph = &body.graph;
        level.waves.settle(graph.phase(local), graph.wave(local));
        for (_, edge) in graph.edges_from(local) {
            let to = global(edge.to);
            let target = &mut self.nodes[to.at()];
            target.open_edges -= 1;
            // What is kept of a later phase decides nothing there before the phase begins.
            let begun = graph.phase(edge.to) == level.waves.phase();
            if target.open_edges == 0 && target.state == NodeState::Pending && begun {
                self.undecided.insert(to);
            }
        }
        for edge in graph.edges_into(local) {
            release(&mut self.nodes[global(edge.from).at()]);
        }
        for read in body.reads_beyond_edges(local) {
            release(&mut self.nodes[global(read).at()]);
        }
    }

    /// The place of a node in the ready queue.
    pub(super) fn turn(&self, node: NodeIndex) -> (Turn, Side) {
        let level = self.level(node);
        let local = level.local(node);
        let compiled = level.body.node(local);
        let turn = level.waves.turn(&level.body.graph, local, node, compiled.spec.priority.unwrap_or(0));
        (turn, if compiled.kind.holds_slot() { Side::Working } else { Side::Waiting })
    }

    pub(super) fn continues_on_error(&self, node: NodeIndex) -> bool {
        self.compiled(node).spec.continue_on_error.unwrap_or(false)
    }
}

/// One reader fewer; with the last one the output leaves memory. The journal still has it.
fn release(source: &mut Record) {
    source.readers -= 1;
    if source.readers == 0 {
        source.forget(|rare| rare.output = None);
    }
}
