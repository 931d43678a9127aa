//! One file per verb: its flags, and what it does with them.

pub mod completions;
pub mod graph;
mod run;
pub mod schema;
pub mod validate;

pub use run::main;
