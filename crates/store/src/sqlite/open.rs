//! The store in a file: opening it, and its connections.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{fs, io};

use rusqlite::Connection;

use super::append::Tails;
use super::create::create;
use super::error::{OpenError, classify};
use super::look::{Found, look};
use super::mailbox::Watch;
use super::migrate::{KNOWN, migrate};
use super::writer::Writer;
use super::{connection, owners};
use crate::error::StoreError;

/// Earlier versions may damage a database with a write-ahead log when several connections reset it.
const SQLITE_MIN: i32 = 3_051_003;

/// How long the draft of a file that was just made may keep its own name, where files cannot be renamed as they should.
const LINK_TRIES: u32 = 50;
const LINK_PAUSE: Duration = Duration::from_millis(1);

static OPENING: Mutex<()> = Mutex::new(());

/// A store in one SQLite file. Other processes may use the same file at the same time.
#[derive(Debug)]
pub struct Sqlite {
    /// The one name of the file: everybody who opens it finds the same leases beside it, whatever link led there.
    pub(super) path: PathBuf,
    // Those who read are closed before the writer, so none of them keeps it from writing the whole log back.
    pub(super) watch: Mutex<Option<Watch>>,
    readers: Mutex<Vec<Connection>>,
    pub(super) writer: Mutex<Writer>,
    pub(super) tails: Mutex<Tails>,
}

impl Sqlite {
    /// Opens a store, and makes it if there is none. Its folder must exist.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        if rusqlite::version_number() < SQLITE_MIN {
            return Err(OpenError::Outdated { found: rusqlite::version() });
        }
        let inaccessible = |error: io::Error| OpenError::Inaccessible { path: path.to_owned(), source: error.into() };
        // SQLite would take a name that starts with `file:` for something else.
        let absolute = std::path::absolute(path).map_err(inaccessible)?;
        let mut path = one_name(&absolute).map_err(inaccessible)?;
        // Threads of one process open one after the other: no file that is being made is one that SQLite has open.
        let _opening = locked(&OPENING);
        if look(&path)? == Found::Nothing {
            create(&path)?;
            path = one_name(&path).map_err(inaccessible)?;
            look(&path)?;
        }
        only_name(&path)?;
        owners::check(&path)?;
        let connection = ready(&path).map_err(|error| OpenError::of(&path, &error))?;
        // The newest form may still be in the log, where a look at the file does not see it.
        match migrate(&connection).map_err(|error| OpenError::of(&path, &error))? {
            KNOWN => Ok(Self {
                watch: Mutex::default(),
                readers: Mutex::default(),
                writer: Mutex::new(Writer::new(&path, connection)),
                tails: Mutex::default(),
                path,
            }),
            // Not even its log is written back: no connection does that when it is closed.
            found => Err(OpenError::Newer { path, found, known: KNOWN }),
        }
    }

    /// Whether the file can only be read: SQLite opens such a file all the same.
    pub(super) fn is_read_only(&self) -> bool {
        let writer = locked(&self.writer);
        writer.connection.as_ref().is_some_and(|connection| connection.is_readonly("main").unwrap_or(false))
    }

    /// Asks something of a connection that no writer holds up, nor any other reader.
    pub(super) fn reading<T>(&self, ask: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let idle = locked(&self.readers).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => connection::reading(&self.path).map_err(|error| classify(&error))?,
        };
        let answer = ask(&connection);
        // A connection that failed is not asked again.
        if !matches!(answer, Err(StoreError::Unavailable { .. } | StoreError::Damaged { .. })) {
            locked(&self.readers).push(connection);
        }
        answer
    }
}

/// A panic elsewhere cannot leave a connection within a transaction: transactions are closed where they are opened.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The path without links, as far as there is something.
fn one_name(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(path.to_owned()),
        found => found,
    }
}

/// Refuses a file that has another name: each name would have leases, and a log, of its own (`R-CLAIM-2`).
fn only_name(path: &Path) -> Result<(), OpenError> {
    let links = || fs::metadata(path).map(|file| file.nlink());
    let mut tries = 0;
    loop {
        match links() {
            Ok(..=1) => return Ok(()),
            Ok(links) if tries == LINK_TRIES => return Err(OpenError::Linked { path: path.to_owned(), links }),
            Ok(_) => std::thread::sleep(LINK_PAUSE),
            Err(error) => return Err(OpenError::Inaccessible { path: path.to_owned(), source: error.into() }),
        }
        tries += 1;
    }
}

fn ready(path: &Path) -> rusqlite::Result<Connection> {
    let connection = connection::writing(path)?;
    let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    if mode != "wal" {
        // A store is made with a log, but somebody may have switched it off.
        connection.pragma_update(None, "journal_mode", "wal")?;
    }
    Ok(connection)
}
