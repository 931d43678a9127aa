//! Fewer boxes for graphs that no person could read node by node.
//!
//! Two steps, each linear up to sorting. First nodes of one phase and wave whose ids differ only
//! in a trailing number become one box. If that is not enough, whole waves, then bands of
//! consecutive waves, become one box per phase. Edges between waves lead upwards, so boxes cut
//! along waves cannot form a cycle; boxes of one band can (phase A, B, then A again), and those
//! are joined too. Phases keep their order; when there are more of them than boxes, neighbours
//! become one phase.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::components::strong_components;
use crate::picture::{EdgeKind, NodeColour, Picture, PictureEdge, PictureNode};

/// The kind of a box whose members differ in kind.
const MIXED: &str = "mixed";

/// A picture of at most `limit` boxes and phases (at least one); an equal picture when it is small
/// enough.
///
/// Every node is counted in exactly one box's `members`. When the input has no cycle, neither
/// has the result. Phases keep their order, and one without boxes had no nodes before. Equal input
/// gives equal output.
#[must_use]
pub fn collapsed(picture: &Picture, limit: usize) -> Picture {
    let picture = &*with_fewer_groups(picture, limit);
    if picture.nodes.len() <= limit {
        return picture.clone();
    }
    let edges = picture.drawn_edges();
    let mut boxes = by_stem(picture);
    if boxes.count > limit {
        boxes = by_band(picture, limit.max(1));
    }
    let boxes = joined_cycles(&boxes, &edges);
    let small = Picture {
        title: picture.title.clone(),
        nodes: merged_nodes(picture, &boxes),
        edges: merged_edges(&edges, &boxes),
        groups: picture.groups.clone(),
    };
    without_lost_groups(small, picture)
}

/// Joins neighbouring phases until there are no more than boxes.
fn with_fewer_groups(picture: &Picture, limit: usize) -> Cow<'_, Picture> {
    let loose = (0..picture.nodes.len()).any(|node| picture.group_of(node).is_none());
    let room = limit.saturating_sub(usize::from(loose)).max(1);
    if picture.groups.len() <= room {
        return Cow::Borrowed(picture);
    }
    let run = picture.groups.len().div_ceil(room);
    let mut fewer = picture.clone();
    for (index, node) in fewer.nodes.iter_mut().enumerate() {
        node.group = picture.group_of(index).map(|group| group / run);
    }
    fewer.groups = picture
        .groups
        .chunks(run)
        .map(|names| match names {
            [first, .., last] => format!("{first} … {last}"),
            names => names.concat(),
        })
        .collect();
    Cow::Owned(fewer)
}

/// Drops phases whose nodes all went into boxes shared with others: they are not empty, and must
/// not be drawn as if they were.
fn without_lost_groups(mut small: Picture, whole: &Picture) -> Picture {
    let (before, after) = (whole.members_by_group(), small.members_by_group());
    let kept: Vec<bool> = before.iter().zip(&after).map(|(had, has)| had.is_empty() || !has.is_empty()).collect();
    for index in 0..small.nodes.len() {
        let group = small.group_of(index).map(|group| kept[..group].iter().filter(|kept| **kept).count());
        small.nodes[index].group = group;
    }
    let mut keep = kept.into_iter();
    small.groups.retain(|_| keep.next().unwrap_or(true));
    small
}

/// Which box each node is in. Boxes are numbered in the order of their first node.
struct Boxes {
    of: Vec<usize>,
    count: usize,
}

impl Boxes {
    fn by_key<K: std::hash::Hash + Eq>(count: usize, key: impl Fn(usize) -> K) -> Self {
        let mut known = HashMap::new();
        let of = (0..count)
            .map(|node| {
                let next = known.len();
                *known.entry(key(node)).or_insert(next)
            })
            .collect();
        Self { of, count: known.len() }
    }
}

fn by_stem(picture: &Picture) -> Boxes {
    Boxes::by_key(picture.nodes.len(), |index| {
        let node = &picture.nodes[index];
        (picture.group_of(index), node.wave, stem(&node.id))
    })
}

/// The id without a trailing number: `shard-07` and `shard-12` have the stem `shard`.
///
/// An id that is nothing but a number keeps an empty stem, so numbers group together.
fn stem(id: &str) -> &str {
    let numbered = id.trim_end_matches([']', ')']);
    if numbered.ends_with(|c: char| c.is_ascii_digit()) {
        numbered.trim_end_matches(|c: char| c.is_ascii_digit() || "-_.:/#[( ".contains(c))
    } else {
        id
    }
}

