//! What sprag remembers. Ports say what a store must do; an adapter stores and compares, and knows no rules.

pub mod conformance;
mod error;
mod journal;
mod memory;

pub use error::{BoxError, StoreError};
pub use journal::{Append, Journal};
pub use memory::MemoryJournal;
