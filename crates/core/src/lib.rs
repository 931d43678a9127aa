//! What sprag decides, without I/O: the workflow file, the graph and the rules.
//!
//! Nothing here reads a clock, a file, the environment or a random number; time and bytes are arguments. The rules are
//! those of `docs/spec.md`, cited by id.

pub mod checkpoint;
pub mod codes;
pub mod definition;
pub mod diagnostic;
pub mod expr;
pub mod facts;
pub mod file;
pub mod graph;
pub mod hash;
pub mod limits;
pub mod load;
pub mod params;
pub mod plan;
pub mod run;
pub mod schema;
pub mod session_key;
pub mod shell;
pub mod suggest;
pub mod yaml;
