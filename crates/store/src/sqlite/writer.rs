//! The one connection that writes, and what happens when the disk fails it (`R-JRN-3`).

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

use super::connection;
use super::error::{classify, is_io, is_sync, unavailable};
use super::open::{Sqlite, locked};
use crate::error::StoreError;

/// Whether a transaction is on the disk when it returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flush {
    /// It survives a power cut.
    Now,
    /// It survives the end of the process.
    Later,
}

/// The connection that writes.
#[derive(Debug)]
pub(super) struct Writer {
    path: PathBuf,
    /// None after the file system failed.
    pub(super) connection: Option<Connection>,
    flush: Flush,
    /// Whether there is something to put away.
    wrote: bool,
    /// How often the connection was opened again: what was known about the file through an earlier one is not known now.
    reopened: u64,
    /// How many flushes failed. A success in between says nothing about what the failed one lost.
    failed_flushes: u32,
}

impl Writer {
    pub fn new(path: &Path, connection: Connection) -> Self {
        Self {
            path: path.to_owned(),
            connection: Some(connection),
            flush: Flush::Now,
            wrote: false,
            reopened: 0,
            failed_flushes: 0,
        }
    }

    /// Makes one transaction, whole or not at all. What it reads is true until it is done.
    pub fn transact<T>(
        &mut self,
        flush: Flush,
        work: impl FnOnce(&Connection, u64) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.reopen()?;
        let Some(connection) = &self.connection else {
            return Err(unavailable("the database is closed"));
        };
        let reopened = self.reopened;
        self.wrote = true;
        let done = set_flush(connection, &mut self.flush, flush)
            .and_then(|()| transaction(connection, |connection| work(connection, reopened)));
        done.map_err(|error| self.failed(&error))
    }

    fn failed(&mut self, error: &rusqlite::Error) -> StoreError {
        let stuck = self.connection.as_ref().is_some_and(|connection| !connection.is_autocommit());
        if is_io(error) || stuck {
            // What the connection believes about the file may be wrong: the next one reads it again.
            self.connection = None;
        }
        if is_sync(error) {
            self.failed_flushes += 1;
            if self.failed_flushes > 1 {
                return StoreError::Broken { source: error.to_string().into() };
            }
        }
        classify(error)
    }

    /// Opens the connection again after the file system failed.
    fn reopen(&mut self) -> Result<(), StoreError> {
        if self.connection.is_some() {
            return Ok(());
        }
        let reopened = connection::writing(&self.path).and_then(|connection| {
            if self.failed_flushes > 0 {
                write_back(&connection)?;
            }
            Ok(connection)
        });
        match reopened {
            Ok(connection) => {
                (self.connection, self.flush) = (Some(connection), Flush::Now);
                self.reopened += 1;
                Ok(())
            }
            Err(error) => Err(self.failed(&error)),
        }
    }
}

/// A store at rest is whole without its log.
impl Drop for Writer {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.as_ref().filter(|_| self.wrote) {
            // If it cannot be done now, whoever opens the store next finds everything in the log.
            let _ = put_away(connection);
        }
    }
}

/// Writes the log back, and begins it anew with a page that says what the database says: the file keeps its length, and
/// nothing in it counts any more. Otherwise damage to a log at rest would cut it short, and the old pages before the damage
/// would hide the newer ones of the database.
fn put_away(connection: &Connection) -> rusqlite::Result<()> {
    // Whoever uses the store meanwhile puts it away later.
    connection.busy_timeout(Duration::ZERO)?;
    let busy: bool = connection.query_row("PRAGMA wal_checkpoint(RESTART)", [], |row| row.get(0))?;
    if busy {
        return Ok(());
    }
    // Everything is in the database and flushed, so what happens to this page does not matter.
    let version: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    connection.pragma_update(None, "user_version", version)
}

impl Sqlite {
    /// Makes one transaction. The work is told how often the connection was opened again.
    pub(super) fn transact<T>(
        &self,
        flush: Flush,
        work: impl FnOnce(&Connection, u64) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        locked(&self.writer).transact(flush, work)
    }
}

fn transaction<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
    let done = work(connection).and_then(|done| connection.prepare_cached("COMMIT")?.execute([]).map(|_| done));
    if done.is_err() && !connection.is_autocommit() {
        // If this fails, too, the connection is still within the transaction, and given up for that.
        let _ = connection.execute_batch("ROLLBACK");
    }
    done
}

/// SQLite looks at this setting when the statement is compiled, so it is not one of those that stay prepared.
fn set_flush(connection: &Connection, current: &mut Flush, wanted: Flush) -> rusqlite::Result<()> {
    if *current != wanted {
        connection.execute_batch(match wanted {
            Flush::Now => "PRAGMA synchronous = FULL",
            Flush::Later => "PRAGMA synchronous = NORMAL",
        })?;
        *current = wanted;
    }
    Ok(())
}

/// Writes the whole log back into the database, with a flush of its own.
///
/// After a failed flush the system forgets that pages are unwritten: they are read back as if all were well and are gone
/// after a power cut, and no later flush of the same file says so. Whatever is still in the log is therefore written to
/// the other file before anything found in it counts as durable.
fn write_back(connection: &Connection) -> rusqlite::Result<()> {
    let busy: bool = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    if busy {
        let busy = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
        return Err(rusqlite::Error::SqliteFailure(busy, Some("the log is in use and cannot be written back".into())));
    }
    Ok(())
}
