//! Points and rectangles, and the two axes of a layout.

use super::Direction;

/// A width and a height.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Size {
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// A place on the page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
}

/// A box, by its upper left corner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rect {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Point {
    pub(crate) fn moved(self, dx: f64, dy: f64) -> Self {
        Self { x: self.x + dx, y: self.y + dy }
    }
}

impl Rect {
    pub(crate) fn around(center: Point, size: Size) -> Self {
        Self { x: center.x - size.width / 2.0, y: center.y - size.height / 2.0, width: size.width, height: size.height }
    }

    pub(crate) fn right(&self) -> f64 {
        self.x + self.width
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.y + self.height
    }

    pub(crate) fn center(&self) -> Point {
        Point { x: self.x + self.width / 2.0, y: self.y + self.height / 2.0 }
    }

    pub(crate) fn moved(self, dx: f64, dy: f64) -> Self {
        Self { x: self.x + dx, y: self.y + dy, ..self }
    }

    /// Whether the two share any area, a pixel of tolerance apart.
    pub(crate) fn touches(&self, other: &Self) -> bool {
        self.x < other.right() + 1.0
            && other.x < self.right() + 1.0
            && self.y < other.bottom() + 1.0
            && other.y < self.bottom() + 1.0
    }

    /// The smallest rectangle that holds both.
    pub(crate) fn joined(self, other: Self) -> Self {
        let (x, y) = (self.x.min(other.x), self.y.min(other.y));
        Self { x, y, width: self.right().max(other.right()) - x, height: self.bottom().max(other.bottom()) - y }
    }
}

/// A point in flow coordinates, so that routing is written once for both directions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Flow {
    /// Along the flow: down, or to the right.
    pub(crate) along: f64,
    /// Across it.
    pub(crate) across: f64,
}

impl Direction {
    pub(crate) fn flow(self, point: Point) -> Flow {
        match self {
            Self::Down => Flow { along: point.y, across: point.x },
            Self::Right => Flow { along: point.x, across: point.y },
        }
    }

    pub(crate) fn page(self, flow: Flow) -> Point {
        match self {
            Self::Down => Point { x: flow.across, y: flow.along },
            Self::Right => Point { x: flow.along, y: flow.across },
        }
    }

    /// A box on the other side of the flow's axis.
    pub(crate) fn mirrored(self, rect: &Rect) -> Rect {
        match self {
            Self::Down => Rect { x: -rect.right(), ..*rect },
            Self::Right => Rect { y: -rect.bottom(), ..*rect },
        }
    }

    /// Where a box begins and ends along the flow.
    pub(crate) fn extent(self, rect: &Rect) -> (f64, f64) {
        match self {
            Self::Down => (rect.y, rect.bottom()),
            Self::Right => (rect.x, rect.right()),
        }
    }

    /// How much of a box faces the flow.
    pub(crate) fn breadth(self, rect: &Rect) -> f64 {
        match self {
            Self::Down => rect.width,
            Self::Right => rect.height,
        }
    }
}
