//! How nodes are called: `build`, and `each/3` or `again/2/build` for what grew inside them (`R-GROW-1`).

use super::fold::Run;
use super::level::Origin;
use crate::graph::NodeIndex;

impl Run {
    /// The address of a node: its id, behind that of the node it grew in.
    pub fn address(&self, node: NodeIndex) -> String {
        let level = self.level(node);
        let id = level.body.graph.id(level.local(node)).as_str();
        let Some(parent) = level.parent else { return id.to_owned() };
        let around = self.address(parent);
        match &level.origin {
            Origin::Graph { round, .. } if *round > 0 => format!("{around}/{round}/{id}"),
            _ => format!("{around}/{id}"),
        }
    }

    /// The node at an address, as far as the run has grown.
    pub fn find(&self, address: &str) -> Option<NodeIndex> {
        let mut words = address.split('/');
        let mut node = self.root().body.graph.find(words.next()?)?;
        while let Some(word) = words.next() {
            let inside = self.grown.get(&node)?;
            let rounds = inside.iter().find_map(|level| match &self.levels[*level as usize].origin {
                Origin::Graph { round, .. } if *round > 0 => Some((*level, *round)),
                _ => None,
            });
            let (level, id) = match rounds {
                Some(_) => {
                    let of_round = |level: &&u32| matches!(&self.levels[**level as usize].origin, Origin::Graph { round, .. } if round.to_string() == word);
                    (inside.iter().find(of_round)?, words.next()?)
                }
                None => (inside.last()?, word),
            };
            let level = &self.levels[*level as usize];
            node = level.global(level.body.graph.find(id)?);
        }
        Some(node)
    }

    /// The nodes that a node grew into, in the order of their numbers.
    pub fn children(&self, node: NodeIndex) -> impl Iterator<Item = NodeIndex> {
        let levels = self.grown.get(&node).into_iter().flatten();
        levels.flat_map(|level| self.levels[*level as usize].nodes())
    }

    /// All nodes so far, those inside others included.
    pub fn all_nodes(&self) -> impl ExactSizeIterator<Item = NodeIndex> + use<> {
        (0..super::fold::count(self.nodes.len())).map(NodeIndex)
    }

    /// The node of the workflow itself that a node belongs to: it says in which wave and phase it runs (`R-GROW-2`).
    pub fn top(&self, node: NodeIndex) -> NodeIndex {
        let mut top = node;
        while let Some(parent) = self.level(top).parent {
            top = parent;
        }
        top
    }

    /// The node that a node grew in.
    pub fn parent(&self, node: NodeIndex) -> Option<NodeIndex> {
        self.level(node).parent
    }
}
