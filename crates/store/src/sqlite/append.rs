//! Appending commits.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension as _, params};
use sprag_core::run::{Fence, RunId, Seq, Summary};

use super::open::{Sqlite, locked};
use super::writer::Flush;
use crate::checksum::{Checksum, Row};
use crate::error::StoreError;
use crate::journal::Append;

/// The longest text that SQLite takes, with room for the rest of its row.
const BYTES_MAX: usize = 999_000_000;

/// How many runs' last commits are remembered.
const REMEMBERED: usize = 10_000;

/// The last commits of runs that this store wrote. They are still the last ones as long as no other connection has
/// written anything, which SQLite tells for the price of a look at a page it has to look at anyway.
#[derive(Debug, Default)]
pub(super) struct Tails {
    /// The version of the data, and through which connection it was seen: versions of two connections do not compare.
    version: Option<(u64, i64)>,
    by_run: HashMap<RunId, Tail>,
}

/// The last commit of a run.
#[derive(Debug, Clone, Copy)]
struct Tail {
    number: i64,
    last: Seq,
    fence: Fence,
    /// None if what is stored is no checksum.
    checksum: Option<Checksum>,
}

pub(super) fn append(store: &Sqlite, appends: &[Append]) -> Vec<Result<Seq, StoreError>> {
    let flush = if appends.iter().all(|append| append.relaxed) { Flush::Later } else { Flush::Now };
    let mut tails = locked(&store.tails);
    let done = store.transact(flush, |connection, reopened| {
        tails.refresh(connection, reopened)?;
        appends.iter().map(|append| one(connection, &mut tails, append)).collect()
    });
    match done {
        Ok(answers) => answers,
        // The transaction is undone as a whole, and what was refused was judged by what is undone.
        Err(error) => {
            *tails = Tails::default();
            appends.iter().map(|_| Err(again(&error))).collect()
        }
    }
}

impl Tails {
    /// Forgets what may have changed. Within the write transaction nobody else can write.
    fn refresh(&mut self, connection: &Connection, reopened: u64) -> rusqlite::Result<()> {
        let version = connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        let version = Some((reopened, version));
        if self.version != version || self.by_run.len() > REMEMBERED {
            self.by_run.clear();
            self.version = version;
        }
        Ok(())
    }

    fn of(&mut self, connection: &Connection, run: RunId) -> rusqlite::Result<Option<Tail>> {
        match self.by_run.get(&run) {
            Some(tail) => Ok(Some(*tail)),
            None => tail(connection, run),
        }
    }
}

/// One answer for many.
fn again(error: &StoreError) -> StoreError {
    match error {
        StoreError::Unavailable { retry_after, source } => {
            StoreError::Unavailable { retry_after: *retry_after, source: source.to_string().into() }
        }
        StoreError::Broken { source } => StoreError::Broken { source: source.to_string().into() },
        StoreError::Damaged { detail } => StoreError::Damaged { detail: detail.clone() },
        other => StoreError::Damaged { detail: other.to_string() },
    }
}

/// Judges one append by what the transaction sees, and writes it if it may be. The outer error ends the transaction.
fn one(connection: &Connection, tails: &mut Tails, append: &Append) -> rusqlite::Result<Result<Seq, StoreError>> {
    let (run, commit) = (append.run, &append.commit);
    let tail = tails.of(connection, run)?;
    let (last, fence) = tail.as_ref().map_or((Seq(0), Fence(0)), |tail| (tail.last, tail.fence));
    match &tail {
        Some(tail) if commit.first <= last && landed(connection, tail.number, append)? => {
            return Ok(Ok(commit.last()));
        }
        None if commit.first != Seq(1) => return Ok(Err(StoreError::NoRun(run))),
        _ => {}
    }
    if commit.fence < fence {
        return Ok(Err(StoreError::Fenced { held: commit.fence, current: fence }));
    }
    if commit.first != last.next() || commit.entries.is_empty() {
        let expected = Seq(commit.first.0.saturating_sub(1));
        return Ok(Err(StoreError::Conflict { expected, actual: last }));
    }
    let refused = |detail: String| Err(StoreError::Corrupt { run, seq: commit.first, detail });
    let entries = match commit.entries_to_json() {
        Ok(entries) if entries.len() <= BYTES_MAX => entries,
        Ok(entries) => return Ok(refused(format!("a commit of {} bytes cannot be stored", entries.len()))),
        Err(detail) => return Ok(refused(detail)),
    };
    let (number, checksum) = match tail {
        Some(Tail { number, checksum: Some(checksum), .. }) => (number, checksum),
        Some(_) => return Ok(Err(StoreError::Corrupt { run, seq: last, detail: "it has no checksum".to_owned() })),
        None => (create(connection, append)?, Checksum::default()),
    };
    let row = Row {
        run,
        first: commit.first,
        last: commit.last(),
        at: commit.at,
        id: commit.id,
        fence: commit.fence,
        entries: &entries,
    };
    let checksum = checksum.followed_by(&row);
    insert(connection, number, &row, checksum)?;
    tails.by_run.insert(run, Tail { number, last: row.last, fence: row.fence, checksum: Some(checksum) });
    if let Some(summary) = &append.summary {
        update(connection, number, summary)?;
    }
    Ok(Ok(commit.last()))
}

