//! One file per verb: its flags, and what it does with them.

pub mod cancel;
pub mod completions;
mod dispatch;
pub mod events;
pub mod graph;
pub mod guard;
pub mod logs;
pub mod resume;
pub mod run;
pub mod runs;
pub mod schema;
pub mod show;
pub mod validate;

pub use dispatch::main;
