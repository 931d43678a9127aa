//! Long workflows as lines of text: several rows that each flow to the right.
//!
//! A chain of thirty steps is a ribbon in either direction. It may be cut wherever exactly one
//! edge leads on, and the cut edge returns to the start of the next row like a line break.

use super::direction::{Direction, distance_from_ideal};
use super::geometry::{Point, Rect, Size};
use super::layered::{self, Part};
use super::path::Path;
use super::plan::{Plan, Route, Sketch, bounds, clusters, shift};
use super::route;

/// Below these extents a ribbon is still easy to read, and folding would only cost clarity.
const TALL: f64 = 1000.0;
const WIDE: f64 = 1700.0;
/// How far from the ideal shape both directions must be (a factor of about 3.3).
const RIBBON: f64 = 1.2;
/// Space between rows, in whose middle the returning edge runs.
const ROW_GAP: f64 = 56.0;
/// Space beside the rows for the returning edge.
const TURN: f64 = 28.0;
const CORNER: f64 = 10.0;
const ROWS_MAX: usize = 16;

/// The ranks of each row, as half-open ranges; `None` when the sketch is not worth folding.
pub(crate) fn rows(sketch: &Sketch) -> Option<Vec<std::ops::Range<usize>>> {
    let down = Direction::Down.estimate(&sketch.ranks, &sketch.sizes);
    let right = Direction::Right.estimate(&sketch.ranks, &sketch.sizes);
    let ribbon = distance_from_ideal(down).min(distance_from_ideal(right)) > RIBBON;
    if !ribbon || down.height < TALL || right.width < WIDE {
        return None;
    }
    let cuts = cuts(sketch);
    (2..=ROWS_MAX)
        .filter_map(|count| filled(sketch, &cuts, count))
        .map(|rows| (distance_from_ideal(folded_size(sketch, &rows)), rows))
        // `min_by` keeps the first of equals: fewer rows win.
        .min_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, rows)| rows)
}

/// For each rank, whether a row may end after it: one plain edge leads on, to the next rank.
fn cuts(sketch: &Sketch) -> Vec<bool> {
    let levels = sketch.ranks.iter().max().map_or(0, |deepest| deepest + 1);
    let mut crossing = vec![0_usize; levels];
    let mut plain = vec![true; levels];
    for (edge, label) in sketch.edges.iter().zip(&sketch.labels) {
        let (from, to) = (sketch.ranks[edge.from], sketch.ranks[edge.to]);
        for rank in from.min(to)..from.max(to) {
            crossing[rank] += 1;
            plain[rank] &= label.is_none() && to == from + 1;
        }
    }
    // A phase stays in one row.
    let mut spans: Vec<(usize, usize, usize)> = Vec::new();
    for (group, &rank) in sketch.groups.iter().zip(&sketch.ranks) {
        let Some(group) = *group else { continue };
        match spans.iter_mut().find(|span| span.0 == group) {
            Some(span) => *span = (group, span.1.min(rank), span.2.max(rank)),
            None => spans.push((group, rank, rank)),
        }
    }
    for (_, first, last) in spans {
        plain[first..last].fill(false);
    }
    (0..levels).map(|rank| crossing[rank] == 1 && plain[rank]).collect()
}

/// Fills rows greedily to an even width; `None` when the cuts do not allow `count` rows.
fn filled(sketch: &Sketch, cuts: &[bool], count: usize) -> Option<Vec<std::ops::Range<usize>>> {
    let widths = rank_widths(sketch, cuts.len());
    #[expect(clippy::cast_precision_loss, reason = "a small count")]
    let target = widths.iter().sum::<f64>() / count as f64;
    let mut rows = Vec::with_capacity(count);
    let (mut begin, mut width) = (0, 0.0);
    for (rank, &step) in widths.iter().enumerate() {
        width += step;
        if rank + 1 < cuts.len() && cuts[rank] && width >= target - step / 2.0 {
            rows.push(begin..rank + 1);
            (begin, width) = (rank + 1, 0.0);
        }
    }
    rows.push(begin..cuts.len());
    (rows.len() == count).then_some(rows)
}

fn rank_widths(sketch: &Sketch, levels: usize) -> Vec<f64> {
    let mut widths = vec![0.0_f64; levels];
    for (&rank, size) in sketch.ranks.iter().zip(&sketch.sizes) {
        widths[rank] = widths[rank].max(size.width + Direction::Right.gaps().along);
    }
    widths
}

