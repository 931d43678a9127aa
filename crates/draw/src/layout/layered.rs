//! One call to the layered layout engine, and its answer in our terms.

use std::collections::BTreeMap;

use dagre::graph::{Graph, GraphOptions};
use dagre::layout::types::LabelPos;
use dagre::{EdgeLabel, LayoutOptions, NodeLabel, RankDir};

use super::direction::Direction;
use super::geometry::{Flow, Point, Rect};
use super::plan::Sketch;
use crate::picture::EdgeKind;

/// A part of a sketch to lay out: positions of its nodes and edges in the sketch.
#[derive(Debug, Clone, Default)]
pub(crate) struct Part {
    pub(crate) nodes: Vec<usize>,
    pub(crate) edges: Vec<usize>,
}

/// Where the engine put a part. Lists run parallel to the part's.
#[derive(Debug, Clone)]
pub(crate) struct Placed {
    pub(crate) nodes: Vec<Rect>,
    pub(crate) waypoints: Vec<Vec<Point>>,
    pub(crate) labels: Vec<Option<Rect>>,
    /// (phase, its frame).
    pub(crate) frames: Vec<(usize, Rect)>,
}

/// Room for the title of a phase above its first box.
pub(crate) const FRAME_TITLE: f64 = 20.0;
pub(crate) const FRAME_PADDING: f64 = 14.0;

/// Lays out a part. Edges of the part must have both ends in it, and differ in (from, to, kind).
///
/// Phases are first left to chance: in most workflows they follow each other, and a layout that
/// ignores them is tighter. Only if their frames then collide is the engine told to keep them
/// apart.
pub(crate) fn place(sketch: &Sketch, part: &Part, direction: Direction) -> Placed {
    let phased = part.nodes.iter().any(|&node| sketch.groups[node].is_some());
    let loose = lay_out(sketch, part, direction, phased, false);
    if phased && frames_collide(sketch, part, &loose) {
        return lay_out(sketch, part, direction, phased, true);
    }
    loose
}

/// Whether a frame touches another one or holds a box that is not its own.
fn frames_collide(sketch: &Sketch, part: &Part, placed: &Placed) -> bool {
    placed.frames.iter().enumerate().any(|(at, (group, frame))| {
        let others = placed.frames[at + 1..].iter().map(|(_, other)| other);
        let strangers = part
            .nodes
            .iter()
            .zip(&placed.nodes)
            .filter(|(node, _)| sketch.groups[**node] != Some(*group))
            .map(|(_, rect)| rect);
        others.chain(strangers).any(|rect| frame.touches(rect))
    })
}

fn lay_out(sketch: &Sketch, part: &Part, direction: Direction, phased: bool, compound: bool) -> Placed {
    let mut graph: Graph<NodeLabel, EdgeLabel> =
        Graph::with_options(GraphOptions { directed: true, multigraph: true, compound });
    add_nodes(&mut graph, sketch, part, compound);
    add_edges(&mut graph, sketch, part, compound);
    dagre::layout(&mut graph, Some(options(sketch, part, direction, phased)));

    let mut nodes: Vec<Rect> = part
        .nodes
        .iter()
        .map(|&node| {
            let at = graph.node(&node_key(node)).and_then(|n| Some(Point { x: n.x?, y: n.y? }));
            Rect::around(at.unwrap_or(Point { x: 0.0, y: 0.0 }), sketch.sizes[node])
        })
        .collect();
    let mut waypoints = Vec::with_capacity(part.edges.len());
    let mut labels = Vec::with_capacity(part.edges.len());
    for &index in &part.edges {
        let edge = &sketch.edges[index];
        let found = graph.edge(&node_key(edge.from), &node_key(edge.to), Some(edge.when.word()));
        waypoints.push(found.map_or_else(Vec::new, |label| {
            label.points.iter().map(|point| Point { x: point.x, y: point.y }).collect()
        }));
        labels.push(sketch.labels[index].and_then(|size| {
            let label = found?;
            Some(Rect::around(Point { x: label.x?, y: label.y? }, size))
        }));
    }
    if runs_backwards(sketch, part, &nodes, direction) {
        let mirrored = |rect: &mut Rect| *rect = direction.mirrored(rect);
        nodes.iter_mut().for_each(mirrored);
        labels.iter_mut().flatten().for_each(mirrored);
        for point in waypoints.iter_mut().flatten() {
            let flow = direction.flow(*point);
            *point = direction.page(Flow { across: -flow.across, ..flow });
        }
    }
    let frames = frames(sketch, part, &nodes);
    Placed { nodes, waypoints, labels, frames }
}