fn tail(connection: &Connection, run: RunId) -> rusqlite::Result<Option<Tail>> {
    let mut statement = connection.prepare_cached(
        "SELECT run.number, commits.last_seq, commits.fence, commits.checksum
         FROM run LEFT JOIN commits ON commits.run = run.number
         WHERE run.id = ?1
         ORDER BY commits.first_seq DESC LIMIT 1",
    )?;
    let found = statement.query_row([text(run)], |row| {
        Ok(Tail {
            number: row.get(0)?,
            last: Seq(row.get::<_, Option<i64>>(1)?.unwrap_or_default().cast_unsigned()),
            fence: Fence(row.get::<_, Option<i64>>(2)?.unwrap_or_default().cast_unsigned()),
            checksum: match row.get_ref(3)?.as_blob_or_null()? {
                Some(bytes) => bytes.try_into().ok().map(Checksum),
                None => Some(Checksum::default()),
            },
        })
    });
    found.optional()
}

/// Whether this very commit is at its place already: the answer to it was lost.
fn landed(connection: &Connection, number: i64, append: &Append) -> rusqlite::Result<bool> {
    let commit = &append.commit;
    let mut statement = connection.prepare_cached(
        "SELECT 1 FROM commits WHERE run = ?1 AND first_seq = ?2 AND last_seq = ?3 AND commit_id = ?4",
    )?;
    let (first, last) = (commit.first.0.cast_signed(), commit.last().0.cast_signed());
    statement.exists(params![number, first, last, commit.id.to_string()])
}

fn create(connection: &Connection, append: &Append) -> rusqlite::Result<i64> {
    let mut statement = connection.prepare_cached("INSERT INTO run (id) VALUES (?1)")?;
    let number = statement.insert([text(append.run)])?;
    if let Some(names) = &append.names {
        let mut statement = connection.prepare_cached("INSERT INTO names (run, names) VALUES (?1, ?2)")?;
        statement.execute(params![number, json(names)?])?;
    }
    Ok(number)
}

fn insert(connection: &Connection, number: i64, row: &Row<'_>, checksum: Checksum) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO commits (run, first_seq, last_seq, at, commit_id, fence, entries, checksum)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    statement.execute(params![
        number,
        row.first.0.cast_signed(),
        row.last.0.cast_signed(),
        row.at.millis,
        row.id.to_string(),
        row.fence.0.cast_signed(),
        row.entries,
        checksum.0,
    ])?;
    Ok(())
}

fn update(connection: &Connection, number: i64, summary: &Summary) -> rusqlite::Result<()> {
    let mut statement = connection
        .prepare_cached("UPDATE run SET workflow = ?2, status = ?3, started_at = ?4, summary = ?5 WHERE number = ?1")?;
    let (status, started_at) = (summary.status.as_str(), summary.started_at.millis);
    statement.execute(params![number, summary.workflow.as_str(), status, started_at, json(summary)?])?;
    Ok(())
}

fn json(value: &(impl serde::Serialize + ?Sized)) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

/// A run as the tables name it.
pub(super) fn text(run: RunId) -> String {
    run.to_string()
}