pub(crate) fn folded_size(sketch: &Sketch, rows: &[std::ops::Range<usize>]) -> Size {
    let mut folded = Size { width: 0.0, height: 0.0 };
    for row in rows {
        let (ranks, sizes): (Vec<usize>, Vec<Size>) = sketch
            .ranks
            .iter()
            .zip(&sketch.sizes)
            .filter(|(rank, _)| row.contains(*rank))
            .map(|(rank, size)| (rank - row.start, *size))
            .unzip();
        let size = Direction::Right.estimate(&ranks, &sizes);
        folded.width = folded.width.max(size.width);
        folded.height += size.height + ROW_GAP;
    }
    folded
}

/// Lays out each row by itself and joins them.
pub(crate) fn plan(sketch: &Sketch, rows: &[std::ops::Range<usize>]) -> Plan {
    let nothing = Rect { x: 0.0, y: 0.0, width: 0.0, height: 0.0 };
    let mut nodes = vec![nothing; sketch.sizes.len()];
    let (mut routes, mut frames) = (Vec::new(), Vec::new());
    let mut row_bounds: Vec<Rect> = Vec::with_capacity(rows.len());
    let row_of = |node: usize| rows.iter().position(|row| row.contains(&sketch.ranks[node]));
    let mut top = 0.0;
    for (at, _) in rows.iter().enumerate() {
        let inside = |node: usize| row_of(node) == Some(at);
        let part = Part {
            nodes: (0..sketch.sizes.len()).filter(|&node| inside(node)).collect(),
            edges: (0..sketch.edges.len())
                .filter(|&edge| inside(sketch.edges[edge].from) && inside(sketch.edges[edge].to))
                .collect(),
        };
        let mut placed = layered::place(sketch, &part, Direction::Right);
        let area = bounds(&placed);
        shift(&mut placed, TURN - area.x, top - area.y);
        routes.extend(route::routes(sketch, &part, &placed, Direction::Right));
        for (&node, rect) in part.nodes.iter().zip(&placed.nodes) {
            nodes[node] = *rect;
        }
        frames.extend(placed.frames);
        row_bounds.push(Rect { x: TURN, y: top, ..area });
        top += area.height + ROW_GAP;
    }
    for (index, edge) in sketch.edges.iter().enumerate() {
        if let (Some(from), Some(to)) = (row_of(edge.from), row_of(edge.to))
            && from != to
        {
            let path = line_break(&nodes[edge.from], &nodes[edge.to], &row_bounds[from]);
            let target = &nodes[edge.to];
            let tip = Point { x: target.x - route::TIP_GAP, y: target.center().y };
            let heading = Direction::Right;
            routes.push(Route { edge: index, path, tip, heading, label: None });
        }
    }
    let width = row_bounds.iter().map(Rect::right).fold(0.0, f64::max) + TURN;
    Plan { size: Size { width, height: top - ROW_GAP }, nodes, routes, clusters: clusters(frames), links: Vec::new() }
}

/// Out to the right, back below the row, and into the next row from the left.
fn line_break(source: &Rect, target: &Rect, row: &Rect) -> Path {
    let (from, to) = (source.center(), target.center());
    let turn = row.right() + TURN / 2.0;
    let gutter = row.bottom() + ROW_GAP / 2.0;
    let back = TURN / 2.0 - CORNER / 2.0;
    let corners = [(turn, from.y), (turn, gutter), (back, gutter), (back, to.y)].map(|(x, y)| Point { x, y });
    let end = Point { x: target.x - route::TIP_GAP - route::HEAD_INSET, y: to.y };
    Path::rounded(Point { x: source.right(), y: from.y }, &corners, end, CORNER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::{EdgeKind, PictureEdge};

    fn chain(length: usize) -> Sketch {
        let when = EdgeKind::Success;
        Sketch {
            sizes: vec![Size { width: 170.0, height: 48.0 }; length],
            groups: vec![None; length],
            edges: (1..length).map(|to| PictureEdge { from: to - 1, to, when, label: None }).collect(),
            labels: vec![None; length - 1],
            ranks: (0..length).collect(),
            phases: vec![],
        }
    }

    #[test]
    fn a_long_chain_becomes_rows_near_the_ideal_shape() {
        let sketch = chain(30);
        let rows = rows(&sketch).expect("a ribbon is folded");
        assert!(rows.len() > 2);
        assert_eq!(rows.iter().map(ExactSizeIterator::len).sum::<usize>(), 30);
        let size = plan(&sketch, &rows).size;
        let aspect = size.width / size.height;
        assert!((1.0..3.0).contains(&aspect), "{aspect}");
    }

    #[test]
    fn a_short_chain_stays_whole() {
        assert!(rows(&chain(8)).is_none());
    }

    #[test]
    fn a_phase_is_not_cut() {
        let mut sketch = chain(30);
        sketch.groups = vec![Some(0); 30];
        assert!(rows(&sketch).is_none());
    }
}