/// One box per (phase, band), with the narrowest bands that stay within `limit`.
fn by_band(picture: &Picture, limit: usize) -> Boxes {
    let count = picture.nodes.len();
    let mut waves: Vec<u32> = picture.nodes.iter().map(|node| node.wave).collect();
    waves.sort_unstable();
    waves.dedup();
    // Waves are counted among those that occur: a gap in the numbers must not waste a band.
    let ordinal: HashMap<u32, usize> = waves.iter().copied().zip(0..).collect();
    let place = |index: usize| (picture.group_of(index), ordinal[&picture.nodes[index].wave]);

    let mut places: Vec<_> = (0..count).map(place).collect();
    places.sort_unstable();
    places.dedup();
    let boxes_at =
        |band: usize| places.chunk_by(|one, other| one.0 == other.0 && one.1 / band == other.1 / band).count();
    let whole = waves.len().max(1);
    if boxes_at(whole) > limit {
        // More phases than boxes: only the bands are left.
        let band = whole.div_ceil(limit);
        return Boxes::by_key(count, |index| place(index).1 / band);
    }
    let (mut low, mut high) = (1, whole);
    while low < high {
        let middle = low.midpoint(high);
        if boxes_at(middle) <= limit {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    // The count is not strictly monotone in the width, so the found width is checked once more.
    let band = if boxes_at(low) <= limit { low } else { whole };
    Boxes::by_key(count, |index| {
        let (group, wave) = place(index);
        (group, wave / band)
    })
}

/// Joins boxes that reach each other, so that the result has no cycle.
fn joined_cycles(boxes: &Boxes, edges: &[PictureEdge]) -> Boxes {
    let between: Vec<(usize, usize)> =
        edges.iter().map(|edge| (boxes.of[edge.from], boxes.of[edge.to])).filter(|(from, to)| from != to).collect();
    let component = strong_components(boxes.count, &between);
    Boxes::by_key(boxes.of.len(), |node| component[boxes.of[node]])
}

fn merged_nodes(picture: &Picture, boxes: &Boxes) -> Vec<PictureNode> {
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); boxes.count];
    for (node, &at) in boxes.of.iter().enumerate() {
        members[at].push(node);
    }
    members.iter().map(|indices| merged_node(picture, indices)).collect()
}

fn merged_node(picture: &Picture, indices: &[usize]) -> PictureNode {
    let first = &picture.nodes[indices[0]];
    if indices.len() == 1 {
        return first.clone();
    }
    let nodes = || indices.iter().map(|&index| &picture.nodes[index]);
    let last = nodes().next_back().unwrap_or(first);
    let common = stem(&first.id);
    let id = if !common.is_empty() && nodes().all(|node| stem(&node.id) == common) {
        format!("{common}*")
    } else {
        format!("{}…{}", first.id, last.id)
    };
    let same_kind = nodes().all(|node| node.kind == first.kind);
    let group = picture.group_of(indices[0]);
    let same_group = indices.iter().all(|&index| picture.group_of(index) == group);
    let members = nodes().fold(0, |sum: usize, node| sum.saturating_add(node.members.max(1)));
    PictureNode {
        id,
        kind: if same_kind { first.kind.clone() } else { MIXED.to_owned() },
        wave: nodes().map(|node| node.wave).min().unwrap_or(first.wave),
        group: group.filter(|_| same_group),
        state: merged_state(nodes().map(|node| node.state)),
        note: Some(format!("× {members}")),
        members,
    }
}

/// The state that most needs a person's eye; quiet states show only when nothing else is there.
fn merged_state(states: impl Iterator<Item = Option<NodeColour>>) -> Option<NodeColour> {
    const fn urgency(state: NodeColour) -> u8 {
        match state {
            NodeColour::Failed => 8,
            NodeColour::AwaitingApproval => 7,
            NodeColour::Running => 6,
            NodeColour::Ready => 5,
            NodeColour::Cancelled => 4,
            NodeColour::Pending => 3,
            NodeColour::Approved => 2,
            NodeColour::Completed => 1,
            NodeColour::Skipped => 0,
        }
    }
    states.flatten().max_by_key(|&state| urgency(state))
}

/// One edge per (from, to, kind); a label stays only if all merged edges agree on it.
fn merged_edges(edges: &[PictureEdge], boxes: &Boxes) -> Vec<PictureEdge> {
    let mut merged: Vec<PictureEdge> = Vec::new();
    let mut known: HashMap<(usize, usize, EdgeKind), usize> = HashMap::new();
    for edge in edges {
        let (from, to) = (boxes.of[edge.from], boxes.of[edge.to]);
        if from == to {
            continue;
        }
        let at = *known.entry((from, to, edge.when)).or_insert(merged.len());
        match merged.get_mut(at) {
            Some(same) if same.label != edge.label => same.label = None,
            Some(_) => {}
            None => merged.push(PictureEdge { from, to, ..edge.clone() }),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_drop_numbers_and_their_separators_only() {
        for (id, expected) in [
            ("shard-07", "shard"),
            ("shard[3]", "shard"),
            ("a-1-2", "a"),
            ("build", "build"),
            ("v2-test", "v2-test"),
            ("42", ""),
            ("keep-", "keep-"),
        ] {
            assert_eq!(stem(id), expected, "{id}");
        }
    }

    #[test]
    fn a_failure_is_never_hidden_by_a_box() {
        use NodeColour::{Completed, Failed, Running, Skipped};
        let seen = |states: &[Option<NodeColour>]| merged_state(states.iter().copied());
        assert_eq!(seen(&[Some(Completed), Some(Failed), Some(Running)]), Some(Failed));
        assert_eq!(seen(&[Some(Skipped), Some(Completed)]), Some(Completed));
        assert_eq!(seen(&[None, None]), None);
    }
}
