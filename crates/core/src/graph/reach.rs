//! "Is this node an ancestor of that one?", asked once per name in an expression.
//!
//! A search per question would make a large file quadratic. Two labels per node settle nearly all questions at once:
//! an interval in a spanning forest says yes, an interval over everything reachable says no (as in GRAIL). Only what
//! neither settles is searched.

use super::dense::{Graph, NodeIndex};

/// Answers reachability questions about one graph.
#[derive(Debug)]
pub struct Reach<'graph> {
    graph: &'graph Graph,
    /// Interval of each node's subtree in the spanning forest: contained means reachable.
    tree: Vec<(u32, u32)>,
    /// Lowest rank anything reachable has, and the own rank: not contained means not reachable.
    rank: Vec<(u32, u32)>,
    seen: Vec<u32>,
    round: u32,
}

impl<'graph> Reach<'graph> {
    /// Labels the graph, in linear time.
    pub fn new(graph: &'graph Graph) -> Self {
        let count = graph.len();
        let mut reach =
            Self { graph, tree: vec![(0, 0); count], rank: vec![(0, 0); count], seen: vec![0; count], round: 0 };
        reach.label();
        reach
    }

    /// Whether a path of edges leads from `from` to `to`. A node is not its own ancestor.
    pub fn reaches(&mut self, from: NodeIndex, to: NodeIndex) -> bool {
        if from == to {
            return false;
        }
        if self.graph.edges_into(to).iter().any(|edge| edge.from == from) || self.in_tree(from, to) {
            return true;
        }
        if !self.may_reach(from, to) {
            return false;
        }
        self.search(from, to)
    }

    fn in_tree(&self, from: NodeIndex, to: NodeIndex) -> bool {
        let (enter, leave) = self.tree[from.at()];
        enter <= self.tree[to.at()].0 && self.tree[to.at()].1 <= leave
    }

    fn may_reach(&self, from: NodeIndex, to: NodeIndex) -> bool {
        let (low, high) = self.rank[from.at()];
        low <= self.rank[to.at()].0 && self.rank[to.at()].1 <= high
    }

    fn search(&mut self, from: NodeIndex, to: NodeIndex) -> bool {
        self.round += 1;
        let mut stack = vec![from];
        while let Some(node) = stack.pop() {
            if self.in_tree(node, to) {
                return true;
            }
            for (_, edge) in self.graph.edges_from(node) {
                if self.seen[edge.to.at()] != self.round && self.may_reach(edge.to, to) {
                    self.seen[edge.to.at()] = self.round;
                    stack.push(edge.to);
                }
            }
        }
        false
    }

    /// One depth-first walk gives both labels.
    fn label(&mut self) {
        let mut state = vec![0_u8; self.graph.len()];
        let (mut clock, mut rank) = (0_u32, 0_u32);
        for root in self.graph.nodes() {
            if !self.graph.edges_into(root).is_empty() || state[root.at()] != 0 {
                continue;
            }
            let mut stack = vec![(root, self.graph.out_start[root.at()])];
            state[root.at()] = 1;
            self.tree[root.at()].0 = clock;
            clock += 1;
            while let Some((node, next)) = stack.last_mut() {
                let node = *node;
                if *next < self.graph.out_start[node.at() + 1] {
                    let target = self.graph.edges[self.graph.out[*next as usize].0 as usize].to;
                    *next += 1;
                    if state[target.at()] == 0 {
                        state[target.at()] = 1;
                        self.tree[target.at()].0 = clock;
                        clock += 1;
                        stack.push((target, self.graph.out_start[target.at()]));
                    }
                } else {
                    self.tree[node.at()].1 = clock;
                    clock += 1;
                    rank += 1;
                    let low = self.graph.edges_from(node).map(|(_, edge)| self.rank[edge.to.at()].0).min();
                    self.rank[node.at()] = (low.unwrap_or(rank).min(rank), rank);
                    stack.pop();
                }
            }
        }
    }
}
