//! What a checkpoint reads of a run to say it in its own words.

use std::sync::Arc;

use serde_json::Value;

use crate::graph::NodeIndex;
use crate::run::failure::NodeError;
use crate::run::fold::{Run, count};
use crate::run::level::Origin;

impl Run {
    /// The phase of the workflow that is under way, or its last one, and the last wave of it that is complete.
    pub fn progress(&self) -> (u16, Option<u32>) {
        let (phase, announced) = self.root().waves.progress();
        (phase, announced.checked_sub(1))
    }

    /// What a node gave, completed or not, as long as somebody may read it.
    pub(crate) fn held_output(&self, node: NodeIndex) -> Option<&Arc<Value>> {
        self.nodes[node.at()].rare().output.as_ref()
    }

    /// The error of a node's last attempt, unless it went well.
    pub(crate) fn last_error(&self, node: NodeIndex) -> Option<&NodeError> {
        self.nodes[node.at()].rare().error.as_ref()
    }

    /// The number of graphs so far.
    pub(crate) fn graphs(&self) -> u32 {
        count(self.levels.len())
    }

    /// What the nodes of one of its graphs made for the node they grew in, where somebody else knows their outputs.
    pub(crate) fn gathered_graph(&self, graph: u32, output: impl Fn(NodeIndex) -> Value) -> Value {
        self.gathered_from(graph as usize, output)
    }

    /// The nodes of one of its graphs.
    pub(crate) fn nodes_of(&self, graph: u32) -> impl Iterator<Item = NodeIndex> + use<> {
        self.levels[graph as usize].nodes()
    }

    /// Nodes that have children, with the newest graph of them.
    pub(crate) fn insides(&self) -> impl Iterator<Item = (NodeIndex, u32)> {
        self.grown.iter().filter_map(|(node, levels)| levels.last().map(|level| (*node, *level)))
    }

    /// All nodes that have an address of their own: where a node grew anew, only the newest children have theirs.
    pub(crate) fn addressed(&self) -> impl Iterator<Item = NodeIndex> {
        let levels = (0..).zip(&self.levels);
        levels.filter(|(at, _)| !self.is_replaced(*at)).flat_map(|(_, level)| level.nodes())
    }

    fn is_replaced(&self, at: u32) -> bool {
        let round = |level: u32| match &self.levels[level as usize].origin {
            Origin::Graph { round, .. } => *round,
            Origin::Workflow | Origin::Items(_) | Origin::Grown(_) => 0,
        };
        let siblings = self.levels[at as usize].parent.and_then(|parent| self.grown.get(&parent));
        siblings.is_some_and(|levels| {
            levels.iter().rev().take_while(|other| **other > at).any(|other| round(*other) == round(at))
        })
    }
}
