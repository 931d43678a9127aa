//! A run that begins with what an earlier one left: nodes that begin as they ended, work that is not repeated
//! (`R-RES-7`, `R-GROW-2`). That is creation, not a transition (`R-STATE-1`).

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::fold::Run;
use super::input::Stage;
use super::kept::{Asking, Carried, Kept, KeptEnd, KeptResult};
use super::level::Origin;
use super::parts::{Expansion, Product, Verdict};
use super::question::QuestionKind;
use super::state::NodeState;
use crate::definition::Kind;
use crate::graph::{EdgeIndex, NodeIndex};

/// What the first attempt of a node does in place of its work, which was done in an earlier run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Resumed {
    /// It grows into what its work had produced.
    Grows(Box<Product>),
    /// It asks a person about its result.
    Gate(Box<KeptResult>),
    /// It asks a person something else again.
    Asks(Box<Asking>, Option<Box<Product>>),
}

impl Run {
    /// Whether a node completed in an earlier run, and its result is used (`R-STATE-6`).
    pub fn is_reused(&self, node: NodeIndex) -> bool {
        let record = &self.nodes[node.at()];
        record.kept && record.state == NodeState::Completed
    }

    /// Whether a node began as it ended in an earlier run.
    pub fn is_kept(&self, node: NodeIndex) -> bool {
        self.nodes[node.at()].kept
    }

    /// How often a node started over after it had completed, in all runs of the lineage (`R-CLAIM-6`).
    pub fn generation(&self, node: NodeIndex) -> u32 {
        let generations = self.carried().map(|carried| &carried.generations).filter(|known| !known.is_empty());
        generations.and_then(|known| known.get(&self.address(node))).copied().unwrap_or(0)
    }

    /// The result that a node began with.
    pub(crate) fn kept_result(&self, node: NodeIndex) -> Option<&KeptResult> {
        match &self.carried()?.nodes.get(&self.address(node))?.end {
            KeptEnd::Completed(result) => Some(result),
            _ => None,
        }
    }

    pub(super) fn carried(&self) -> Option<&Arc<Carried>> {
        self.created.as_ref()?.carried.as_ref()
    }

    /// The nodes of the workflow begin as the creation says. Waves and phases that are done with that are not
    /// announced: an earlier run did.
    pub(super) fn begin_kept(&mut self) {
        self.keep_level(0);
        loop {
            let level = &mut self.levels[0];
            while let Some((phase, wave)) = level.waves.completed() {
                level.waves.announce(phase, wave);
            }
            let over = usize::from(level.waves.phase()) >= level.body.phases.len();
            let may = level.unhandled.is_empty() || level.fails_open();
            if over || !may || !level.waves.phase_done() {
                break;
            }
            level.waves.next_phase();
        }
    }

    /// The children that a node just grew begin as they ended, if they are made of the same as then.
    pub(super) fn begin_kept_children(&mut self, at: usize, expansion: &Expansion) {
        let Some(carried) = self.carried() else { return };
        // A later attempt is a new beginning.
        if carried.grown.is_empty() || expansion.attempt > 1 {
            return;
        }
        let grown = carried.grown.get(&self.address(expansion.node));
        let Some(grown) = grown.filter(|grown| grown.made_of == Some(expansion.of.digest())) else { return };
        if let Some(spent) = grown.spent.get(&expansion.round).copied() {
            self.levels[at].open_purse(&spent);
        }
        self.keep_level(at);
    }

    /// All nodes of a graph begin as they ended, as far as they are kept: first all states, then what follows from them.
    fn keep_level(&mut self, at: usize) {
        let Some(carried) = self.carried().map(Arc::clone) else { return };
        let kept = self.kept_in(at, &carried);
        for (node, kept) in &kept {
            self.begin_as(at, *node, kept);
        }
        for (node, kept) in &kept {
            let failed = match &kept.end {
                KeptEnd::Completed(_) | KeptEnd::Skipped(..) => false,
                KeptEnd::Failed(_) => true,
                KeptEnd::Cancelled(cause) => cause.is_failure(),
                KeptEnd::AwaitingApproval { .. } => continue,
            };
            if failed {
                self.leave_open(*node);
            }
            self.settle_alone(*node);
        }
    }

