//! What planning reads of a run beside the outside view: how its graphs hang together.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::fold::Run;
use super::level::{Level, Origin};
use super::parts::Usage;
use super::state::NodeState;
use crate::graph::NodeIndex;

static NULL: Value = Value::Null;

impl Run {
    /// The nodes of the workflow itself.
    pub(crate) fn top_nodes(&self) -> impl Iterator<Item = NodeIndex> + use<> {
        self.root().nodes()
    }

    /// The phase that is under way, or the last one.
    pub(crate) fn phase_name(&self) -> Option<&str> {
        let phases = &self.root().body.phases;
        let phase = phases.get(usize::from(self.root().waves.phase())).or_else(|| phases.last());
        phase.map(|phase| phase.name.as_str())
    }

    pub(crate) fn has_grown(&self, node: NodeIndex) -> bool {
        self.grown.contains_key(&node)
    }

    /// The nodes that have grown, by number: what is inside one comes after it.
    pub(crate) fn grown_nodes(&self) -> impl DoubleEndedIterator<Item = NodeIndex> {
        self.grown.keys().copied()
    }

    /// What stands for the output of a node that has not completed, as those see it who gather it.
    pub(crate) fn stand_in(&self, node: NodeIndex) -> Option<&Value> {
        let completed = self.nodes[node.at()].state == NodeState::Completed;
        (!completed).then(|| self.output(node).unwrap_or(&NULL))
    }

    /// What a node's children made, where somebody else knows their outputs.
    pub(crate) fn gathered_inside(&self, node: NodeIndex, output: impl Fn(NodeIndex) -> Value) -> Option<Value> {
        self.inside(node).map(|at| self.gathered_from(at, output))
    }

    pub(crate) fn patches_of_children(&self, node: NodeIndex) -> Vec<Arc<Value>> {
        self.patches_inside(node)
    }

    /// The children that a node has now, by their address below it, with the siblings that each depends on.
    pub(crate) fn children_by_key(&self, node: NodeIndex) -> Vec<(String, NodeIndex, Vec<String>)> {
        let levels: Vec<&Level> =
            self.grown.get(&node).into_iter().flatten().map(|at| &self.levels[*at as usize]).collect();
        // What grew in an earlier attempt is no longer there.
        let begins = levels.iter().rposition(|level| round(level) <= 1).unwrap_or(0);
        let mut children = Vec::new();
        for level in &levels[begins..] {
            let graph = &level.body.graph;
            let key = |local: NodeIndex| match round(level) {
                0 => graph.id(local).to_string(),
                round => format!("{round}/{}", graph.id(local)),
            };
            for local in graph.nodes() {
                let sources = graph.edges_into(local).iter().map(|edge| edge.from);
                let needs = sources.chain(level.body.reads_beyond_edges(local)).map(key).collect();
                children.push((key(local), level.global(local), needs));
            }
        }
        children
    }

    /// What was spent of the budgets that a node's children brought along, by the round of a loop.
    pub(crate) fn spent_inside(&self, node: NodeIndex) -> BTreeMap<u32, Usage> {
        let levels = self.grown.get(&node).into_iter().flatten().map(|at| &self.levels[*at as usize]);
        let spent = levels.filter_map(|level| {
            let purse = level.purse.as_ref()?;
            let mut spent = purse.spent();
            spent.add(&purse.reserved());
            Some((round(level), spent))
        });
        spent.collect()
    }

    /// The id of a node in its graph.
    pub(crate) fn local_id(&self, node: NodeIndex) -> &str {
        let level = self.level(node);
        level.body.graph.id(level.local(node)).as_str()
    }

    /// The edges into a node whose condition did not hold, by their place among them.
    pub(crate) fn unmet(&self, node: NodeIndex) -> Vec<u32> {
        let record = &self.nodes[node.at()];
        if record.rare().verdict.is_none() {
            return Vec::new();
        }
        (0_u32..)
            .zip(self.edges_into(node))
            .filter(|(_, (edge, ..))| record.found_unmet(*edge))
            .map(|(at, _)| at)
            .collect()
    }
}

/// The round of a loop that a graph is; 0 elsewhere.
fn round(level: &Level) -> u32 {
    match &level.origin {
        Origin::Graph { round, .. } => *round,
        Origin::Workflow | Origin::Items(_) | Origin::Grown(_) => 0,
    }
}
