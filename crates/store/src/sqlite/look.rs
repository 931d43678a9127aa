//! A look at a file before it is opened: opening a database of somebody else may create files beside it or write its log
//! back, even if nothing is asked of it.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rusqlite::{Connection, ErrorCode, OpenFlags};
use rustix::fs::statfs;

use super::connection;
use super::error::OpenError;
use super::migrate::{KNOWN, version};

/// `sprg`: how the file says whose it is.
pub(super) const APPLICATION_ID: i32 = 0x7370_7267;

/// What there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// No file, or an empty one.
    Nothing,
    /// What may be a store; whether it is whole is seen when it is opened.
    Store,
}

/// Looks at a file, and refuses what is not for this sprag.
pub(super) fn look(path: &Path) -> Result<Found, OpenError> {
    on_this_machine(path)?;
    let file = match fs::metadata(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) => return Err(OpenError::Inaccessible { path: path.to_owned(), source: error.into() }),
    };
    if !file.is_file() {
        return Err(OpenError::Foreign { path: path.to_owned(), detail: "it is not a file".to_owned() });
    }
    if file.len() == 0 {
        return Ok(Found::Nothing);
    }
    match marks(path) {
        Ok((APPLICATION_ID, found)) if found > KNOWN => {
            Err(OpenError::Newer { path: path.to_owned(), found, known: KNOWN })
        }
        Ok((APPLICATION_ID, _)) => Ok(Found::Store),
        Ok(_) => {
            let detail = "the database belongs to another application".to_owned();
            Err(OpenError::Foreign { path: path.to_owned(), detail })
        }
        // With its log beside it, it may be whole after all.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => Ok(Found::Store),
        Err(error) => Err(OpenError::of(path, &error)),
    }
}

/// The application and the version that the file itself names.
///
/// Reading the bytes would be simpler, and wrong: when a process closes any handle of a file, it loses the locks that
/// SQLite holds on it in the same process. SQLite knows of its own handles, and `immutable` keeps it from locking,
/// writing, and looking at the log.
fn marks(path: &Path) -> rusqlite::Result<(i32, u32)> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(immutable(path), flags)?;
    connection::defend(&connection)?;
    let application = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    Ok((application, version(&connection)?))
}

fn immutable(path: &Path) -> String {
    let mut uri = String::from("file://");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => uri.push(char::from(*byte)),
            // Writing to a text cannot fail.
            _ => drop(write!(uri, "%{byte:02x}")),
        }
    }
    uri.push_str("?immutable=1");
    uri
}

/// Locks over a network are lost without notice, and a log in shared memory is not shared over it at all.
fn on_this_machine(path: &Path) -> Result<(), OpenError> {
    let looked = statfs(path).or_else(|_| statfs(path.parent().unwrap_or(path)));
    match looked.map(|system| network(system.f_type)) {
        Ok(None) => Ok(()),
        Ok(Some(system)) => Err(OpenError::Network { path: path.to_owned(), system }),
        Err(error) => Err(OpenError::Inaccessible { path: path.to_owned(), source: io::Error::from(error).into() }),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the numbers have 32 bits, sign or not")]
const fn network(magic: rustix::fs::FsWord) -> Option<&'static str> {
    match magic as u32 {
        0x6969 => Some("nfs"),
        0x517b => Some("smb"),
        0xff53_4d42 => Some("cifs"),
        0xfe53_4d42 => Some("smb2"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{immutable, network};

    #[test]
    fn file_systems_of_other_machines_are_known() {
        for (magic, system) in [(0x6969, "nfs"), (0x517b, "smb"), (0xff53_4d42, "cifs"), (0xfe53_4d42, "smb2")] {
            assert_eq!(network(magic), Some(system));
        }
        let ext4 = 0xef53;
        assert_eq!(network(ext4), None);
    }

    #[test]
    fn a_path_is_a_path_whatever_it_looks_like() {
        assert_eq!(immutable(Path::new("/a b/c?mode=rw#%2f")), "file:///a%20b/c%3fmode%3drw%23%252f?immutable=1");
    }
}
