//! Removing the outputs of earlier attempts, so that only what this attempt writes is harvested (`R-CACHE-3`).

use std::ffi::{CStr, CString};
use std::path::Path;

use rustix::fd::{AsFd as _, BorrowedFd};
use rustix::fs::{AtFlags, Dir, Mode, OFlags};
use rustix::io::Errno;
use sprag_core::run::NodeError;

use super::beneath::{DEPTH, Root, TRIES, declared, failed, too_deep};

/// Removes declared outputs: files, folders with all they hold, and links, but never what a link leads to. What is not
/// there is no problem, and the folders around stay.
pub fn clear(root: &Path, outputs: &[String]) -> Result<(), NodeError> {
    let outputs = declared(outputs)?;
    let root = Root::new(root)?;
    for output in &outputs {
        let what = Clearing { output };
        let (folder, name) = output.rsplit_once('/').unwrap_or((".", output));
        match root.folder(folder.as_bytes()) {
            Ok(folder) => {
                let name = CString::new(name).map_err(|_| what.failed(Errno::INVAL))?;
                what.remove(folder.as_fd(), &name, 0)?;
            }
            Err(Errno::NOENT | Errno::NOTDIR) => {}
            Err(error) => return Err(what.failed(error)),
        }
    }
    Ok(())
}

struct Clearing<'output> {
    output: &'output str,
}

impl Clearing<'_> {
    /// Removes one entry of a folder. The folder is held open and no link is followed, so whatever is renamed meanwhile,
    /// nothing outside of the output is reached.
    fn remove(&self, around: BorrowedFd<'_>, name: &CStr, depth: usize) -> Result<(), NodeError> {
        if depth > DEPTH {
            return Err(too_deep(self.name()));
        }
        // Each try sees what the entry is now: it may become a file, a folder or a link between two steps.
        for _ in 0..TRIES {
            match rustix::fs::unlinkat(around, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => return Ok(()),
                Err(Errno::ISDIR) => {}
                Err(error) => return Err(self.failed(error)),
            }
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            match rustix::fs::openat(around, name, flags, Mode::empty()) {
                Ok(folder) => {
                    for name in names(folder.as_fd()).map_err(|error| self.failed(error))? {
                        self.remove(folder.as_fd(), &name, depth + 1)?;
                    }
                }
                Err(Errno::NOENT) => return Ok(()),
                Err(Errno::NOTDIR | Errno::LOOP) => continue,
                Err(error) => return Err(self.failed(error)),
            }
            match rustix::fs::unlinkat(around, name, AtFlags::REMOVEDIR) {
                Ok(()) | Err(Errno::NOENT) => return Ok(()),
                Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => {}
                Err(error) => return Err(self.failed(error)),
            }
        }
        Err(self.failed(Errno::BUSY))
    }

    fn name(&self) -> String {
        format!("removing the declared output `{}`: it", self.output)
    }

    fn failed(&self, error: Errno) -> NodeError {
        failed(self.name(), error)
    }
}

/// What a folder holds.
fn names(folder: BorrowedFd<'_>) -> Result<Vec<CString>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            names.push(entry.file_name().to_owned());
        }
    }
    Ok(names)
}
