//! Names the nodes of a cycle, one after the other.

use super::dense::{Graph, NodeIndex};

/// How many cycles one report names; a tangle of more is not mended in one go anyway.
const REPORTED: usize = 20;

/// Nodes that wait for each other: each one is needed by the next, the last by the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cycle {
    /// The nodes, from the smallest id on.
    pub nodes: Vec<NodeIndex>,
}

impl Cycle {
    /// `a -> b -> a`, with the middle of a very long one left out.
    pub fn text(&self, graph: &Graph) -> String {
        const SHOWN: usize = 12;
        let name = |node: &NodeIndex| graph.id(*node).to_string();
        let mut names: Vec<String> = self.nodes.iter().map(name).collect();
        if names.len() > SHOWN + 4 {
            let left_out = names.len() - SHOWN;
            names.splice(SHOWN / 2..SHOWN / 2 + left_out, [format!("({left_out} more)")]);
        }
        names.extend(self.nodes.first().map(name));
        names.join(" -> ")
    }
}

/// Finds cycles that share no node, deterministically: each is found, then taken out of the graph.
pub(super) fn cycles(graph: &Graph) -> Vec<Cycle> {
    let mut removed = vec![false; graph.len()];
    let mut found = Vec::new();
    while found.len() < REPORTED {
        trim(graph, &mut removed);
        let Some(start) = graph.nodes().find(|node| !removed[node.at()]) else { break };
        let cycle = walk_back(graph, &removed, start);
        for node in &cycle.nodes {
            removed[node.at()] = true;
        }
        found.push(cycle);
    }
    found
}

/// Takes out every node that no cycle can pass: nothing left before it.
fn trim(graph: &Graph, removed: &mut [bool]) {
    let mut open: Vec<usize> = graph
        .nodes()
        .map(|node| graph.edges_into(node).iter().filter(|edge| !removed[edge.from.at()]).count())
        .collect();
    let mut queue: Vec<NodeIndex> = graph.nodes().filter(|node| !removed[node.at()] && open[node.at()] == 0).collect();
    while let Some(node) = queue.pop() {
        removed[node.at()] = true;
        for (_, edge) in graph.edges_from(node) {
            let target = edge.to.at();
            if !removed[target] {
                open[target] -= 1;
                if open[target] == 0 {
                    queue.push(edge.to);
                }
            }
        }
    }
}

/// Every node left has a source left, so walking back must meet itself.
fn walk_back(graph: &Graph, removed: &[bool], start: NodeIndex) -> Cycle {
    let mut position = vec![usize::MAX; graph.len()];
    let mut path = Vec::new();
    let mut at = start;
    while position[at.at()] == usize::MAX {
        position[at.at()] = path.len();
        path.push(at);
        let Some(edge) = graph.edges_into(at).iter().find(|edge| !removed[edge.from.at()]) else { break };
        at = edge.from;
    }
    let mut nodes = path.split_off(position[at.at()].min(path.len().saturating_sub(1)));
    nodes.reverse();
    let smallest = (0..nodes.len()).min_by_key(|at| nodes[*at]).unwrap_or(0);
    nodes.rotate_left(smallest);
    Cycle { nodes }
}
