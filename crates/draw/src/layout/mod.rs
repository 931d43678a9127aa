//! Where things go: sizes in, rectangles and curves out. Knows nothing of SVG.

mod arrange;
mod direction;
mod fold;
mod geometry;
mod layered;
mod path;
mod plan;
mod route;
mod sequence;

pub(crate) use direction::Direction;
pub(crate) use geometry::{Rect, Size};
pub(crate) use plan::{Cluster, Link, Plan, Route, Sketch, plan};
