//! The graphs that are run: nodes that do nothing, in shapes that hurt in different ways.

use std::sync::Arc;

use sprag_core::definition::{Definition, Kind};
use sprag_core::file::{Node, NodeId, Noop, Policy, Scheduling, When, WorkflowId};
use sprag_core::graph::{Builder, NewEdge, NodeIndex};
use sprag_core::limits::Limits;
use sprag_core::load::load;
use sprag_core::run::Product;

/// A shape and how it is scheduled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One after the other: as many waves and commits as nodes.
    Chain,
    /// One, all others but one, one: as wide as a graph can be.
    Fan,
    /// Layers of a hundred; each node needs three of the layer before.
    Layers,
    /// The same, each node as soon as its own three are done.
    Frontier,
    /// A list, and one copy of a node for each of its items.
    Map,
}

const LAYER: u32 = 100;

impl Shape {
    /// All shapes, in the order in which they are shown.
    pub const ALL: [Self; 5] = [Self::Chain, Self::Fan, Self::Layers, Self::Frontier, Self::Map];

    /// What it is called in tables and pictures.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chain => "chain",
            Self::Fan => "fan",
            Self::Layers => "layers",
            Self::Frontier => "layers-frontier",
            Self::Map => "map",
        }
    }

    /// A workflow of this shape.
    pub fn definition(self, nodes: u32) -> Definition {
        if self == Self::Map {
            let text = "workflow: bench\nnodes:\n  a-list: { call: x }\n  each: { needs: [a-list], map: { over: output, node: { noop: } } }\n";
            return load(text, &Limits::default()).unwrap().definition;
        }
        let ids = (0..nodes).map(|node| (0, NodeId::new(&format!("node-{node:07}")).unwrap()));
        let mut builder = Builder::new(ids);
        for to in 0..nodes {
            self.sources(nodes, to, |from| {
                let (from, to) = (NodeIndex(from), NodeIndex(to));
                builder.edge(NewEdge { from, to, when: When::OnSuccess, condition: None });
            });
        }
        let (graph, cycles) = builder.finish();
        assert!(cycles.is_empty());
        let scheduling = if self == Self::Frontier { Scheduling::Frontier } else { Scheduling::Waves };
        let policy = Policy { scheduling: Some(scheduling), ..Policy::default() };
        let noop = Arc::new(Node { noop: Some(Noop), ..Node::default() });
        Definition::from_graph(WorkflowId::new("bench").unwrap(), policy, graph, |_| (Kind::Noop, Arc::clone(&noop)))
    }

    /// What a node needs. Ids have leading zeros, so indices are the numbers in the ids.
    fn sources(self, nodes: u32, node: u32, mut needs: impl FnMut(u32)) {
        match self {
            Self::Map => {}
            Self::Chain => (node.saturating_sub(1)..node).for_each(needs),
            Self::Fan if node == 0 => {}
            Self::Fan if node + 1 == nodes => (1..node).for_each(needs),
            Self::Fan => needs(0),
            Self::Layers | Self::Frontier => {
                if let Some(layer) = (node / LAYER).checked_sub(1) {
                    for step in [0, 31, 62] {
                        needs(layer * LAYER + (node * 7 + step) % LAYER);
                    }
                }
            }
        }
    }

    /// What a node gives. The list is the first one.
    pub fn product(self, nodes: u32, node: NodeIndex) -> Product {
        if self == Self::Map && node.0 == 0 { Product::of((0..nodes - 2).collect()) } else { Product::default() }
    }
}
