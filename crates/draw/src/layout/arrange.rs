//! Frames in order: below each other, beside each other, or in rows like the words of a text.

use std::ops::Range;

use super::geometry::{Point, Rect, Size};
use super::path::Path;
use super::plan::Link;
use super::{Direction, direction::ASPECT};

/// Space between two frames, with the arrow that joins them in it.
const GAP: f64 = 38.0;
/// What stays free at either end of the arrow.
const AIR: f64 = 7.0;
const CORNER: f64 = 8.0;
/// Space between rows, where the arrow runs back to the left.
const ROW_GAP: f64 = 50.0;
/// The height of a screen; what fits is not broken into rows.
const SCREEN: f64 = 900.0;
/// Down is what people expect; the other ways have to show the picture this much larger.
const COST_OF_ROW: f64 = 1.15;
const COST_OF_ROWS: f64 = 1.3;
/// A row filled to this part is widened to the full width; a shorter one would look swollen.
const FULL: f64 = 0.7;

/// Frames at their places; the upper left corner is (0, 0).
#[derive(Debug)]
pub(crate) struct Arranged {
    pub(crate) frames: Vec<Rect>,
    pub(crate) size: Size,
    /// Which frames stand in each row.
    rows: Vec<Range<usize>>,
}

/// How badly the best arrangement of these frames fits a screen; 1 just fits.
pub(crate) fn cost(sizes: &[Size]) -> f64 {
    best(sizes).0
}

/// The best arrangement of frames of at least these sizes.
pub(crate) fn arrange(sizes: &[Size]) -> Arranged {
    let rows = best(sizes).1;
    let widths: Vec<f64> = rows.iter().map(|row| row_size(&sizes[row.clone()]).width).collect();
    let width = widths.iter().copied().fold(0.0, f64::max);
    let column = rows.len() == sizes.len();
    let mut frames = Vec::with_capacity(sizes.len());
    let mut top = 0.0;
    let below = gap_below(column);
    for (row, &natural) in rows.iter().zip(&widths) {
        let inside = &sizes[row.clone()];
        let spare = if column || natural >= FULL * width { width - natural } else { 0.0 };
        let extra = spare / count(inside.len().max(1));
        let height = row_size(inside).height;
        let mut left = 0.0;
        for size in inside {
            let frame = Rect { x: left, y: top, width: size.width + extra, height };
            left = frame.right() + GAP;
            frames.push(frame);
        }
        top += height + below;
    }
    Arranged { frames, size: Size { width, height: (top - below).max(0.0) }, rows }
}

impl Arranged {
    /// The arrow from a frame to the next.
    pub(crate) fn link(&self, from: usize) -> Option<Link> {
        let (one, next) = (self.frames.get(from)?, self.frames.get(from + 1)?);
        let (start, end) = (one.center(), next.center());
        if self.rows.iter().any(|row| row.contains(&from) && row.contains(&(from + 1))) {
            let mut path = Path::new(Point { x: one.right() + AIR, y: start.y });
            let tip = Point { x: next.x - AIR, y: start.y };
            path.line_to(tip);
            return Some(Link { path, tip, heading: Direction::Right });
        }
        let begin = Point { x: start.x, y: one.bottom() + AIR };
        let tip = Point { x: end.x, y: next.y - AIR };
        let middle = one.bottom().midpoint(next.y);
        let straight = (begin.x - tip.x).abs() < 1.0;
        let corners = [Point { x: begin.x, y: middle }, Point { x: tip.x, y: middle }];
        let path = Path::rounded(begin, if straight { &[] } else { &corners }, tip, CORNER);
        Some(Link { path, tip, heading: Direction::Down })
    }
}

