//! The real binary in an empty folder: what it prints, where to, and how it exits.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod graph;
mod help;
mod hostile;
mod project;
mod space;
mod validate;
