//! The graph of a workflow: dense indices, edges in compressed rows, waves, cycles, reachability.
//!
//! Nodes are numbered in the order (phase, id), so that an index compares as the canonical order does and the order of
//! the file never shows.

mod build;
mod cycle;
mod dense;
mod reach;
#[cfg(test)]
mod tests;

pub use build::{Builder, NewEdge};
pub use cycle::Cycle;
pub use dense::{EdgeIndex, EdgeRow, Graph, NodeIndex};
pub use reach::{Ancestry, Reach};
