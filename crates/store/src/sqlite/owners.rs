//! The lease port: a kernel lock on a file of its own for each process, in a folder beside the database (`R-CLAIM-2`).
//!
//! Three rules keep those who look out of the way of those who hold:
//! - a file gets its name only when it is locked and written, so whoever finds it unlocked knows that its holder is gone;
//! - a lease is one exclusive lock; looking takes a shared one for a moment, so those who look do not see each other;
//! - a file is removed only by whoever holds its exclusive lock and has seen that it still is the file of that name.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use sprag_core::run::OwnerId;

use super::create::{Draft, place};
use super::error::{OpenError, unavailable};
use super::open::Sqlite;
use super::process::{namespace, started};
use crate::error::StoreError;
use crate::leases::{Holder, Lease, Leases};

/// How often somebody who wants to remove a file waits for somebody who looks at it: a look takes microseconds.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(1);

/// What the file of a process says.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Owner {
    pid: u32,
    /// When the process started, because process ids are used again.
    started: u64,
    note: String,
    /// Where the process id means something; nothing in files of earlier versions.
    #[serde(default)]
    namespace: Option<String>,
}

/// A held lease.
struct Held {
    file: File,
    path: PathBuf,
}

impl Drop for Held {
    fn drop(&mut self) {
        // While it is locked, and then the lock goes with the file. If it cannot be removed it is an abandoned one.
        let _ = fs::remove_file(&self.path);
    }
}

impl Lease for Held {
    fn shared(&self) -> Option<Result<File, StoreError>> {
        // A copy is the same open file, and the lock is held until the last copy is closed.
        Some(self.file.try_clone().map_err(unavailable))
    }
}

impl Leases for Sqlite {
    fn hold(&self, owner: OwnerId, note: &str) -> Result<Box<dyn Lease>, StoreError> {
        // Who holds a lease is about to write. A file that cannot be written is said now, not waited for later.
        if self.is_read_only() {
            return Err(unavailable(format!("`{}` is write-protected", self.path.display())));
        }
        hold(&self.owner(owner), note).map(|held| Box::new(held) as Box<dyn Lease>).map_err(unavailable)
    }

    fn holder(&self, owner: OwnerId) -> Result<Holder, StoreError> {
        checked(&self.owners()).map_err(unavailable)?;
        let Some(file) = opened(&self.owner(owner)).map_err(unavailable)? else {
            return Ok(Holder::Nobody);
        };
        match look(&file).map_err(unavailable)? {
            Lock::Held => Ok(alive(&file)),
            Lock::Free | Lock::Removed => Ok(Holder::Nobody),
        }
    }

    fn abandoned(&self) -> Result<Vec<(OwnerId, String)>, StoreError> {
        checked(&self.owners()).and_then(|()| abandoned(&self.owners())).map_err(unavailable)
    }

    fn forget(&self, owner: OwnerId) -> Result<(), StoreError> {
        forget(&self.owner(owner)).map_err(unavailable)
    }
}

impl Sqlite {
    fn owners(&self) -> PathBuf {
        folder(&self.path)
    }

    fn owner(&self, owner: OwnerId) -> PathBuf {
        self.owners().join(owner.to_string())
    }
}

/// Refuses a database whose leases others could forge or remove. That there are none yet is fine.
pub(super) fn check(database: &Path) -> Result<(), OpenError> {
    let folder = folder(database);
    match problem(&folder) {
        Ok(None) => Ok(()),
        Ok(Some(detail)) => Err(OpenError::Exposed { path: folder, detail }),
        Err(error) => Err(OpenError::Inaccessible { path: folder, source: error.into() }),
    }
}

/// Named after the database, so that two of them in one folder do not meet.
fn folder(database: &Path) -> PathBuf {
    let mut name = database.file_name().unwrap_or_default().to_owned();
    name.push(".owners");
    database.with_file_name(name)
}

fn checked(folder: &Path) -> io::Result<()> {
    match problem(folder)? {
        None => Ok(()),
        Some(detail) => {
            let what = format!("`{}` cannot be trusted: {detail}", folder.display());
            Err(io::Error::new(io::ErrorKind::PermissionDenied, what))
        }
    }
}

