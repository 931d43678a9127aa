//! A disk that is full or fails, which only the writer's own connection can be made to see (`R-JRN-3`).

use std::sync::Arc;

use rusqlite::ffi;
use sprag_core::run::{Commit, Entry, Fence, OwnerId, RunId, Seq, Timestamp};

use super::open::locked;
use super::writer::Flush;
use super::{Sqlite, connection};
use crate::blobs::Blobs as _;
use crate::error::StoreError;
use crate::journal::{Append, Journal as _};

fn append(store: &Sqlite, first: u64, entries: usize) -> Result<Seq, StoreError> {
    store.append(&[commit(first, entries)]).remove(0)
}

fn commit(first: u64, entries: usize) -> Append {
    let entries = vec![Entry::Held { on: true }; entries];
    let commit = Commit::new(run(), OwnerId::default(), Seq(first), Timestamp::default(), Fence(1), entries);
    Append::new(run(), Arc::new(commit))
}

/// How many pages the file may have; never fewer than it has.
fn limit(store: &Sqlite, pages: u32) {
    let writer = locked(&store.writer);
    let connection = writer.connection.as_ref().unwrap();
    connection.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(())).unwrap();
}

fn run() -> RunId {
    RunId(uuid::Uuid::from_bytes([1; 16]))
}

fn failure(code: i32) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)
}

#[test]
fn nothing_is_lost_when_the_disk_is_full_for_a_while() {
    // R-JRN-3
    let folder = tempfile::tempdir().unwrap();
    let store = Sqlite::open(&folder.path().join("sprag.db")).unwrap();
    append(&store, 1, 1).unwrap();
    limit(&store, 1);
    for _ in 0..3 {
        let answer = append(&store, 2, 1_000);
        assert!(matches!(answer, Err(StoreError::Unavailable { .. })), "{answer:?}");
        assert!(matches!(store.put(&[7; 9_000]), Err(StoreError::Unavailable { .. })));
        assert_eq!(store.read(run(), Seq(0), 9).unwrap().len(), 1, "nothing of it was written");
    }
    limit(&store, 1_000_000);
    assert!(matches!(append(&store, 2, 1_000), Ok(Seq(1_001))));
    assert_eq!(store.read(run(), Seq(0), 9).unwrap().len(), 2);
}

#[test]
fn what_was_undone_with_a_batch_is_not_remembered() {
    // R-JRN-3
    let folder = tempfile::tempdir().unwrap();
    let store = Sqlite::open(&folder.path().join("sprag.db")).unwrap();
    append(&store, 1, 1).unwrap();
    limit(&store, 1);
    // The first of the two has room, and is undone with the other.
    let batch = [commit(2, 1), commit(3, 1_000)];
    for answer in store.append(&batch) {
        assert!(matches!(answer, Err(StoreError::Unavailable { .. })), "{answer:?}");
    }
    limit(&store, 1_000_000);
    assert!(matches!(store.append(&batch)[..], [Ok(Seq(2)), Ok(Seq(1_002))]));
}

#[test]
fn after_an_error_of_the_disk_the_file_is_opened_again() {
    // R-JRN-3
    let folder = tempfile::tempdir().unwrap();
    let store = Sqlite::open(&folder.path().join("sprag.db")).unwrap();
    append(&store, 1, 1).unwrap();
    for code in [ffi::SQLITE_IOERR_WRITE, ffi::SQLITE_IOERR_FSYNC] {
        let failed: Result<(), _> = store.transact(Flush::Now, |_, _| Err(failure(code)));
        assert!(matches!(failed, Err(StoreError::Unavailable { .. })), "{failed:?}");
        assert!(locked(&store.writer).connection.is_none());
        // Repeating what landed before is success, because the new connection reads what is there.
        assert!(matches!(append(&store, 1, 1), Ok(Seq(1))));
        assert!(locked(&store.writer).connection.is_some());
    }
    assert!(matches!(append(&store, 2, 1), Ok(Seq(2))));
}

#[test]
fn a_second_flush_that_fails_ends_it() {
    // R-JRN-3
    let folder = tempfile::tempdir().unwrap();
    let store = Sqlite::open(&folder.path().join("sprag.db")).unwrap();
    let fail = |code| store.transact(Flush::Now, |_, _| Err::<(), _>(failure(code)));
    assert!(matches!(fail(ffi::SQLITE_IOERR_FSYNC), Err(StoreError::Unavailable { .. })));
    append(&store, 1, 1).unwrap();
    assert!(matches!(fail(ffi::SQLITE_IOERR_WRITE), Err(StoreError::Unavailable { .. })));
    assert!(matches!(fail(ffi::SQLITE_IOERR_DIR_FSYNC), Err(StoreError::Broken { .. })));
}

#[test]
fn after_a_failed_flush_the_log_is_written_back_before_anything_is_acknowledged() {
    // R-JRN-3
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sprag.db");
    let store = Sqlite::open(&path).unwrap();
    append(&store, 1, 1).unwrap();
    let log = || std::fs::metadata(folder.path().join("sprag.db-wal")).unwrap().len();
    // Another process keeps the log in use, so that it cannot be written back.
    let other = connection::reading(&path).unwrap();
    other.execute_batch("BEGIN; SELECT count(*) FROM run;").unwrap();
    append(&store, 2, 1).unwrap();
    let failed: Result<(), _> = store.transact(Flush::Now, |_, _| Err(failure(ffi::SQLITE_IOERR_FSYNC)));
    assert!(matches!(failed, Err(StoreError::Unavailable { .. })));
    assert!(log() > 0);
    let answer = append(&store, 2, 1);
    assert!(matches!(answer, Err(StoreError::Unavailable { .. })), "{answer:?}");
    other.execute_batch("COMMIT").unwrap();
    assert!(matches!(append(&store, 2, 1), Ok(Seq(2))));
    assert_eq!(log(), 0, "the repeated one had landed, and is now in the database itself");
}

#[test]
fn what_is_wrong_with_the_file_is_told_from_what_passes() {
    for code in [ffi::SQLITE_BUSY, ffi::SQLITE_FULL, ffi::SQLITE_CANTOPEN, ffi::SQLITE_READONLY, ffi::SQLITE_IOERR_READ]
    {
        let answer = super::error::classify(&failure(code));
        assert!(matches!(answer, StoreError::Unavailable { .. }), "{answer:?}");
    }
    for code in [ffi::SQLITE_CORRUPT, ffi::SQLITE_NOTADB, ffi::SQLITE_ERROR] {
        let answer = super::error::classify(&failure(code));
        assert!(matches!(answer, StoreError::Damaged { .. }), "{answer:?}");
    }
}
