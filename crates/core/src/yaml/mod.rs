//! YAML and JSON as a tree that remembers where everything stands.
//!
//! A file is read once, into a [`Tree`] with byte spans. The typed model is read from that tree through serde
//! ([`typed`]); an error names the spot, so the same types serve the fast path and the report of every problem. See
//! `docs/design/002-one-tree.md` for why there is no second parse.

mod access;
mod build;
mod locate;
mod scalar;
mod seen;
mod shape;
mod tree;

pub use access::{Reader, plain_value, typed};
pub use build::{Limits, Unreadable, read};
pub use locate::{Part, Path, Place};
pub use shape::{Shape, ShapeError, Spot};
pub use tree::{Entry, NodeId, Run, Tree, Value};
