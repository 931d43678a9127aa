//! "Is this node an ancestor of that one?", asked once per name in an expression.
//!
//! A search per question would make a large file quadratic. Two labels per node settle nearly all questions at once:
//! an interval in a spanning forest says yes, an interval over everything reachable says no (as in GRAIL). Only what
//! neither settles is searched.

use std::collections::HashSet;

use super::dense::{Graph, NodeIndex};

/// Labels of every node of one graph, from which most questions are answered at once.
#[derive(Debug, Clone, PartialEq)]
pub struct Ancestry {
    /// Interval of each node's subtree in the spanning forest: contained means reachable.
    tree: Vec<(u32, u32)>,
    /// Lowest rank anything reachable has, and the own rank: not contained means not reachable.
    rank: Vec<(u32, u32)>,
}

impl Ancestry {
    /// Labels a graph, in linear time.
    pub fn new(graph: &Graph) -> Self {
        let count = graph.len();
        let mut ancestry = Self { tree: vec![(0, 0); count], rank: vec![(0, 0); count] };
        ancestry.label(graph);
        ancestry
    }

    /// Whether a path of edges leads from `from` to `to` in the graph that was labelled. A node is not its own ancestor.
    pub fn reaches(&self, graph: &Graph, from: NodeIndex, to: NodeIndex) -> bool {
        self.at_once(graph, from, to).unwrap_or_else(|| {
            let mut seen = HashSet::new();
            self.search(graph, from, to, |node| seen.insert(node))
        })
    }

    fn at_once(&self, graph: &Graph, from: NodeIndex, to: NodeIndex) -> Option<bool> {
        if from == to {
            return Some(false);
        }
        if graph.edges_into(to).iter().any(|edge| edge.from == from) || self.in_tree(from, to) {
            return Some(true);
        }
        if self.may_reach(from, to) { None } else { Some(false) }
    }

    fn in_tree(&self, from: NodeIndex, to: NodeIndex) -> bool {
        let (enter, leave) = self.tree[from.at()];
        enter <= self.tree[to.at()].0 && self.tree[to.at()].1 <= leave
    }

    fn may_reach(&self, from: NodeIndex, to: NodeIndex) -> bool {
        let (low, high) = self.rank[from.at()];
        low <= self.rank[to.at()].0 && self.rank[to.at()].1 <= high
    }

    fn search(&self, graph: &Graph, from: NodeIndex, to: NodeIndex, mut enter: impl FnMut(NodeIndex) -> bool) -> bool {
        let mut stack = vec![from];
        while let Some(node) = stack.pop() {
            if self.in_tree(node, to) {
                return true;
            }
            for (_, edge) in graph.edges_from(node) {
                if self.may_reach(edge.to, to) && enter(edge.to) {
                    stack.push(edge.to);
                }
            }
        }
        false
    }

    /// One depth-first walk gives both labels.
    fn label(&mut self, graph: &Graph) {
        let mut state = vec![0_u8; graph.len()];
        let (mut clock, mut rank) = (0_u32, 0_u32);
        for root in graph.nodes() {
            if !graph.edges_into(root).is_empty() || state[root.at()] != 0 {
                continue;
            }
            let mut stack = vec![(root, graph.out_start[root.at()])];
            state[root.at()] = 1;
            self.tree[root.at()].0 = clock;
            clock += 1;
            while let Some((node, next)) = stack.last_mut() {
                let node = *node;
                if *next < graph.out_start[node.at() + 1] {
                    let target = graph.edges[graph.out[*next as usize].0 as usize].to;
                    *next += 1;
                    if state[target.at()] == 0 {
                        state[target.at()] = 1;
                        self.tree[target.at()].0 = clock;
                        clock += 1;
                        stack.push((target, graph.out_start[target.at()]));
                    }
                } else {
                    self.tree[node.at()].1 = clock;
                    clock += 1;
                    rank += 1;
                    let low = graph.edges_from(node).map(|(_, edge)| self.rank[edge.to.at()].0).min();
                    self.rank[node.at()] = (low.unwrap_or(rank).min(rank), rank);
                    stack.pop();
                }
            }
        }
    }
}

/// Answers many reachability questions about one graph, and keeps the memory that a search needs.
#[derive(Debug)]
pub struct Reach<'graph> {
    graph: &'graph Graph,
    ancestry: Ancestry,
    seen: Vec<u32>,
    round: u32,
}

impl<'graph> Reach<'graph> {
    /// Labels the graph, in linear time.
    pub fn new(graph: &'graph Graph) -> Self {
        Self { graph, ancestry: Ancestry::new(graph), seen: vec![0; graph.len()], round: 0 }
    }

    /// Whether a path of edges leads from `from` to `to`. A node is not its own ancestor.
    pub fn reaches(&mut self, from: NodeIndex, to: NodeIndex) -> bool {
        if let Some(answer) = self.ancestry.at_once(self.graph, from, to) {
            return answer;
        }
        self.round += 1;
        let (seen, round) = (&mut self.seen, self.round);
        self.ancestry.search(self.graph, from, to, |node| std::mem::replace(&mut seen[node.at()], round) != round)
    }
}
