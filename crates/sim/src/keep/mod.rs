//! What a world keeps its journal in: memory, an SQLite file, or either behind a connection that fails.

mod file;
mod image;
mod port;
mod unsteady;

pub use file::{Death, File};
pub use port::Keep;
pub use unsteady::Unsteady;
