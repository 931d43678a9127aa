//! The whole layout of a picture: direction, rows, routes and the page size.

use super::direction::Direction;
use super::fold;
use super::geometry::{Point, Rect, Size};
use super::layered::{self, Part, Placed};
use super::path::Path;
use super::{route, sequence};
use crate::picture::PictureEdge;

/// What the layout needs to know of a picture.
#[derive(Debug, Clone)]
pub(crate) struct Sketch {
    /// Size of each box.
    pub(crate) sizes: Vec<Size>,
    /// Phase of each box.
    pub(crate) groups: Vec<Option<usize>>,
    /// In range, without self loops and repetitions.
    pub(crate) edges: Vec<PictureEdge>,
    /// Size of each edge's label.
    pub(crate) labels: Vec<Option<Size>>,
    /// Longest-path rank of each box.
    pub(crate) ranks: Vec<usize>,
    /// The least room inside each phase's frame, for its name and what it says when empty.
    pub(crate) phases: Vec<Size>,
}

/// The finished layout; its upper left corner is (0, 0).
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) size: Size,
    pub(crate) nodes: Vec<Rect>,
    pub(crate) routes: Vec<Route>,
    pub(crate) clusters: Vec<Cluster>,
    pub(crate) links: Vec<Link>,
}

/// One edge's curve.
#[derive(Debug, Clone)]
pub(crate) struct Route {
    /// Position in [`Sketch::edges`].
    pub(crate) edge: usize,
    pub(crate) path: Path,
    /// Where the arrow points.
    pub(crate) tip: Point,
    /// Which way the arrow points.
    pub(crate) heading: Direction,
    /// Where its label goes.
    pub(crate) label: Option<Rect>,
}

/// One phase's frame.
#[derive(Debug, Clone)]
pub(crate) struct Cluster {
    pub(crate) group: usize,
    pub(crate) frame: Rect,
    /// Whether it has no boxes.
    pub(crate) empty: bool,
}

/// The arrow from one phase's frame to the next.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    pub(crate) path: Path,
    pub(crate) tip: Point,
    pub(crate) heading: Direction,
}

impl Plan {
    pub(crate) fn shift(&mut self, dx: f64, dy: f64) {
        let frames = self.clusters.iter_mut().map(|cluster| &mut cluster.frame);
        for rect in self.nodes.iter_mut().chain(frames) {
            *rect = rect.moved(dx, dy);
        }
        for route in &mut self.routes {
            route.path.shift(dx, dy);
            route.tip = route.tip.moved(dx, dy);
            route.label = route.label.map(|rect| rect.moved(dx, dy));
        }
        for link in &mut self.links {
            link.path.shift(dx, dy);
            link.tip = link.tip.moved(dx, dy);
        }
    }
}

/// Lays a sketch out. Total: any sketch that keeps its field invariants has a plan.
pub(crate) fn plan(sketch: &Sketch) -> Plan {
    sequence::plan(sketch).unwrap_or_else(|| flat(sketch, None))
}

/// Lays out all boxes together, in the given direction or the better one.
pub(crate) fn flat(sketch: &Sketch, flow: Option<Direction>) -> Plan {
    if let Some(rows) = fold::rows(sketch) {
        return fold::plan(&in_columns(sketch), &rows);
    }
    let direction = flow.unwrap_or_else(|| Direction::choose(&sketch.ranks, &sketch.sizes));
    match direction {
        Direction::Down => whole(sketch, direction),
        Direction::Right => whole(&in_columns(sketch), direction),
    }
}

/// Boxes that stand in a column are equally wide: ragged edges look like an accident.
pub(crate) fn in_columns(sketch: &Sketch) -> Sketch {
    let levels = sketch.ranks.iter().max().map_or(0, |deepest| deepest + 1);
    let mut widest = vec![0.0_f64; levels];
    for (&rank, size) in sketch.ranks.iter().zip(&sketch.sizes) {
        widest[rank] = widest[rank].max(size.width);
    }
    let mut even = sketch.clone();
    for (rank, size) in even.ranks.iter().zip(&mut even.sizes) {
        size.width = widest[*rank];
    }
    even
}

fn whole(sketch: &Sketch, direction: Direction) -> Plan {
    let part = Part { nodes: (0..sketch.sizes.len()).collect(), edges: (0..sketch.edges.len()).collect() };
    let mut placed = layered::place(sketch, &part, direction);
    let bounds = bounds(&placed);
    shift(&mut placed, -bounds.x, -bounds.y);
    let routes = route::routes(sketch, &part, &placed, direction);
    Plan {
        size: Size { width: bounds.width, height: bounds.height },
        nodes: placed.nodes,
        routes,
        clusters: clusters(placed.frames),
        links: Vec::new(),
    }
}

pub(crate) fn clusters(frames: Vec<(usize, Rect)>) -> Vec<Cluster> {
    frames.into_iter().map(|(group, frame)| Cluster { group, frame, empty: false }).collect()
}

/// Everything the part covers: boxes, frames, labels and the bends of its edges.
pub(crate) fn bounds(placed: &Placed) -> Rect {
    let frames = placed.frames.iter().map(|(_, frame)| *frame);
    let labels = placed.labels.iter().flatten().copied();
    let bends = placed.waypoints.iter().flatten().map(|&Point { x, y }| Rect { x, y, width: 0.0, height: 0.0 });
    placed.nodes.iter().copied().chain(frames).chain(labels).chain(bends).reduce(Rect::joined).unwrap_or(Rect {
        x: 0.0,
        y: 0.0,
        width: 0.0,
        height: 0.0,
    })
}

pub(crate) fn shift(placed: &mut Placed, dx: f64, dy: f64) {
    let frames = placed.frames.iter_mut().map(|(_, frame)| frame);
    for rect in placed.nodes.iter_mut().chain(placed.labels.iter_mut().flatten()).chain(frames) {
        *rect = rect.moved(dx, dy);
    }
    for point in placed.waypoints.iter_mut().flatten() {
        *point = point.moved(dx, dy);
    }
}
