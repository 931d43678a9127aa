//! The lease port: a kernel lock on a file of its own for each process, in `owners` beside the database (`R-CLAIM-2`).
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
use super::error::unavailable;
use super::open::Sqlite;
use super::process::started;
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
        let Some(file) = opened(&self.owner(owner)).map_err(unavailable)? else {
            return Ok(Holder::Nobody);
        };
        match look(&file).map_err(unavailable)? {
            Lock::Held => Ok(alive(&file)),
            Lock::Free | Lock::Removed => Ok(Holder::Nobody),
        }
    }

    fn abandoned(&self) -> Result<Vec<(OwnerId, String)>, StoreError> {
        abandoned(&self.owners()).map_err(unavailable)
    }

    fn forget(&self, owner: OwnerId) -> Result<(), StoreError> {
        forget(&self.owner(owner)).map_err(unavailable)
    }
}

impl Sqlite {
    fn owners(&self) -> PathBuf {
        self.path.with_file_name("owners")
    }

    fn owner(&self, owner: OwnerId) -> PathBuf {
        self.owners().join(owner.to_string())
    }
}

fn hold(path: &Path, note: &str) -> io::Result<Held> {
    if let Some(folder) = path.parent() {
        match DirBuilder::new().mode(0o700).create(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    let draft = Draft::new(path)?;
    flock(&draft.file, FlockOperation::LockExclusive)?;
    let pid = std::process::id();
    let owner = Owner { pid, started: started(pid).unwrap_or_default(), note: note.to_owned() };
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
