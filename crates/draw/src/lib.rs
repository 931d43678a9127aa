//! Draws a workflow graph for people: as SVG, Graphviz, Mermaid or plain text.
//!
//! A [`Picture`] is plain data, built by the caller from a definition or a live run; the same
//! code draws both, a run's states being colours. Every function here is pure: the same picture
//! gives the same bytes, and no picture makes one of them panic. Edges that point at nodes
//! which do not exist are ignored.
//!
//! ```
//! use sprag_draw::{EdgeKind, Picture, PictureEdge, PictureNode, Theme};
//!
//! let step = |id: &str, kind: &str, wave| PictureNode {
//!     id: id.into(),
//!     kind: kind.into(),
//!     wave,
//!     members: 1,
//!     ..PictureNode::default()
//! };
//! let picture = Picture {
//!     title: "release".into(),
//!     nodes: vec![step("build", "run", 0), step("confirm", "approve", 1)],
//!     edges: vec![PictureEdge { from: 0, to: 1, when: EdgeKind::Success, label: None }],
//!     groups: vec![],
//! };
//! assert!(sprag_draw::svg(&picture, Theme::Auto).starts_with("<svg"));
//! assert!(sprag_draw::mermaid(&picture).starts_with("flowchart"));
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod ascii;
mod collapse;
mod colour;
mod components;
mod dot;
mod escape;
mod layout;
mod measure;
mod mermaid;
mod order;
mod picture;
mod ranks;
mod svg;

pub use ascii::{ASCII_NODE_LIMIT, ascii};
pub use collapse::collapsed;
pub use colour::{Tone, kind_tone};
pub use dot::dot;
pub use mermaid::mermaid;
pub use picture::{EdgeKind, NodeColour, Picture, PictureEdge, PictureNode, Theme};
pub use svg::{SVG_NODE_LIMIT, svg};
