//! Levels of a graph by longest path, whatever the caller's waves say.

use crate::picture::PictureEdge;

/// The rank of each node: 0 for sources, otherwise one more than its highest predecessor.
///
/// Edges must be in range. Nodes on a cycle keep the best rank found before the cycle, so the
/// function ends on any input.
pub(crate) fn longest_path(node_count: usize, edges: &[PictureEdge]) -> Vec<usize> {
    let mut waiting = vec![0_usize; node_count];
    let (starts, targets) = adjacency(node_count, edges);
    for edge in edges {
        waiting[edge.to] += 1;
    }
    let mut rank = vec![0_usize; node_count];
    let mut queue: Vec<usize> = (0..node_count).filter(|&node| waiting[node] == 0).collect();
    let mut at = 0;
    while let Some(&node) = queue.get(at) {
        at += 1;
        for &next in &targets[starts[node]..starts[node + 1]] {
            rank[next] = rank[next].max(rank[node] + 1);
            waiting[next] -= 1;
            if waiting[next] == 0 {
                queue.push(next);
            }
        }
    }
    rank
}

/// How many rank steps all edges span together: the number of waypoints a layered layout needs.
pub(crate) fn total_span(rank: &[usize], edges: &[PictureEdge]) -> usize {
    edges.iter().map(|edge| rank[edge.to].abs_diff(rank[edge.from]).max(1)).sum()
}

/// The next smaller limit to try for a picture of `boxes` boxes whose edges span too much.
///
/// Span grows about with the square of the number of boxes, so one or two steps are enough.
pub(crate) fn smaller_limit(boxes: usize, span: usize, span_limit: usize) -> usize {
    let excess = span.max(1).div_ceil(span_limit.max(1));
    let scaled = boxes / excess.isqrt().max(1);
    scaled.min(boxes * 3 / 4)
}

/// Successors in one flat list: those of `n` are `targets[starts[n]..starts[n + 1]]`.
pub(crate) fn adjacency(node_count: usize, edges: &[PictureEdge]) -> (Vec<usize>, Vec<usize>) {
    let mut starts = vec![0_usize; node_count + 1];
    for edge in edges {
        starts[edge.from + 1] += 1;
    }
    for node in 0..node_count {
        starts[node + 1] += starts[node];
    }
    let mut fill = starts.clone();
    let mut targets = vec![0_usize; edges.len()];
    for edge in edges {
        targets[fill[edge.from]] = edge.to;
        fill[edge.from] += 1;
    }
    (starts, targets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::EdgeKind;

    fn edges(pairs: &[(usize, usize)]) -> Vec<PictureEdge> {
        let when = EdgeKind::Success;
        pairs.iter().map(|&(from, to)| PictureEdge { from, to, when, label: None }).collect()
    }

    #[test]
    fn a_diamond_with_a_shortcut_ranks_by_its_longest_path() {
        let edges = edges(&[(0, 1), (0, 2), (1, 3), (2, 3), (0, 3)]);
        let rank = longest_path(4, &edges);
        assert_eq!(rank, [0, 1, 1, 2]);
        assert_eq!(total_span(&rank, &edges), 6);
    }

    #[test]
    fn limits_shrink_and_end() {
        assert_eq!(smaller_limit(100, 800, 400), 75);
        assert_eq!(smaller_limit(100, 40_000, 400), 10);
        assert!(smaller_limit(13, 0, 400) < 13);
    }

    #[test]
    fn a_cycle_does_not_hang() {
        assert_eq!(longest_path(3, &edges(&[(0, 1), (1, 2), (2, 1)])).len(), 3);
    }
}
