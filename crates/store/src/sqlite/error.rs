//! What SQLite says, in the words of the store.

use std::fmt;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use crate::error::{BoxError, StoreError};

/// Why a file cannot be used as a store.
#[derive(Debug)]
pub enum OpenError {
    /// It is no SQLite database, or the database of another application. It was left alone.
    Foreign {
        /// The file.
        path: PathBuf,
        /// How that is known.
        detail: String,
    },
    /// A newer sprag made or changed it. It was left alone.
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest version that this sprag knows.
        known: u32,
    },
    /// It is a store, but not whole.
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        detail: String,
    },
    /// It cannot be opened, created or written: a missing or read-only folder, a permission, a full disk.
    Inaccessible {
        /// The file.
        path: PathBuf,
        /// Why.
        source: BoxError,
    },
    /// It lies on a network file system, whose locks cannot be trusted.
    Network {
        /// The file.
        path: PathBuf,
        /// The file system.
        system: &'static str,
    },
    /// It has several names (hard links), and those who use one do not see the locks of those who use another.
    Linked {
        /// The file.
        path: PathBuf,
        /// How many names it has.
        links: u64,
    },
    /// Others could forge or remove its leases.
    Exposed {
        /// The folder of the leases.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// sprag was built with an SQLite that has known faults.
    Outdated {
        /// The version of SQLite.
        found: &'static str,
    },
}

impl OpenError {
    /// What an error of SQLite means for whoever opens the file.
    pub(super) fn of(path: &Path, error: &rusqlite::Error) -> Self {
        let path = path.to_owned();
        match (error.sqlite_error_code(), classify(error)) {
            (Some(ErrorCode::NotADatabase), _) => Self::Foreign { path, detail: "it is not an SQLite database".into() },
            (_, StoreError::Damaged { detail }) => Self::Damaged { path, detail },
            (_, StoreError::Unavailable { source, .. }) => Self::Inaccessible { path, source },
            (_, other) => Self::Inaccessible { path, source: other.into() },
        }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign { path, detail } => write!(formatter, "`{}` is not a sprag store: {detail}", path.display()),
            Self::Newer { path, found, known } => write!(
                formatter,
                "`{}` has version {found}; this sprag knows versions up to {known}, so a newer one is needed",
                path.display()
            ),
            Self::Damaged { path, detail } => {
                write!(formatter, "the store `{}` is damaged: {detail}", path.display())
            }
            Self::Inaccessible { path, source } => {
                write!(formatter, "the store `{}` cannot be opened: {source}", path.display())
            }
            Self::Network { path, system } => write!(
                formatter,
                "`{}` lies on a network file system ({system}), whose locks cannot be trusted; use a local disk",
                path.display()
            ),
            Self::Linked { path, links } => write!(
                formatter,
                "`{}` has {links} names (hard links), and two names would have two locks",
                path.display()
            ),
            Self::Exposed { path, detail } => write!(formatter, "`{}` cannot be trusted: {detail}", path.display()),
            Self::Outdated { found } => {
                write!(formatter, "this sprag was built with SQLite {found}, which has known faults")
            }
        }
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Inaccessible { source, .. } => Some(source.as_ref()),
            Self::Foreign { .. }
            | Self::Newer { .. }
            | Self::Damaged { .. }
            | Self::Network { .. }
            | Self::Linked { .. }
            | Self::Exposed { .. }
            | Self::Outdated { .. } => None,
        }
    }
}

/// What an error of SQLite means for whoever asked.
pub(super) fn classify(error: &rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::DiskFull
            | ErrorCode::SystemIoFailure
            | ErrorCode::CannotOpen
            | ErrorCode::ReadOnly
            | ErrorCode::PermissionDenied
            | ErrorCode::OutOfMemory
            | ErrorCode::FileLockingProtocolFailed
            | ErrorCode::OperationInterrupted,
        ) => unavailable(described(error)),
        // What is left is a file that is not what was written, or tables that are not.
        _ => StoreError::Damaged { detail: described(error) },
    }
}

/// The store cannot be used now.
pub(super) fn unavailable(source: impl Into<BoxError>) -> StoreError {
    StoreError::Unavailable { retry_after: None, source: source.into() }
}

/// The error with SQLite's number for it, which says more than its text.
fn described(error: &rusqlite::Error) -> String {
    match error.sqlite_error() {
        // The text would name a way of opening that only we know of.
        Some(failure) if failure.code == ErrorCode::CannotOpen => {
            format!("the file cannot be opened (SQLite error {})", failure.extended_code)
        }
        Some(failure) => format!("{error} (SQLite error {})", failure.extended_code),
        None => error.to_string(),
    }
}

/// Whether the file system failed, so that nobody knows what became of the last write (`R-JRN-3`).
pub(super) fn is_io(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::SystemIoFailure)
}

/// Whether a flush failed (`R-JRN-3`).
pub(super) fn is_sync(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|failure| failure.extended_code);
    matches!(code, Some(rusqlite::ffi::SQLITE_IOERR_FSYNC | rusqlite::ffi::SQLITE_IOERR_DIR_FSYNC))
}
