//! Making the file. It is made whole under another name and then given its own, so that nobody ever sees half of it,
//! and of two processes that make it at the same moment both use the one that was first.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rustix::fs::{CWD, FlockOperation, RenameFlags, flock, renameat_with};
use rustix::io::Errno;

use super::connection;
use super::error::OpenError;
use super::look::APPLICATION_ID;
use super::migrate::migrate;

/// Where the header of the file format says how the file is written and read: 2 is with a write-ahead log.
const FORMAT_VERSIONS: std::ops::Range<usize> = 18..20;
const WITH_LOG: u8 = 2;

/// Makes the file, if it is missing or empty.
pub(super) fn create(path: &Path) -> Result<(), OpenError> {
    let inaccessible = |source| OpenError::Inaccessible { path: path.to_owned(), source };
    let image = image().map_err(|error| inaccessible(error.into()))?;
    written(path, &image).map_err(|error| inaccessible(error.into()))
}

/// The bytes of a new database. Made in memory, it needs one flush, where SQLite would flush a journal, too.
fn image() -> rusqlite::Result<Vec<u8>> {
    let mut connection = Connection::open_in_memory()?;
    connection::defend(&connection)?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    migrate(&connection)?;
    let mut image = connection.serialize("main")?.to_vec();
    image[FORMAT_VERSIONS].fill(WITH_LOG);
    Ok(image)
}

fn written(path: &Path, image: &[u8]) -> io::Result<()> {
    let draft = Draft::new(path)?;
    (&draft.file).write_all(image)?;
    draft.file.sync_all()?;
    // The folder is not flushed here: SQLite does that when it makes the log, before the first commit is acknowledged.
    match place(&draft.path, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => replace_empty(&draft.path, path),
        done => done,
    }
}

/// Puts a file into the place of an empty one. Whoever does so holds the lock of the empty one, and then looks whether
/// it still is the one in the place. A file that is not empty is left alone, not even opened: see `look`.
fn replace_empty(draft: &Path, path: &Path) -> io::Result<()> {
    if fs::metadata(path)?.len() > 0 {
        return Ok(());
    }
    let empty = File::open(path)?;
    flock(&empty, FlockOperation::LockExclusive)?;
    let (held, there) = (empty.metadata()?, fs::metadata(path)?);
    if (held.dev(), held.ino()) == (there.dev(), there.ino()) && there.len() == 0 {
        // A link stays one: what is replaced is the file behind it.
        fs::rename(draft, fs::canonicalize(path)?)?;
    }
    Ok(())
}

/// A file under a name that nobody looks for, which is gone with this value unless it was given another.
pub(super) struct Draft {
    pub file: File,
    pub path: PathBuf,
}

impl Draft {
    /// A new file beside the place it is for.
    pub fn new(place: &Path) -> io::Result<Self> {
        let mut name = place.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{:016x}.new", unlike()));
        let path = place.with_file_name(name);
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
        Ok(Self { file, path })
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // It is there only if it was not given its place.
        let _ = fs::remove_file(&self.path);
    }
}

/// A number that another process or thread is unlikely to get. It is no secret: a name that exists is refused.
fn unlike() -> u64 {
    use std::hash::{BuildHasher as _, RandomState};
    RandomState::new().hash_one(std::process::id())
}

/// Gives a file its name, unless there is one of that name.
pub(super) fn place(draft: &Path, path: &Path) -> io::Result<()> {
    match renameat_with(CWD, draft, CWD, path, RenameFlags::NOREPLACE) {
        // Some file systems cannot rename like this, but link.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => fs::hard_link(draft, path),
        done => done.map_err(io::Error::from),
    }
}
