//! The journal port, and reading.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, params};
use sprag_core::run::{Commit, Fence, RunId, Seq, Timestamp, entries_from_json};
use uuid::Uuid;

use super::append::append;
use super::error::classify;
use super::open::Sqlite;
use crate::checksum::{Checksum, Row};
use crate::error::StoreError;
use crate::journal::{Append, Journal};

impl Journal for Sqlite {
    fn append(&self, appends: &[Append]) -> Vec<Result<Seq, StoreError>> {
        append(self, appends)
    }

    fn read(&self, run: RunId, after: Seq, most: usize) -> Result<Vec<Arc<Commit>>, StoreError> {
        self.reading(|connection| read(connection, run, after, most))
    }
}

/// How much text is read at once, give or take a commit: as values it takes several times as much.
const BYTES: usize = 16 * 1024 * 1024;

/// Where reading stands: what the next commit must follow.
#[derive(Clone, Copy, Default)]
struct Place {
    last: Seq,
    checksum: Checksum,
}

/// Each statement sees what was there when it began, and a journal only grows, so no transaction is needed around them.
fn read(connection: &Connection, run: RunId, after: Seq, most: usize) -> Result<Vec<Arc<Commit>>, StoreError> {
    let sql = |error: rusqlite::Error| classify(&error);
    let mut find = connection.prepare_cached("SELECT number FROM run WHERE id = ?1").map_err(sql)?;
    let number = find.query_row([run.to_string()], |row| row.get::<_, i64>(0)).optional().map_err(sql)?;
    let number = number.ok_or(StoreError::NoRun(run))?;
    let mut place = before(connection, run, number, after)?;
    let mut statement = connection
        .prepare_cached(
            "SELECT first_seq, last_seq, at, commit_id, fence, entries, checksum
             FROM commits WHERE run = ?1 AND first_seq > ?2 ORDER BY first_seq LIMIT ?3",
        )
        .map_err(sql)?;
    let limit = i64::try_from(most).unwrap_or(-1);
    let mut rows = statement.query(params![number, signed(place.last), limit]).map_err(sql)?;
    let mut commits = Vec::new();
    let mut read = 0;
    while let Some(row) = rows.next().map_err(sql)? {
        let seq = place.last.next();
        let corrupt = |detail: String| StoreError::Corrupt { run, seq, detail };
        let (commit, next) = verified(row, run, place).map_err(corrupt)?;
        place = next;
        commits.push(Arc::new(commit));
        read += row.get_ref(5).map_err(sql)?.as_str().map_or(0, str::len);
        if read > BYTES {
            break;
        }
    }
    // A run has its first commit from the start.
    if commits.is_empty() && place.last == Seq(0) && most > 0 {
        return Err(StoreError::Corrupt { run, seq: Seq(1), detail: "its first commit is missing".to_owned() });
    }
    Ok(commits)
}

/// The last commit that holds nothing after an entry; reading begins with the one that follows it.
fn before(connection: &Connection, run: RunId, number: i64, after: Seq) -> Result<Place, StoreError> {
    if after == Seq(0) {
        return Ok(Place::default());
    }
    let sql = |error: rusqlite::Error| classify(&error);
    let mut statement = connection
        .prepare_cached(
            "SELECT last_seq, checksum FROM commits
             WHERE run = ?1 AND first_seq <= ?2 ORDER BY first_seq DESC LIMIT 2",
        )
        .map_err(sql)?;
    let mut rows = statement.query(params![number, signed(after)]).map_err(sql)?;
    while let Some(row) = rows.next().map_err(sql)? {
        let last = Seq(row.get::<_, i64>(0).map_err(sql)?.cast_unsigned());
        if last <= after {
            let bytes: Vec<u8> = row.get(1).map_err(sql)?;
            let checksum = bytes.try_into().map(Checksum);
            let corrupt = |_| StoreError::Corrupt { run, seq: last, detail: "it has no checksum".to_owned() };
            return Ok(Place { last, checksum: checksum.map_err(corrupt)? });
        }
    }
    Ok(Place::default())
}

/// A stored commit, if it is what was written and follows what was read before.
fn verified(row: &rusqlite::Row<'_>, run: RunId, place: Place) -> Result<(Commit, Place), String> {
    let sql = |error: rusqlite::Error| error.to_string();
    let number = |at: usize| row.get::<_, i64>(at).map(i64::cast_unsigned).map_err(sql);
    let text = |at: usize| row.get_ref(at).map_err(sql)?.as_str().map_err(|error| error.to_string());
    let stored = Row {
        run,
        first: Seq(number(0)?),
        last: Seq(number(1)?),
        at: Timestamp::from_millis(row.get(2).map_err(sql)?),
        id: Uuid::parse_str(text(3)?).map_err(|error| format!("its id cannot be read: {error}"))?,
        fence: Fence(number(4)?),
        entries: text(5)?,
    };
    if stored.first != place.last.next() {
        return Err(format!("the commit that follows begins with entry {}", stored.first));
    }
    let checksum = place.checksum.followed_by(&stored);
    if row.get_ref(6).map_err(sql)?.as_blob() != Ok(&checksum.0) {
        return Err("what is stored does not fit its checksum".to_owned());
    }
    let entries = entries_from_json(stored.entries).map_err(|error| error.to_string())?;
    let commit = Commit { first: stored.first, at: stored.at, fence: stored.fence, id: stored.id, entries };
    if commit.entries.is_empty() || commit.last() != stored.last {
        return Err(format!("the commit has {} entries and ends with entry {}", commit.entries.len(), stored.last));
    }
    Ok((commit, Place { last: stored.last, checksum }))
}

/// Numbers of entries as SQLite has them; there is none beyond its largest.
fn signed(seq: Seq) -> i64 {
    i64::try_from(seq.0).unwrap_or(i64::MAX)
}
