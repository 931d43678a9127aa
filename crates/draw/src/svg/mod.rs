//! SVG: one self-contained file without script, fonts or references.

mod boxes;
mod glyph;
mod page;
mod render;
mod style;

pub use render::{SVG_NODE_LIMIT, svg};