/// Why a folder of leases cannot be trusted.
fn problem(folder: &Path) -> io::Result<Option<String>> {
    let found = match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        found => found?,
    };
    let me = rustix::process::geteuid().as_raw();
    Ok(if !found.is_dir() {
        Some("it is not a folder".to_owned())
    } else if found.uid() != me {
        Some(format!("it belongs to another user (uid {})", found.uid()))
    } else if found.mode() & 0o022 != 0 {
        Some(format!("others may write it (mode {:03o})", found.mode() & 0o777))
    } else {
        None
    })
}

fn hold(path: &Path, note: &str) -> io::Result<Held> {
    if let Some(folder) = path.parent() {
        match DirBuilder::new().mode(0o700).create(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => checked(folder)?,
        }
    }
    let draft = Draft::new(path)?;
    flock(&draft.file, FlockOperation::LockExclusive)?;
    let pid = std::process::id();
    let started = started(pid).unwrap_or_default();
    let owner = Owner { pid, started, note: note.to_owned(), namespace: namespace() };
    // No flush: after a power cut nobody holds it, whatever it says.
    (&draft.file).write_all(&serde_json::to_vec(&owner)?)?;
    place(&draft.path, path)?;
    Ok(Held { file: draft.file.try_clone()?, path: path.to_owned() })
}

fn opened(path: &Path) -> io::Result<Option<File>> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// What a look at a lock says. The look is over when this is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lock {
    Held,
    /// Its holder died.
    Free,
    /// Its holder gave it up, and removed the file while somebody had it open to look.
    Removed,
}

fn look(file: &File) -> io::Result<Lock> {
    if !try_lock(file, FlockOperation::NonBlockingLockShared)? {
        return Ok(Lock::Held);
    }
    // Asked while locked: nobody removes a file without its exclusive lock.
    let removed = file.metadata()?.nlink() == 0;
    flock(file, FlockOperation::Unlock)?;
    Ok(if removed { Lock::Removed } else { Lock::Free })
}

fn try_lock(file: &File, operation: FlockOperation) -> io::Result<bool> {
    match flock(file, operation) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Who holds a lock that is held: the process that took it, or what it left behind.
fn alive(file: &File) -> Holder {
    match written(file) {
        // Seen from another container its process id is nobody's or somebody else's, so all that is known is the lock.
        Some(Owner { namespace: Some(theirs), .. }) if namespace().as_ref() != Some(&theirs) => {
            Holder::Alive { pid: None }
        }
        Some(owner) if started(owner.pid) == Some(owner.started) => Holder::Alive { pid: Some(owner.pid) },
        Some(_) => Holder::Ending,
        // Somebody holds it, and the careful answer is that it is alive.
        None => Holder::Alive { pid: None },
    }
}

fn written(mut file: &File) -> Option<Owner> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

fn abandoned(folder: &Path) -> io::Result<Vec<(OwnerId, String)>> {
    let files = match fs::read_dir(folder) {
        Ok(files) => files,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in files {
        let entry = entry?;
        // Files that are still being made have other names.
        let Some(owner) = entry.file_name().to_str().and_then(|name| name.parse::<OwnerId>().ok()) else {
            continue;
        };
        if let Some(file) = opened(&entry.path())?
            && look(&file)? == Lock::Free
        {
            found.push((owner, written(&file).unwrap_or_default().note));
        }
    }
    found.sort();
    Ok(found)
}

fn forget(path: &Path) -> io::Result<()> {
    let Some(file) = opened(path)? else {
        return Ok(());
    };
    for _ in 0..TRIES {
        if try_lock(&file, FlockOperation::NonBlockingLockExclusive)? {
            let (held, there) = (file.metadata()?, fs::metadata(path));
            return match there {
                Ok(there) if (held.dev(), held.ino()) == (there.dev(), there.ino()) => fs::remove_file(path),
                _ => Ok(()),
            };
        }
        if look(&file)? != Lock::Free {
            // Somebody holds it after all, or has just forgotten it.
            return Ok(());
        }
        std::thread::sleep(PAUSE);
    }
    Ok(())
}
