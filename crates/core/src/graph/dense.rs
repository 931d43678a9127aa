//! The graph itself, as flat arrays.

use serde::{Deserialize, Serialize};

use crate::file::{NodeId, When};

/// The number of a node; numbers follow (phase, id).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeIndex(pub u32);

/// The number of an edge; numbers follow (target, source, when).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EdgeIndex(pub u32);

impl NodeIndex {
    /// The index into arrays.
    pub const fn at(self) -> usize {
        self.0 as usize
    }
}

/// One edge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeRow {
    /// Where it starts.
    pub from: NodeIndex,
    /// Where it leads.
    pub to: NodeIndex,
    /// Which end of the source lets it hold.
    pub when: When,
    /// The source of its condition.
    pub condition: Option<Box<str>>,
}

/// An acyclic graph. Edges are sorted by target, so the edges into a node are one slice; those out of it are a slice
/// of `out`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Graph {
    pub(super) ids: Vec<NodeId>,
    pub(super) phase: Vec<u16>,
    pub(super) wave: Vec<u32>,
    pub(super) edges: Vec<EdgeRow>,
    pub(super) in_start: Vec<u32>,
    pub(super) out: Vec<EdgeIndex>,
    pub(super) out_start: Vec<u32>,
    /// All nodes, sorted by id alone: look-ups need no hash map.
    pub(super) by_id: Vec<NodeIndex>,
    pub(super) waves: Vec<u32>,
}

impl Graph {
    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// All nodes, in the order (phase, id).
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = NodeIndex> + use<> {
        (0..u32::try_from(self.ids.len()).unwrap_or(u32::MAX)).map(NodeIndex)
    }

    /// The id of a node.
    pub fn id(&self, node: NodeIndex) -> &NodeId {
        &self.ids[node.at()]
    }

    /// The phase of a node, counted from 0.
    pub fn phase(&self, node: NodeIndex) -> u16 {
        self.phase[node.at()]
    }

    /// The wave of a node: its longest-path depth, from 0 in each phase.
    pub fn wave(&self, node: NodeIndex) -> u32 {
        self.wave[node.at()]
    }

    /// How many waves each phase has.
    pub fn waves(&self) -> &[u32] {
        &self.waves
    }

    /// The node with an id.
    pub fn find(&self, id: &str) -> Option<NodeIndex> {
        let at = self.by_id.binary_search_by(|node| self.ids[node.at()].as_str().cmp(id)).ok()?;
        Some(self.by_id[at])
    }

    /// All edges, sorted by (target, source, when, condition).
    pub fn edges(&self) -> &[EdgeRow] {
        &self.edges
    }

    /// The edges into a node, by source.
    pub fn edges_into(&self, node: NodeIndex) -> &[EdgeRow] {
        &self.edges[self.in_start[node.at()] as usize..self.in_start[node.at() + 1] as usize]
    }

    /// The edges into a node with their numbers, by source.
    pub fn edges_into_with_index(&self, node: NodeIndex) -> impl Iterator<Item = (EdgeIndex, &EdgeRow)> {
        (self.in_start[node.at()]..).map(EdgeIndex).zip(self.edges_into(node))
    }

    /// The edges out of a node, by target.
    pub fn edges_from(&self, node: NodeIndex) -> impl Iterator<Item = (EdgeIndex, &EdgeRow)> {
        self.out[self.out_start[node.at()] as usize..self.out_start[node.at() + 1] as usize]
            .iter()
            .map(|edge| (*edge, &self.edges[edge.0 as usize]))
    }
}
