//! Where things go: sizes in, rectangles and curves out. Knows nothing of SVG.

mod direction;
mod fold;
mod geometry;
mod layered;
mod plan;
mod route;

pub(crate) use direction::Direction;
pub(crate) use geometry::{Rect, Size};
pub(crate) use plan::{Plan, Route, Sketch, plan};
