//! From ids and edges to the dense graph, in `O(V + E)` after sorting.

use super::cycle::{Cycle, cycles};
use super::dense::{EdgeIndex, EdgeRow, Graph, NodeIndex};
use crate::file::{NodeId, When};

/// Collects nodes first, then edges between them.
#[derive(Debug)]
pub struct Builder {
    ids: Vec<NodeId>,
    phase: Vec<u16>,
    by_id: Vec<NodeIndex>,
    edges: Vec<EdgeRow>,
}

/// An edge to add.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEdge {
    /// Where it starts.
    pub from: NodeIndex,
    /// Where it leads.
    pub to: NodeIndex,
    /// Which end of the source lets it hold.
    pub when: When,
    /// The source of its condition.
    pub condition: Option<Box<str>>,
}

impl Builder {
    /// Numbers the nodes, given as (phase, id). Ids must be unique; of equal ones the first phase wins.
    pub fn new(nodes: impl IntoIterator<Item = (u16, NodeId)>) -> Self {
        let mut nodes: Vec<_> = nodes.into_iter().collect();
        nodes.sort_unstable();
        let (phase, ids): (Vec<_>, Vec<_>) = nodes.into_iter().unzip();
        let mut by_id: Vec<_> = (0..u32::try_from(ids.len()).unwrap_or(u32::MAX)).map(NodeIndex).collect();
        by_id.sort_unstable_by(|left, right| (&ids[left.at()], left).cmp(&(&ids[right.at()], right)));
        by_id.dedup_by(|later, earlier| ids[later.at()] == ids[earlier.at()]);
        Self { ids, phase, by_id, edges: Vec::new() }
    }

    /// Nodes without names of their own: `0`, `1`, … Their numbers are their ids, so 2 comes before 10 here.
    pub fn numbered(count: u32) -> Self {
        let ids = (0..count).filter_map(|at| NodeId::new(&at.to_string()).ok()).collect();
        let phase = (0..count).map(|_| 0).collect();
        Self { ids, phase, by_id: as_texts(count).map(NodeIndex).collect(), edges: Vec::new() }
    }

    /// The node with an id.
    pub fn find(&self, id: &str) -> Option<NodeIndex> {
        let at = self.by_id.binary_search_by(|node| self.ids[node.at()].as_str().cmp(id)).ok()?;
        Some(self.by_id[at])
    }

    /// The phase of a node.
    pub fn phase(&self, node: NodeIndex) -> u16 {
        self.phase[node.at()]
    }

    /// Adds an edge. One that is there already is not added twice.
    pub fn edge(&mut self, edge: NewEdge) {
        self.edges.push(EdgeRow { from: edge.from, to: edge.to, when: edge.when, condition: edge.condition });
    }

    /// Lays the arrays out and computes waves. Cycles are reported node by node, all that can be told apart.
    ///
    /// With cycles the graph is still usable for reachability; waves of nodes in or behind a cycle are 0.
    pub fn finish(mut self) -> (Graph, Vec<Cycle>) {
        self.edges.sort_unstable_by(|left, right| {
            (left.to, left.from, left.when, &left.condition).cmp(&(right.to, right.from, right.when, &right.condition))
        });
        self.edges.dedup();
        let count = self.ids.len();
        let mut in_start = vec![0_u32; count + 1];
        let mut out_start = vec![0_u32; count + 1];
        for edge in &self.edges {
            in_start[edge.to.at() + 1] += 1;
            out_start[edge.from.at() + 1] += 1;
        }
        for at in 0..count {
            in_start[at + 1] += in_start[at];
            out_start[at + 1] += out_start[at];
        }
        let mut next = out_start.clone();
        let mut out = vec![EdgeIndex(0); self.edges.len()];
        for (index, edge) in (0_u32..).zip(&self.edges) {
            let slot = &mut next[edge.from.at()];
            out[*slot as usize] = EdgeIndex(index);
            *slot += 1;
        }
        let mut graph = Graph {
            ids: self.ids,
            phase: self.phase,
            wave: vec![0; count],
            edges: self.edges,
            in_start,
            out,
            out_start,
            by_id: self.by_id,
            waves: Vec::new(),
        };
        let settled = waves(&mut graph);
        let cycles = if settled == count { Vec::new() } else { cycles(&graph) };
        (graph, cycles)
    }
}

/// The numbers below `count` in the order of their texts, `0 1 10 100 11 2`, without comparing any.
fn as_texts(count: u32) -> impl Iterator<Item = u32> {
    let after = move |at: &u32| {
        let longer = at.checked_mul(10).filter(|longer| *longer > 0 && *longer < count);
        Some(longer.unwrap_or_else(|| {
            let shorter = if at + 1 < count { *at } else { at / 10 };
            let mut next = shorter + 1;
            while next % 10 == 0 {
                next /= 10;
            }
            next
        }))
    };
    std::iter::successors(Some(0), after).take(count as usize)
}

/// Kahn's algorithm: each node's wave is one more than its deepest source. Returns how many nodes it reached.
fn waves(graph: &mut Graph) -> usize {
    let mut open: Vec<u32> = graph.in_start.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mut queue: Vec<NodeIndex> = graph.nodes().filter(|node| open[node.at()] == 0).collect();
    let mut done = 0;
    while done < queue.len() {
        let node = queue[done];
        done += 1;
        let wave = graph.wave[node.at()];
        let rows = graph.out_start[node.at()] as usize..graph.out_start[node.at() + 1] as usize;
        for edge in &graph.out[rows] {
            let target = graph.edges[edge.0 as usize].to;
            graph.wave[target.at()] = graph.wave[target.at()].max(wave + 1);
            open[target.at()] -= 1;
            if open[target.at()] == 0 {
                queue.push(target);
            }
        }
    }
    let phases = graph.phase.iter().max().map_or(0, |last| usize::from(*last) + 1);
    graph.waves = vec![0; phases];
    for (wave, phase) in graph.wave.iter().zip(&graph.phase) {
        let waves = &mut graph.waves[usize::from(*phase)];
        *waves = (*waves).max(wave + 1);
    }
    done
}