    /// The nodes of a graph that are kept, in its order. One whose definition is another after all is not, and neither
    /// is what comes after it.
    fn kept_in<'carried>(&mut self, at: usize, carried: &'carried Carried) -> Vec<(NodeIndex, &'carried Kept)> {
        let level = &self.levels[at];
        let graph = &level.body.graph;
        let before = match (level.parent, &level.origin) {
            (None, _) => String::new(),
            (Some(parent), Origin::Graph { round, .. }) if *round > 0 => format!("{}/{round}/", self.address(parent)),
            (Some(parent), _) => format!("{}/", self.address(parent)),
        };
        let mut locals: Vec<_> = graph.nodes().collect();
        locals.sort_unstable_by_key(|local| (graph.phase(*local), graph.wave(*local), *local));
        let mut changed = BTreeSet::new();
        let mut changed_phase = None;
        let mut found = Vec::new();
        let mut resumed = Vec::new();
        for local in locals {
            let address = format!("{before}{}", graph.id(local));
            let (kept, grown) = (carried.nodes.get(&address), carried.grown.get(&address));
            let hash = level.body.node(local).hash;
            let other = kept.is_some_and(|kept| kept.hash != hash) || grown.is_some_and(|grown| grown.hash != hash);
            let after = || {
                let sources = graph.edges_into(local).iter().map(|edge| edge.from);
                sources.chain(level.body.reads_beyond_edges(local)).any(|source| changed.contains(&source))
            };
            if other || changed_phase.is_some_and(|phase| phase < graph.phase(local)) || after() {
                // What may have happened is asked about, whatever the node is now (`R-CLAIM-5`).
                let end = kept.map(|kept| &kept.end);
                if let Some(KeptEnd::AwaitingApproval { asks: Some(asks), .. }) = end {
                    resumed.push((level.global(local), Resumed::Asks(asks.clone(), None)));
                }
                changed.insert(local);
                changed_phase = changed_phase.or(Some(graph.phase(local)));
                continue;
            }
            let node = level.global(local);
            let awaiting = kept.map(|kept| &kept.end);
            if let Some(KeptEnd::AwaitingApproval { result, asks }) = awaiting {
                resumed.extend(match (asks.clone(), result.clone()) {
                    (Some(asks), made) => Some((node, Resumed::Asks(asks, made.map(|made| Box::new(made.product))))),
                    (None, result) => result.map(|result| (node, Resumed::Gate(Box::new(result)))),
                });
            } else if let Some(kept) = kept {
                found.push((node, kept));
            } else if let Some(body) = grown.and_then(|grown| grown.body.clone()) {
                resumed.push((node, Resumed::Grows(Box::new(body))));
            }
        }
        self.resumed.extend(resumed);
        found
    }

    /// A node begins in the state in which it ended.
    fn begin_as(&mut self, at: usize, node: NodeIndex, kept: &Kept) {
        let level = &mut self.levels[at];
        let local = level.local(node);
        let body = Arc::clone(&level.body);
        let graph = &body.graph;
        let record = &mut self.nodes[node.at()];
        record.kept = true;
        record.attempt = kept.attempts;
        if !kept.unmet.is_empty() {
            let own: Vec<EdgeIndex> = graph.edges_into_with_index(local).map(|(index, _)| index).collect();
            let unmet = kept.unmet.iter().filter_map(|place| own.get(*place as usize).copied()).collect();
            record.rare_mut().verdict = Some(Box::new(Verdict { unmet, doomed: None }));
        }
        match &kept.end {
            KeptEnd::Completed(result) => {
                record.state = NodeState::Completed;
                if !result.product.output.is_null() {
                    record.rare_mut().output = Some(Arc::clone(&result.product.output));
                }
                level.context.patch(graph, local, patches(result));
                self.trust_kept(node, result);
            }
            KeptEnd::Failed(error) => {
                record.state = NodeState::Failed;
                record.rare_mut().error.clone_from(error);
            }
            KeptEnd::Skipped(reason, cause) => {
                record.state = NodeState::Skipped;
                let cause = cause.as_deref().and_then(|id| graph.find(id)).map(|local| level.global(local));
                record.skipped = Some((*reason, cause));
            }
            KeptEnd::Cancelled(cause) => {
                record.state = NodeState::Cancelled;
                record.cancelled = Some(*cause);
            }
            KeptEnd::AwaitingApproval { .. } => record.kept = false,
        }
    }

    /// The first attempt of a node goes on where an earlier run was, if it does. Returns whether so.
    pub(super) fn resume_work(&mut self, node: NodeIndex) -> bool {
        let Some(resumed) = self.resumed_at(node).cloned() else { return false };
        if let Resumed::Asks(asking, _) = &resumed
            && asking.kind == QuestionKind::UnknownOutcome
            && self.compiled(node).spec.probe.is_some()
        {
            self.nodes[node.at()].rare_mut().error.clone_from(&asking.error);
            self.enter(node, Stage::Probe);
            return true;
        }
        let (product, stage) = match &resumed {
            Resumed::Grows(body) => (Some(&**body), Stage::Grow),
            Resumed::Gate(result) => (Some(&result.product), Stage::Gate),
            Resumed::Asks(_, made) => (made.as_deref(), Stage::Gate),
        };
        // It was paid for then.
        let free = product.map(|product| Product { usage: None, ..product.clone() });
        if let Some(product) = &free {
            self.keep(node, product);
        }
        match &resumed {
            Resumed::Gate(result) => self.trust_kept(node, result),
            // Only its hook can have made a node that does something else grow.
            Resumed::Grows(_) if self.compiled(node).kind != Kind::Generate => self.decomposed_before(node),
            Resumed::Grows(_) | Resumed::Asks(..) => {}
        }
        self.enter_own(node, stage);
        true
    }

    /// The work of a node is known to be done: what an earlier run left open about it is not asked any more.
    pub(super) fn answer_resumed(&mut self, node: NodeIndex) {
        if matches!(self.resumed_at(node), Some(Resumed::Asks(..))) {
            self.resumed.remove(&node);
        }
    }

    fn trust_kept(&mut self, node: NodeIndex, result: &KeptResult) {
        if result.tainted || result.taint.is_some() {
            self.taint(node);
        }
        if let Some(confidence) = result.confidence {
            self.nodes[node.at()].confidence = confidence;
            self.doubts = true;
        }
    }

    /// Where the first attempt of a node goes on.
    pub(super) fn resumed_at(&self, node: NodeIndex) -> Option<&Resumed> {
        self.resumed.get(&node)
    }

    /// The patches that a node's children made in an earlier run, where it only had to be let pass.
    pub(super) fn patches_kept(&mut self, node: NodeIndex) -> Vec<Arc<serde_json::Value>> {
        match self.resumed.remove(&node) {
            Some(Resumed::Gate(result)) => result.patches,
            _ => Vec::new(),
        }
    }
}

/// The patches of a result: its own, and those of its children.
fn patches(result: &KeptResult) -> impl Iterator<Item = Arc<serde_json::Value>> {
    result.product.patch.iter().chain(&result.patches).map(Arc::clone)
}