/// Whether siblings mostly stand in the reverse of the order in which the workflow lists them.
///
/// The engine only counts crossings, and a mirrored layout has the same number.
fn runs_backwards(sketch: &Sketch, part: &Part, nodes: &[Rect], direction: Direction) -> bool {
    let mut last_of_rank: BTreeMap<usize, f64> = BTreeMap::new();
    let (mut forwards, mut backwards) = (0_usize, 0_usize);
    for (&node, rect) in part.nodes.iter().zip(nodes) {
        let across = direction.flow(rect.center()).across;
        if let Some(last) = last_of_rank.insert(sketch.ranks[node], across) {
            if across < last {
                backwards += 1;
            } else {
                forwards += 1;
            }
        }
    }
    backwards > forwards
}

fn add_nodes(graph: &mut Graph<NodeLabel, EdgeLabel>, sketch: &Sketch, part: &Part, compound: bool) {
    for &node in &part.nodes {
        let size = sketch.sizes[node];
        let label = NodeLabel { width: size.width, height: size.height, ..NodeLabel::default() };
        graph.set_node(node_key(node), Some(label));
    }
    if !compound {
        return;
    }
    for &node in &part.nodes {
        let Some(group) = sketch.groups[node] else {
            continue;
        };
        let parent = format!("g{group}");
        if !graph.has_node(&parent) {
            graph.set_node(parent.clone(), Some(NodeLabel::default()));
        }
        graph.set_parent(&node_key(node), Some(&parent));
    }
}

fn add_edges(graph: &mut Graph<NodeLabel, EdgeLabel>, sketch: &Sketch, part: &Part, compound: bool) {
    for &index in &part.edges {
        let edge = &sketch.edges[index];
        let (width, height) = sketch.labels[index].map_or((0.0, 0.0), |s| (s.width, s.height));
        // The way of success is the one that should run straight.
        let weight = if edge.when == EdgeKind::Success { 4 } else { 1 };
        // Between two phases there must be room for both frames; nested phases bring their own.
        let leaves_phase = sketch.groups[edge.from] != sketch.groups[edge.to];
        let minlen = if leaves_phase && !compound { 2 } else { 1 };
        let label = EdgeLabel { minlen, width, height, weight, labelpos: LabelPos::Center, ..EdgeLabel::default() };
        let (from, to) = (node_key(edge.from), node_key(edge.to));
        graph.set_edge(from, to, Some(label), Some(edge.when.word()));
    }
}

fn options(sketch: &Sketch, part: &Part, direction: Direction, phased: bool) -> LayoutOptions {
    let gaps = direction.gaps();
    // Beside a phase there must be room for its frame.
    let extra = if phased { FRAME_PADDING } else { 0.0 };
    LayoutOptions {
        rankdir: match direction {
            Direction::Down => RankDir::TB,
            Direction::Right => RankDir::LR,
        },
        nodesep: gaps.across + extra,
        ranksep: gaps.along + fan_room(sketch, part, direction),
        edgesep: 16.0,
        ..LayoutOptions::default()
    }
}

/// Many boxes in one row or column: the edges to its ends are steep without some more room.
fn fan_room(sketch: &Sketch, part: &Part, direction: Direction) -> f64 {
    let mut crowd = BTreeMap::<usize, f64>::new();
    for &node in &part.nodes {
        let size = sketch.sizes[node];
        let broad = match direction {
            Direction::Down => size.width / 4.0,
            Direction::Right => size.height,
        };
        *crowd.entry(sketch.ranks[node]).or_default() += broad;
    }
    let widest = crowd.values().copied().fold(0.0, f64::max);
    ((widest - 200.0) / 12.0).clamp(0.0, 64.0)
}

/// Frames are drawn around the boxes rather than taken from the engine, whose borders have no
/// padding across the flow and too much along it.
fn frames(sketch: &Sketch, part: &Part, nodes: &[Rect]) -> Vec<(usize, Rect)> {
    let mut frames: Vec<(usize, Rect)> = Vec::new();
    for (&node, rect) in part.nodes.iter().zip(nodes) {
        let Some(group) = sketch.groups[node] else {
            continue;
        };
        match frames.iter_mut().find(|(known, _)| *known == group) {
            Some((_, frame)) => *frame = frame.joined(*rect),
            None => frames.push((group, *rect)),
        }
    }
    frames.sort_unstable_by_key(|(group, _)| *group);
    for (_, frame) in &mut frames {
        *frame = Rect {
            x: frame.x - FRAME_PADDING,
            y: frame.y - FRAME_PADDING - FRAME_TITLE,
            width: frame.width + 2.0 * FRAME_PADDING,
            height: frame.height + 2.0 * FRAME_PADDING + FRAME_TITLE,
        };
    }
    frames
}

fn node_key(node: usize) -> String {
    format!("n{node}")
}
