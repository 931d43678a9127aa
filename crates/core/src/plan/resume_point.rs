//! Whether what lies before the place at which a run goes on is still valid (`R-ELIG-1`).

use super::changes::sources;
use super::planned::{Plan, PlannedNode};
use crate::definition::Definition;

impl Plan {
    /// A node at or before the resume point whose result cannot be used any more, the first in the plan's order.
    ///
    /// The resume point is where the earlier run stopped: its failed and unfinished nodes. If there are none, it is the
    /// end of the run, and everything lies before it.
    pub fn invalidated_before_resume_point(&self, definition: &Definition) -> Option<&PlannedNode> {
        let graph = &definition.graph;
        let top = |node: &PlannedNode| graph.find(node.id.split('/').next().unwrap_or(&node.id));
        let mut before = vec![false; graph.len()];
        let mut queue: Vec<_> = self.nodes.iter().filter(|node| node.reason.resumes()).filter_map(top).collect();
        let everything = queue.is_empty();
        let last_phase = queue.iter().map(|node| graph.phase(*node)).max().unwrap_or_default();
        while let Some(node) = queue.pop() {
            if !std::mem::replace(&mut before[node.at()], true) {
                queue.extend(sources(definition, node));
            }
        }
        self.nodes.iter().filter(|node| node.reason.invalidates()).find(|node| {
            top(node).is_some_and(|node| everything || before[node.at()] || graph.phase(node) < last_phase)
        })
    }
}
