//! The blob port.

use rusqlite::{Connection, OptionalExtension as _, params};
use sprag_core::hash::Digest;

use super::error::classify;
use super::open::Sqlite;
use super::writer::Flush;
use crate::blobs::Blobs;
use crate::error::StoreError;

impl Blobs for Sqlite {
    fn put(&self, bytes: &[u8]) -> Result<Digest, StoreError> {
        let digest = Digest::of(bytes);
        // What another connection can see is durable: blobs are always flushed, and seen only after that.
        if !self.has(digest)? {
            self.transact(Flush::Now, |connection, _| {
                let mut statement = connection
                    .prepare_cached("INSERT INTO blob (digest, bytes) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?;
                statement.execute(params![digest.0, bytes])
            })?;
        }
        Ok(digest)
    }

    fn get(&self, digest: Digest) -> Result<Option<Vec<u8>>, StoreError> {
        let found = self.reading(|connection| get(connection, digest).map_err(|error| classify(&error)))?;
        match found {
            Some(bytes) if Digest::of(&bytes) != digest => {
                Err(StoreError::Damaged { detail: format!("blob {digest} holds something else") })
            }
            found => Ok(found),
        }
    }

    fn has(&self, digest: Digest) -> Result<bool, StoreError> {
        self.reading(|connection| has(connection, digest).map_err(|error| classify(&error)))
    }
}

fn get(connection: &Connection, digest: Digest) -> rusqlite::Result<Option<Vec<u8>>> {
    let mut statement = connection.prepare_cached("SELECT bytes FROM blob WHERE digest = ?1")?;
    statement.query_row([digest.0], |row| row.get(0)).optional()
}

fn has(connection: &Connection, digest: Digest) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM blob WHERE digest = ?1")?.exists([digest.0])
}
