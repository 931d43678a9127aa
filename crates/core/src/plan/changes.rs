//! How a workflow differs from the one that an earlier run ran (`R-RES-6`).

use std::collections::BTreeMap;

use serde::Serialize;

use crate::definition::Definition;
use crate::graph::NodeIndex;
use crate::hash::Digest;

/// The nodes of two workflows, each list sorted by id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// In both; neither they nor anything before them changed.
    pub kept: Vec<String>,
    /// In both, but they or something before them changed.
    pub invalidated: Vec<String>,
    /// Only in the new one.
    pub new: Vec<String>,
    /// Only in the old one.
    pub removed: Vec<String>,
}

impl Changes {
    /// Whether every node is what it was.
    pub const fn is_empty(&self) -> bool {
        self.invalidated.is_empty() && self.new.is_empty() && self.removed.is_empty()
    }
}

/// Compares the node hashes of an old workflow with a new one. How far a run got does not matter here.
pub fn changes<'old>(old: impl IntoIterator<Item = (&'old str, Digest)>, definition: &Definition) -> Changes {
    let mut old: BTreeMap<&str, Digest> = old.into_iter().collect();
    let graph = &definition.graph;
    let mut differs = vec![false; graph.len()];
    let mut changes = Changes::default();
    // Later phases see everything of earlier ones.
    let mut earliest: Option<u16> = None;
    for node in in_order(definition) {
        let (id, phase) = (graph.id(node).as_str(), graph.phase(node));
        let before = sources(definition, node).any(|source| differs[source.at()])
            || earliest.is_some_and(|earliest| earliest < phase);
        let was = old.remove(id);
        differs[node.at()] = before || was != Some(definition.node(node).hash);
        if differs[node.at()] {
            earliest = Some(earliest.map_or(phase, |earliest| earliest.min(phase)));
        }
        let list = match (was, differs[node.at()]) {
            (None, _) => &mut changes.new,
            (Some(_), true) => &mut changes.invalidated,
            (Some(_), false) => &mut changes.kept,
        };
        list.push(id.to_owned());
    }
    changes.removed = old.into_keys().map(str::to_owned).collect();
    for list in [&mut changes.kept, &mut changes.invalidated, &mut changes.new] {
        list.sort_unstable();
    }
    changes
}

/// All nodes, sources first: by (phase, wave, id).
pub(super) fn in_order(definition: &Definition) -> Vec<NodeIndex> {
    let graph = &definition.graph;
    let mut nodes: Vec<_> = graph.nodes().collect();
    nodes.sort_unstable_by_key(|node| (graph.phase(*node), graph.wave(*node), *node));
    nodes
}

/// The nodes that a node depends on directly: by an edge, or by reading them.
pub(super) fn sources(definition: &Definition, node: NodeIndex) -> impl Iterator<Item = NodeIndex> {
    definition.graph.edges_into(node).iter().map(|edge| edge.from).chain(definition.reads_beyond_edges(node))
}
