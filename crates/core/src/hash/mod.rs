//! Canonical hashes of nodes and graphs.
//!
//! The order of keys, nodes and edges does not matter; anything that changes behaviour does. Hashes are compared with
//! ones stored by earlier releases, so what goes in is written down here and held by locked vectors in the tests: an
//! absent key is left out, which lets the format grow without touching the hashes of files that do not use the growth.

mod canonical;
mod definition;
mod digest;

pub(crate) use definition::{copies, copy, graph, nodes};
pub use digest::Digest;
