//! A store in one SQLite file, with kernel locks beside it. See docs/design/007-sqlite.md.

mod append;
mod blobs;
mod catalog;
mod connection;
mod create;
mod error;
mod journal;
mod look;
mod mailbox;
mod migrate;
mod open;
mod owners;
mod process;
mod writer;

#[cfg(test)]
mod tests;

pub use error::OpenError;
pub use open::Sqlite;
