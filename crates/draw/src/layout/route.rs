//! Curves from waypoints.
//!
//! The engine says where an edge passes each row of boxes. The curve runs straight through a row
//! and bends only between rows, so it cannot cut a box, and it meets every box at a right angle.

use super::direction::Direction;
use super::geometry::{Flow, Point, Rect};
use super::layered::{Part, Placed};
use super::path::Path;
use super::plan::{Route, Sketch};
use crate::picture::{EdgeKind, PictureEdge};

/// Space between the ports of different edge kinds on one side of a box.
const PORT_GAP: f64 = 18.0;
/// Ports stay this far from the corners.
const PORT_MARGIN: f64 = 14.0;
/// How much further from straight on success may lead and still keep the middle port.
const SUCCESS_LEAD: f64 = 40.0;
/// A sideways step up to this size is straightened by moving the end.
const JOG: f64 = 12.0;
/// The arrow's tip stops short of the border it points at.
pub(crate) const TIP_GAP: f64 = 2.0;
/// The line ends inside the arrowhead, so that it never shows beside the tip.
pub(crate) const HEAD_INSET: f64 = 6.0;

/// Routes every edge of a part.
pub(crate) fn routes(sketch: &Sketch, part: &Part, placed: &Placed, direction: Direction) -> Vec<Route> {
    let mut position = vec![0; sketch.sizes.len()];
    for (at, &node) in part.nodes.iter().enumerate() {
        position[node] = at;
    }
    let bands = bands(&placed.nodes, direction);
    let ports = Ports::new(sketch, part, placed, &position, direction);
    part.edges
        .iter()
        .enumerate()
        .map(|(at, &index)| {
            let edge = &sketch.edges[index];
            let label = placed.labels[at];
            let source = &placed.nodes[position[edge.from]];
            let target = &placed.nodes[position[edge.to]];
            let middle = middle(&placed.waypoints[at], label, &bands, direction);
            let mut start = Flow { along: direction.extent(source).1, across: ports.leaving(edge.from, edge.when) };
            let tip_along = direction.extent(target).0 - TIP_GAP;
            let mut end = Flow { along: tip_along - HEAD_INSET, across: ports.entering(edge.to, edge.when) };
            straighten(&ports, edge, &middle, &mut start, &mut end);
            let mut points = vec![start];
            points.extend(middle);
            points.push(end);
            let tip = direction.page(Flow { along: tip_along, ..end });
            Route { edge: index, path: curve(&points, direction), tip, heading: direction, label }
        })
        .collect()
}

/// Takes a small step out of an edge by moving one of its ends, if no other edge shares that end.
fn straighten(ports: &Ports, edge: &PictureEdge, middle: &[Flow], start: &mut Flow, end: &mut Flow) {
    let before = middle.last().unwrap_or(start).across;
    if (before - end.across).abs() <= JOG && ports.entering_alone(edge) {
        end.across = before;
    }
    let after = middle.first().unwrap_or(end).across;
    if (after - start.across).abs() <= JOG && ports.leaving_alone(edge) {
        start.across = after;
    }
}

/// The rows of boxes along the flow: (centre, begin, end), in order.
fn bands(nodes: &[Rect], direction: Direction) -> Vec<(f64, f64, f64)> {
    let mut all: Vec<(f64, f64, f64)> = nodes
        .iter()
        .map(|rect| {
            let (begin, end) = direction.extent(rect);
            (begin.midpoint(end), begin, end)
        })
        .collect();
    all.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut bands: Vec<(f64, f64, f64)> = Vec::new();
    for (center, begin, end) in all {
        match bands.last_mut() {
            Some(band) if center - band.0 < 1.0 => {
                band.1 = band.1.min(begin);
                band.2 = band.2.max(end);
            }
            _ => bands.push((center, begin, end)),
        }
    }
    bands
}

/// The bends between both ends. The engine's first and last waypoint lie on the boxes' borders
/// and are replaced by ports.
fn middle(waypoints: &[Point], label: Option<Rect>, bands: &[(f64, f64, f64)], direction: Direction) -> Vec<Flow> {
    let mut passes = Vec::new();
    let inner = waypoints.get(1..waypoints.len().saturating_sub(1)).unwrap_or_default();
    for point in inner {
        let Flow { along, across } = direction.flow(*point);
        let at_label = label.filter(|rect| (direction.flow(rect.center()).along - along).abs() < 1.0);
        let stretch = match at_label {
            // The curve passes straight below its label, which then hides no bend.
            Some(rect) => Some(direction.extent(&rect)),
            None => bands.iter().find(|band| (band.0 - along).abs() < 1.0).map(|band| (band.1, band.2)),
        };
        if let Some((begin, end)) = stretch {
            passes.push(Flow { along: begin, across });
            passes.push(Flow { along: end, across });
        }
    }
    passes
}

/// Where edges touch their boxes. Edges of one kind share a port; the middle one belongs to the
/// kind that leads straight on, usually success, and the others sit on the side they lead to.
struct Ports {
    leaving: Vec<[f64; 4]>,
    entering: Vec<[f64; 4]>,
    /// Per box and kind: how many edges leave, and how many enter.
    shared: Vec<[(u32, u32); 4]>,
}