fn best(sizes: &[Size]) -> (f64, Vec<Range<usize>>) {
    let all = sizes.len();
    let weighed = |rows: Vec<Range<usize>>, factor: f64| (factor * fit(sizes, &rows), rows);
    let column = weighed((0..all).map(|at| at..at + 1).collect(), 1.0);
    let row = weighed(std::iter::once(0..all).collect(), COST_OF_ROW);
    let plain = if row.0 < column.0 { row } else { column };
    if plain.0 <= 1.0 {
        return plain;
    }
    (2..all)
        .map(|rows| weighed(filled(sizes, rows), COST_OF_ROWS))
        // `fold` with `<` keeps the first of equals: fewer rows win.
        .fold(plain, |best, next| if next.0 < best.0 { next } else { best })
}

/// How far a picture has to be reduced to fit a screen.
fn fit(sizes: &[Size], rows: &[Range<usize>]) -> f64 {
    let below = gap_below(rows.len() == sizes.len());
    let (mut width, mut height) = (0.0_f64, 0.0);
    for row in rows {
        let size = row_size(&sizes[row.clone()]);
        width = width.max(size.width);
        height += size.height + below;
    }
    (width / ASPECT).max(height - below) / SCREEN
}

const fn gap_below(column: bool) -> f64 {
    if column { GAP } else { ROW_GAP }
}

fn row_size(row: &[Size]) -> Size {
    let width = row.iter().map(|size| size.width + GAP).sum::<f64>() - GAP;
    Size { width, height: row.iter().map(|size| size.height).fold(0.0, f64::max) }
}

/// About `rows` rows of an even width, filled in order.
fn filled(sizes: &[Size], rows: usize) -> Vec<Range<usize>> {
    let target = sizes.iter().map(|size| size.width + GAP).sum::<f64>() / count(rows.max(1));
    let mut filled = Vec::with_capacity(rows);
    let (mut begin, mut width) = (0, 0.0);
    for (at, size) in sizes.iter().enumerate() {
        let step = size.width + GAP;
        if at > begin && width + step / 2.0 > target {
            filled.push(begin..at);
            (begin, width) = (at, 0.0);
        }
        width += step;
    }
    filled.push(begin..sizes.len());
    filled
}

#[expect(clippy::cast_precision_loss, reason = "a small count")]
fn count(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(count: usize, width: f64, height: f64) -> Arranged {
        arrange(&vec![Size { width, height }; count])
    }

    #[test]
    fn flat_frames_are_stacked_and_equally_wide() {
        let arranged = arrange(&[Size { width: 400.0, height: 110.0 }, Size { width: 200.0, height: 90.0 }]);
        assert_eq!(arranged.frames[0].x.total_cmp(&arranged.frames[1].x), std::cmp::Ordering::Equal);
        assert!((arranged.frames[0].width - arranged.frames[1].width).abs() < 0.01);
        assert!((arranged.frames[1].y - arranged.frames[0].bottom() - GAP).abs() < 0.01);
        assert_eq!(arranged.link(0).map(|link| link.heading), Some(Direction::Down));
        assert!(arranged.link(1).is_none());
    }

    #[test]
    fn tall_frames_stand_beside_each_other() {
        let arranged = frames(3, 200.0, 600.0);
        assert!(arranged.frames.windows(2).all(|pair| (pair[1].x - pair[0].right() - GAP).abs() < 0.01));
        assert_eq!(arranged.link(1).map(|link| link.heading), Some(Direction::Right));
    }

    #[test]
    fn many_frames_are_broken_into_rows_in_order() {
        let arranged = frames(24, 220.0, 110.0);
        assert!((3..12).contains(&arranged.rows.len()), "{:?}", arranged.rows);
        let aspect = arranged.size.width / arranged.size.height;
        assert!((0.9..3.2).contains(&aspect), "{aspect}");
        for pair in arranged.frames.windows(2) {
            assert!(pair[1].y > pair[0].bottom() || pair[1].x > pair[0].right(), "{pair:?}");
        }
        let turn = arranged.rows[0].end - 1;
        assert_eq!(arranged.link(turn).map(|link| link.heading), Some(Direction::Down));
    }

    #[test]
    fn nothing_and_one_frame_are_arranged_too() {
        assert!(frames(0, 1.0, 1.0).frames.is_empty());
        assert_eq!(frames(1, 100.0, 50.0).size, Size { width: 100.0, height: 50.0 });
    }
}
