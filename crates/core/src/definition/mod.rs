//! A checked workflow: what the engine runs, and what is kept so that an unchanged file is not read twice (`R-FILE-4`).

mod kind;
mod node;
mod stored;
mod walk;
mod workflow;

pub use kind::Kind;
pub use node::{CompiledNode, Inside};
pub use stored::STORED_VERSION;
pub(crate) use walk::collect_files;
pub use workflow::{CompiledPhase, Definition};
