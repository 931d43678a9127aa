//! Lines and curves on the page, which can still be moved.

use std::fmt;

use super::geometry::Point;

/// A connected line; shown as the `d` of an SVG path.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Path {
    start: Point,
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Piece {
    Line(Point),
    /// A corner: the point it cuts off, and its end.
    Corner(Point, Point),
    /// Two control points and the end.
    Curve(Point, Point, Point),
}

impl Path {
    pub(crate) const fn new(start: Point) -> Self {
        Self { start, pieces: Vec::new() }
    }

    /// Straight lines through points, with rounded corners where there is room for them.
    pub(crate) fn rounded(start: Point, through: &[Point], end: Point, radius: f64) -> Self {
        let mut path = Self::new(start);
        let mut last = start;
        for (at, &corner) in through.iter().enumerate() {
            let next = through.get(at + 1).copied().unwrap_or(end);
            path.line_to(towards(corner, last, radius));
            path.pieces.push(Piece::Corner(corner, towards(corner, next, radius)));
            last = corner;
        }
        path.line_to(end);
        path
    }

    pub(crate) fn line_to(&mut self, end: Point) {
        self.pieces.push(Piece::Line(end));
    }

    pub(crate) fn curve_to(&mut self, leave: Point, arrive: Point, end: Point) {
        self.pieces.push(Piece::Curve(leave, arrive, end));
    }

    pub(crate) fn shift(&mut self, dx: f64, dy: f64) {
        self.start = self.start.moved(dx, dy);
        for piece in &mut self.pieces {
            *piece = match *piece {
                Piece::Line(end) => Piece::Line(end.moved(dx, dy)),
                Piece::Corner(cut, end) => Piece::Corner(cut.moved(dx, dy), end.moved(dx, dy)),
                Piece::Curve(leave, arrive, end) => {
                    Piece::Curve(leave.moved(dx, dy), arrive.moved(dx, dy), end.moved(dx, dy))
                }
            };
        }
    }
}

/// The point `distance` from `from` on the way to `to`, at most half way.
fn towards(from: Point, to: Point, distance: f64) -> Point {
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    let length = dx.hypot(dy);
    let part = if length > 0.0 { (distance / length).min(0.5) } else { 0.0 };
    from.moved(dx * part, dy * part)
}

impl fmt::Display for Path {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "M{:.1} {:.1}", self.start.x, self.start.y)?;
        for piece in &self.pieces {
            match piece {
                Piece::Line(end) => write!(out, "L{:.1} {:.1}", end.x, end.y)?,
                Piece::Corner(cut, end) => write!(out, "Q{:.1} {:.1} {:.1} {:.1}", cut.x, cut.y, end.x, end.y)?,
                Piece::Curve(leave, arrive, end) => write!(
                    out,
                    "C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}",
                    leave.x, leave.y, arrive.x, arrive.y, end.x, end.y
                )?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(x: f64, y: f64) -> Point {
        Point { x, y }
    }

    #[test]
    fn corners_are_rounded_as_far_as_there_is_room() {
        let path = Path::rounded(at(0.0, 0.0), &[at(50.0, 0.0), at(50.0, 12.0)], at(90.0, 12.0), 10.0);
        assert_eq!(path.to_string(), "M0.0 0.0L40.0 0.0Q50.0 0.0 50.0 6.0L50.0 6.0Q50.0 12.0 60.0 12.0L90.0 12.0");
    }

    #[test]
    fn every_kind_of_piece_moves() {
        let mut path = Path::rounded(at(0.0, 0.0), &[at(8.0, 0.0)], at(8.0, 8.0), 2.0);
        path.curve_to(at(8.0, 9.0), at(9.0, 9.0), at(9.0, 10.0));
        path.shift(1.0, 2.0);
        assert_eq!(path.to_string(), "M1.0 2.0L7.0 2.0Q9.0 2.0 9.0 4.0L9.0 10.0C9.0 11.0 10.0 11.0 10.0 12.0");
    }
}
