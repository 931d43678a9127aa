//! Random lineages: a run that ended badly is followed by one that goes on from it (`R-RES-2`, `R-RES-7`).

use std::collections::BTreeSet;

use serde_json::Value;
use sprag_core::graph::NodeIndex;
use sprag_core::plan::ResumeOptions;
use sprag_core::run::{EndStatus, KeptEnd, NodeState, Stage};

use crate::play::Player;
use crate::world::Crash;

/// So many runs may follow the first.
const MOST_LINKS: u32 = 3;

impl Player {
    /// The run that goes on from this one, if it ended badly and somebody wants it to.
    #[must_use]
    pub fn goes_on(&mut self) -> Option<Self> {
        let ended = self.world.run().ended()?.status;
        if ended == EndStatus::Completed || self.links == MOST_LINKS || self.rng.one_in(2) {
            return None;
        }
        let mut world = self.world.linked(&ResumeOptions::default());
        if let (Some(created), Some(before)) = (&mut world.creation, self.world.run().created()) {
            created.expected.clone_from(&before.expected);
            created.model_maximum.clone_from(&before.model_maximum);
            created.strict = before.strict;
        }
        // Half of the time, whatever was wrong is mended.
        if self.rng.one_in(2)
            && let Some(chance) = &mut world.script().chance
        {
            chance.failing = u64::MAX;
            chance.hanging = 0;
        }
        let mut faults = self.faults.clone();
        faults.crashes.clear();
        let mut operation = 0;
        for _ in 0..self.rng.below(3) {
            operation += 1 + self.rng.below(8);
            faults.crashes.push(Crash { operation, after: self.rng.one_in(2) });
        }
        world.folds(faults.folding);
        world.twice = faults.twice;
        let rng = crate::rng::Rng::new(self.rng.below(u64::MAX));
        Some(Self {
            world,
            violations: Vec::new(),
            faults,
            signals: self.signals.clone(),
            rng,
            inherited: self.surely_kept(),
            links: self.links + 1,
            sent: Vec::new(),
        })
    }

    /// The nodes of the workflow that completed, and everything before them, too: nothing can invalidate those.
    fn surely_kept(&self) -> Vec<(String, Value)> {
        let run = self.world.run();
        let definition = self.world.definition();
        let graph = &definition.graph;
        let mut nodes: Vec<_> = graph.nodes().collect();
        nodes.sort_by_key(|node| (graph.phase(*node), graph.wave(*node)));
        let mut sure: BTreeSet<NodeIndex> = BTreeSet::new();
        for node in nodes {
            let earlier = graph.nodes().filter(|other| graph.phase(*other) < graph.phase(node));
            let sources =
                graph.edges_into(node).iter().map(|edge| edge.from).chain(definition.reads_beyond_edges(node));
            if run.state(node) == NodeState::Completed && earlier.chain(sources).all(|source| sure.contains(&source)) {
                sure.insert(node);
            }
        }
        sure.into_iter().map(|node| (run.address(node), run.output(node).cloned().unwrap_or_default())).collect()
    }

    /// What was completed before is neither done again nor changed.
    pub(crate) fn keeps_promises_of_lineage(&mut self) {
        let mut wrong = Vec::new();
        {
            let run = self.world.run();
            let work = self.world.ledger.iter().filter(|done| done.stage == Stage::Work);
            let worked: BTreeSet<_> = work.map(|done| run.address(done.node)).collect();
            for (address, output) in &self.inherited {
                let inside = format!("{address}/");
                if worked.iter().any(|other| other == address || other.starts_with(&inside)) {
                    wrong.push(format!("`{address}` had completed and runs again"));
                }
                // The run lets go of what nobody reads any more.
                let kept = run.find(address).and_then(|node| run.output(node)).cloned();
                if let Some(kept) = kept.filter(|kept| kept != output) {
                    wrong.push(format!("`{address}` had the output {output} and now has {kept}"));
                }
            }
            let carried = run.created().and_then(|created| created.carried.clone());
            for (address, kept) in carried.iter().flat_map(|carried| &carried.nodes) {
                let stays = run.find(address).is_none_or(|node| run.state(node) == NodeState::Completed);
                let top = run.find(address).is_some_and(|node| run.parent(node).is_none());
                if top && matches!(kept.end, KeptEnd::Completed(_)) && (worked.contains(address) || !stays) {
                    wrong.push(format!("`{address}` is kept and runs again"));
                }
            }
        }
        for what in wrong {
            self.broken("R-RES-7", &what);
        }
    }
}
