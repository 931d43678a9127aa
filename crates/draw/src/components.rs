//! Strongly connected components, without recursion: a chain may be 200,000 nodes long.

/// A component number per node; two nodes share one exactly when each reaches the other.
pub(crate) fn strong_components(node_count: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut starts = vec![0_usize; node_count + 1];
    for &(from, _) in edges {
        starts[from + 1] += 1;
    }
    for node in 0..node_count {
        starts[node + 1] += starts[node];
    }
    let mut fill = starts.clone();
    let mut targets = vec![0_usize; edges.len()];
    for &(from, to) in edges {
        targets[fill[from]] = to;
        fill[from] += 1;
    }

    let mut search = Search {
        entered: vec![UNSEEN; node_count],
        lowest: vec![0; node_count],
        component: vec![UNSEEN; node_count],
        open: Vec::new(),
        clock: 0,
        components: 0,
    };
    // (node, position of its next unvisited edge) replaces the call stack of Tarjan's algorithm.
    let mut path: Vec<(usize, usize)> = Vec::new();
    for root in 0..node_count {
        if search.entered[root] != UNSEEN {
            continue;
        }
        search.enter(root);
        path.push((root, starts[root]));
        while let Some((node, at)) = path.last_mut() {
            let node = *node;
            if *at < starts[node + 1] {
                let next = targets[*at];
                *at += 1;
                if search.entered[next] == UNSEEN {
                    search.enter(next);
                    path.push((next, starts[next]));
                } else if search.component[next] == UNSEEN {
                    search.lowest[node] = search.lowest[node].min(search.entered[next]);
                }
            } else {
                path.pop();
                search.leave(node);
                if let Some(&(parent, _)) = path.last() {
                    search.lowest[parent] = search.lowest[parent].min(search.lowest[node]);
                }
            }
        }
    }
    search.component
}

const UNSEEN: usize = usize::MAX;

struct Search {
    entered: Vec<usize>,
    lowest: Vec<usize>,
    component: Vec<usize>,
    /// Nodes entered whose component is not known yet.
    open: Vec<usize>,
    clock: usize,
    components: usize,
}

impl Search {
    fn enter(&mut self, node: usize) {
        self.entered[node] = self.clock;
        self.lowest[node] = self.clock;
        self.clock += 1;
        self.open.push(node);
    }

    fn leave(&mut self, node: usize) {
        if self.lowest[node] != self.entered[node] {
            return;
        }
        while let Some(member) = self.open.pop() {
            self.component[member] = self.components;
            if member == node {
                break;
            }
        }
        self.components += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_that_reach_each_other_share_a_component() {
        let found = strong_components(5, &[(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)]);
        assert_eq!(found[0], found[1]);
        assert_eq!(found[1], found[2]);
        let distinct: std::collections::BTreeSet<_> = found.iter().collect();
        assert_eq!(distinct.len(), 3);
    }

    #[test]
    fn a_very_long_chain_needs_no_deep_stack() {
        let edges: Vec<_> = (0..199_999).map(|node| (node, node + 1)).collect();
        let found = strong_components(200_000, &edges);
        assert_ne!(found[0], found[199_999]);
    }
}
