//! What every store must do. An adapter's test is one line: `conformance::store(|| MyStore::open(…))`.

mod blobs;
mod catalog;
mod journal;
mod leases;
mod mailbox;
mod sample;
mod suite;

pub use suite::{journal, store};