impl Ports {
    fn new(sketch: &Sketch, part: &Part, placed: &Placed, position: &[usize], direction: Direction) -> Self {
        // Per box and kind: (sum of where its edges head to, how many).
        let mut out = vec![[(0.0_f64, 0.0_f64); 4]; sketch.sizes.len()];
        let mut into = out.clone();
        let mut shared = vec![[(0, 0); 4]; sketch.sizes.len()];
        for (at, &index) in part.edges.iter().enumerate() {
            let edge = &sketch.edges[index];
            let points = &placed.waypoints[at];
            let second = points.get(1).copied();
            let before_last = points.len().checked_sub(2).and_then(|i| points.get(i)).copied();
            let heads_to = |point: Option<Point>, node: usize| {
                let rect = &placed.nodes[position[node]];
                direction.flow(point.unwrap_or_else(|| rect.center())).across
            };
            let leaving = &mut out[edge.from][edge.when as usize];
            leaving.0 += heads_to(second, edge.to);
            leaving.1 += 1.0;
            shared[edge.from][edge.when as usize].0 += 1;
            let entering = &mut into[edge.to][edge.when as usize];
            entering.0 += heads_to(before_last, edge.from);
            entering.1 += 1.0;
            shared[edge.to][edge.when as usize].1 += 1;
        }
        let mut ports =
            Self { leaving: vec![[0.0; 4]; sketch.sizes.len()], entering: vec![[0.0; 4]; sketch.sizes.len()], shared };
        for (&node, rect) in part.nodes.iter().zip(&placed.nodes) {
            let center = direction.flow(rect.center()).across;
            let reach = (direction.breadth(rect) / 2.0 - PORT_MARGIN).max(0.0);
            ports.leaving[node] = spread(out[node], center, reach);
            ports.entering[node] = spread(into[node], center, reach);
        }
        ports
    }

    fn leaving(&self, node: usize, kind: EdgeKind) -> f64 {
        self.leaving[node][kind as usize]
    }

    fn leaving_alone(&self, edge: &PictureEdge) -> bool {
        self.shared[edge.from][edge.when as usize].0 == 1
    }

    fn entering_alone(&self, edge: &PictureEdge) -> bool {
        self.shared[edge.to][edge.when as usize].1 == 1
    }

    fn entering(&self, node: usize, kind: EdgeKind) -> f64 {
        self.entering[node][kind as usize]
    }
}

fn spread(sums: [(f64, f64); 4], center: f64, reach: f64) -> [f64; 4] {
    let mut present: Vec<(usize, f64)> =
        (0..4).filter(|&kind| sums[kind].1 > 0.0).map(|kind| (kind, sums[kind].0 / sums[kind].1)).collect();
    let mut ports = [center; 4];
    if present.len() < 2 {
        return ports;
    }
    present.sort_by(|one, other| one.1.total_cmp(&other.1).then(one.0.cmp(&other.0)));
    // The anchor keeps the middle: the kind that leads most nearly straight on. Success may
    // stray further than the others before it gives the middle up.
    let strays = |&(kind, heads_to): &(usize, f64)| {
        let lead = if kind == EdgeKind::Success as usize { SUCCESS_LEAD } else { 0.0 };
        (heads_to - center).abs() - lead
    };
    let anchor = (0..present.len())
        .min_by(|&one, &other| strays(&present[one]).total_cmp(&strays(&present[other])))
        .unwrap_or(0);
    for (order, (kind, _)) in present.iter().enumerate() {
        #[expect(clippy::cast_precision_loss, reason = "at most three steps")]
        let steps = order as f64 - anchor as f64;
        ports[*kind] = center + (steps * PORT_GAP).clamp(-reach, reach);
    }
    ports
}

/// A smooth path through points: straight where it can be, otherwise an S between two points.
fn curve(points: &[Flow], direction: Direction) -> Path {
    let place = |flow: Flow| direction.page(flow);
    let mut last = points.first().copied().unwrap_or(Flow { along: 0.0, across: 0.0 });
    let mut path = Path::new(place(last));
    for &next in points.iter().skip(1) {
        if (next.across - last.across).abs() < 0.5 {
            path.line_to(place(next));
        } else {
            let half = (next.along - last.along) / 2.0;
            let leave = place(Flow { along: last.along + half, ..last });
            let arrive = place(Flow { along: next.along - half, ..next });
            path.curve_to(leave, arrive, place(next));
        }
        last = next;
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn success_keeps_the_middle_and_failure_sits_on_its_side() {
        let mut sums = [(0.0, 0.0); 4];
        sums[EdgeKind::Success as usize] = (100.0, 1.0);
        sums[EdgeKind::Failure as usize] = (300.0, 1.0);
        let ports = spread(sums, 100.0, 60.0);
        assert!((ports[0] - 100.0).abs() < 0.01 && ports[1] > 100.0);
        sums[EdgeKind::Failure as usize] = (10.0, 1.0);
        assert!(spread(sums, 100.0, 60.0)[1] < 100.0);
    }

    #[test]
    fn a_step_sideways_is_one_smooth_piece() {
        let flow = |along, across| Flow { along, across };
        let bent = curve(&[flow(0.0, 0.0), flow(40.0, 50.0)], Direction::Down);
        assert_eq!(bent.to_string(), "M0.0 0.0C0.0 20.0 50.0 20.0 50.0 40.0");
        let straight = curve(&[flow(0.0, 7.0), flow(40.0, 7.0)], Direction::Right);
        assert_eq!(straight.to_string(), "M0.0 7.0L40.0 7.0");
    }
}
