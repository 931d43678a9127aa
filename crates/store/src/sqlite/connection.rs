//! Connections, and how they wait for each other.

use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

/// How long a connection waits for a lock before it gives up.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often a statement of ours is another one: all of them stay prepared.
const STATEMENTS: usize = 64;

/// The connection that writes, and that alone writes the log back into the database.
pub(super) fn writing(path: &Path) -> rusqlite::Result<Connection> {
    let connection = opened(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.execute_batch("PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 1000;")?;
    Ok(connection)
}

/// A connection that only reads.
pub(super) fn reading(path: &Path) -> rusqlite::Result<Connection> {
    opened(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

fn opened(path: &Path, access: OpenFlags) -> rusqlite::Result<Connection> {
    // Each connection is behind a lock of ours. No URIs: a path is a path, whatever it looks like.
    let mut connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    // SQLite would write the log back and delete it when the last connection closes, also into a file that was just found
    // to be damaged. Kept, it is written from its beginning again, and writing over what is there takes about half as long
    // to flush as making a file longer.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.busy_handler(Some(waiter()))?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    defend(&connection)?;
    // SQLite would delete the log when the last connection closes. Kept, it is written from its beginning again, and
    // writing over what is there takes about half as long to flush as making a file longer.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA mmap_size = 0; PRAGMA cell_size_check = ON;")?;
    Ok(connection)
}

/// No statement damages the file on purpose, not even one that a planted schema brought along.
pub(super) fn defend(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true).map(|_| ())
}

/// Waits for another writer, whose transaction takes about as long as a flush. SQLite's own handler soon sleeps 100 ms at
/// a time; this one stays between 0.2 and 2 ms, and no two processes keep in step.
fn waiter() -> impl FnMut(i32) -> bool + Send + 'static {
    let random = RandomState::new();
    let mut since = Instant::now();
    move |count| {
        if count == 0 {
            since = Instant::now();
        }
        if since.elapsed() > PATIENCE {
            return false;
        }
        std::thread::sleep(Duration::from_micros(200 + random.hash_one(since.elapsed()) % 1_800));
        true
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::config::DbConfig;

    use super::{reading, writing};
    use crate::sqlite::Sqlite;

    #[test]
    fn every_connection_is_defensive_and_leaves_the_log() {
        // R-STORE-1
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sprag.db");
        let store = Sqlite::open(&path).unwrap();
        for connection in [writing(&path).unwrap(), reading(&path).unwrap()] {
            assert!(connection.db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE).unwrap());
            assert!(connection.db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE).unwrap());
            connection.execute_batch("PRAGMA writable_schema = ON").unwrap();
            let changed = connection.execute("DELETE FROM sqlite_schema", []);
            assert!(changed.is_err(), "{changed:?}");
        }
        drop(store);
    }
}
