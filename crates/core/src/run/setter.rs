//! The single setter of node states, and what follows from a node being decided or settled.

use super::fold::{Run, count};
use super::ids::{Seq, Timestamp};
use super::input::{Effect, Stage};
use super::record::Record;
use super::schedule::{Timer, Turn};
use super::state::NodeState;
use crate::definition::Kind;
use crate::file::{NodeId, When};
use crate::graph::NodeIndex;

impl Run {
    /// Moves a node. Every move passes here and was checked against the table before ([`Run::apply`]); the ready queue,
    /// the slots, the timers and what is owed are kept true.
    pub(super) fn set(&mut self, node: NodeIndex, to: NodeState) {
        match self.nodes[node.at()].state {
            NodeState::Pending => {
                self.undecided.remove(&node);
            }
            NodeState::Ready => {
                let (turn, needs_slot) = self.turn(node);
                self.ready.remove(turn, needs_slot);
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
                let (turn, needs_slot) = self.turn(node);
                self.ready.insert(turn, needs_slot);
            }
            NodeState::Running => {
                self.active.insert(node);
                self.occupied += u32::from(self.definition.node(node).kind.holds_slot());
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
    }

    fn leave_running(&mut self, node: NodeIndex) {
        self.active.remove(&node);
        self.orphans.remove(&node);
        self.at_own_stage.remove(&node);
        self.drop_demand(node);
        self.end_wait(node);
        self.occupied -= u32::from(self.definition.node(node).kind.holds_slot());
    }

    /// A node waits for time or a signal from now on.
    pub(super) fn begin_wait(&mut self, node: NodeIndex, due: Option<Timestamp>) {
        self.waits += 1;
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
        if self.definition.node(node).kind != Kind::Wait || record.stage != Stage::Work {
            return;
        }
        self.waits -= 1;
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

    fn wait_timer(&self, node: NodeIndex) -> Timer {
        if self.signal_of(node).is_some() { Timer::Signal(node) } else { Timer::Wait(node) }
    }

    /// The signal that a node waits for.
    fn signal_of(&self, node: NodeIndex) -> Option<&str> {
        self.definition.node(node).spec.wait.as_ref()?.signal.as_ref().map(NodeId::as_str)
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
        let graph = &self.definition.graph;
        for (edge, row) in graph.edges_into_with_index(node) {
            // An undecided edge counted as holding; one that was found not to hold is gone already.
            let counted = before == NodeState::Pending || self.holds(node, edge);
            if row.when != When::OnFailure || !counted || (runs && self.holds(node, edge)) {
                continue;
            }
            if let Some(left) = self.handlers.get_mut(&row.from) {
                *left -= 1;
                if *left == 0 {
                    self.handlers.remove(&row.from);
                    self.unhandled.insert(row.from);
                }
            }
        }
    }

    /// A failure is final: it counts, and it is open unless somebody handles it (`R-EDGE-3`, `R-EDGE-6`).
    pub(super) fn settle_failure(&mut self, node: NodeIndex) {
        self.node_failures += 1;
        self.retries_exhausted += u32::from(self.nodes[node.at()].rare().tries > 1);
        self.settle_rejection(node);
    }

    /// A rejection is no node failure, but it is open unless somebody handles it.
    pub(super) fn settle_rejection(&mut self, node: NodeIndex) {
        if self.continues_on_error(node) {
            self.nodes[node.at()].tainted = true;
            self.tainted = true;
        } else {
            let handlers = self
                .definition
                .graph
                .edges_from(node)
                .filter(|(_, edge)| {
                    edge.when == When::OnFailure && self.nodes[edge.to.at()].state == NodeState::Pending
                })
                .count();
            if handlers == 0 {
                self.unhandled.insert(node);
            } else {
                self.handlers.insert(node, count(handlers));
            }
        }
        self.settle(node);
    }

    /// Nothing about a node will change any more: dependents may be decided, outputs nobody will read are let go.
    pub(super) fn settle(&mut self, node: NodeIndex) {
        self.nodes[node.at()].settled = true;
        self.unsettled -= 1;
        let graph = &self.definition.graph;
        self.waves.settle(graph.phase(node), graph.wave(node));
        for (_, edge) in graph.edges_from(node) {
            let target = &mut self.nodes[edge.to.at()];
            target.open_edges -= 1;
            if target.open_edges == 0 && target.state == NodeState::Pending {
                self.undecided.insert(edge.to);
            }
        }
        for edge in graph.edges_into(node) {
            release(&mut self.nodes[edge.from.at()]);
        }
        for read in self.definition.reads_beyond_edges(node) {
            release(&mut self.nodes[read.at()]);
        }
    }

    /// The place of a node in the ready queue.
    fn turn(&self, node: NodeIndex) -> (Turn, bool) {
        let compiled = self.definition.node(node);
        let turn = self.waves.turn(&self.definition.graph, node, compiled.spec.priority.unwrap_or(0));
        (turn, compiled.kind.holds_slot())
    }

    pub(super) fn continues_on_error(&self, node: NodeIndex) -> bool {
        self.definition.node(node).spec.continue_on_error.unwrap_or(false)
    }
}

/// One reader fewer; with the last one the output leaves memory. The journal still has it.
fn release(source: &mut Record) {
    source.readers -= 1;
    if source.readers == 0 {
        source.forget(|rare| rare.output = None);
    }
}
