//! What sprag remembers. Ports say what a store must do; an adapter stores and compares, and knows no rules.

mod blobs;
mod catalog;
mod checksum;
pub mod conformance;
mod error;
mod journal;
mod leases;
mod mailbox;
mod memory;
mod sqlite;
mod store;

pub use blobs::Blobs;
pub use catalog::{Catalog, Filter, Listed};
pub use error::{BoxError, StoreError};
pub use journal::{Append, Journal};
pub use leases::{Holder, Lease, Leases};
pub use mailbox::Mailbox;
pub use memory::Memory;
pub use sqlite::{OpenError, Sqlite};
pub use store::Store;
