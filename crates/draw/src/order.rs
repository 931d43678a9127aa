//! The order of phases as edges, for formats whose layout is another program's.

use crate::picture::{Picture, PictureEdge};
use crate::ranks;

/// A step from one phase to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    /// The earlier phase; the later one follows it immediately.
    pub(crate) group: usize,
    /// The end of the longest way through the earlier phase; `None` when it is empty.
    pub(crate) last: Option<usize>,
    /// The start of the longest way through the later phase; `None` when it is empty.
    pub(crate) first: Option<usize>,
}

/// The steps between phases that run one after the other; none when edges cross phases.
///
/// An edge from `last` to `first` puts the whole later phase below the earlier one, because the
/// longest way through a phase spans all of its rows.
pub(crate) fn steps(picture: &Picture, edges: &[PictureEdge]) -> Vec<Step> {
    if picture.groups.len() < 2 || !picture.is_sequence(edges) {
        return Vec::new();
    }
    let rank = ranks::longest_path(picture.nodes.len(), edges);
    let mut before = vec![None; picture.nodes.len()];
    for edge in edges {
        if rank[edge.from] < rank[edge.to] && rank[edge.from] + 1 == rank[edge.to] {
            before[edge.to].get_or_insert(edge.from);
        }
    }
    let ends: Vec<(Option<usize>, Option<usize>)> = picture
        .members_by_group()
        .iter()
        .map(|members| {
            // Of equally deep nodes the first one listed, so that equal pictures give equal text.
            let last = members.iter().copied().reduce(|best, next| if rank[next] > rank[best] { next } else { best });
            // Ranks fall at every step back, so this ends.
            let first = std::iter::successors(last, |&node| before[node]).last();
            (first, last)
        })
        .collect();
    ends.windows(2).enumerate().map(|(group, pair)| Step { group, last: pair[0].1, first: pair[1].0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::{EdgeKind, PictureNode};

    fn picture(groups: &[usize], phases: usize, pairs: &[(usize, usize)]) -> Picture {
        let node = |group: &usize| PictureNode { group: Some(*group), ..PictureNode::default() };
        let edge = |&(from, to): &(usize, usize)| PictureEdge { from, to, when: EdgeKind::Success, label: None };
        Picture {
            nodes: groups.iter().map(node).collect(),
            edges: pairs.iter().map(edge).collect(),
            groups: (0..phases).map(|at| format!("p{at}")).collect(),
            ..Picture::default()
        }
    }

    #[test]
    fn steps_lead_from_the_deepest_node_to_the_start_of_the_longest_way() {
        // The second phase lists its end first and has a node beside its chain.
        let picture = picture(&[0, 0, 1, 1, 1, 1], 3, &[(0, 1), (3, 4), (4, 2), (5, 2)]);
        let found = steps(&picture, &picture.edges);
        assert_eq!(
            found,
            [Step { group: 0, last: Some(1), first: Some(3) }, Step { group: 1, last: Some(2), first: None }]
        );
    }

    #[test]
    fn crossing_edges_and_cycles_make_no_trouble() {
        let crossing = picture(&[0, 1], 2, &[(0, 1)]);
        assert!(steps(&crossing, &crossing.edges).is_empty());
        let cyclic = picture(&[0, 0, 1], 2, &[(0, 1), (1, 0)]);
        assert_eq!(steps(&cyclic, &cyclic.edges).len(), 1);
    }
}
