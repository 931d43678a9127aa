//! Opening what lies beneath the root of the project, and nothing else, whoever renames what meanwhile.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::path::Path;

use rustix::fd::{AsFd as _, OwnedFd};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use sprag_core::run::{Known, NodeError};

/// How often something is tried that others can spoil by renaming at the same moment.
pub(super) const TRIES: usize = 32;

/// How often a path is looked up again: any rename anywhere on the machine can spoil a link that holds `..`.
const LOOKUPS: usize = 10_000;

/// How deep folders of an output may nest: each level costs an open file while it is removed.
pub(super) const DEPTH: usize = 128;

/// The root of the project. Paths are relative to it, with `/` between names.
pub(super) struct Root(OwnedFd);

impl Root {
    pub(super) fn new(root: &Path) -> Result<Self, NodeError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::openat(CWD, root, flags, Mode::empty());
        folder.map(Self).map_err(|error| failed("the project's root", error))
    }

    /// Opens a file or folder to read it. Links are followed as long as they stay beneath the root; those that do not
    /// are [`Errno::XDEV`].
    pub(super) fn read(&self, path: &[u8]) -> Result<OwnedFd, Errno> {
        // Without blocking, because a pipe would wait for somebody to write to it.
        self.open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)
    }

    /// Opens a folder to remove something in it.
    pub(super) fn folder(&self, path: &[u8]) -> Result<OwnedFd, Errno> {
        self.open(path, OFlags::PATH | OFlags::DIRECTORY)
    }

    fn open(&self, path: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        for _ in 0..LOOKUPS {
            match rustix::fs::openat2(&self.0, path, flags | OFlags::CLOEXEC, Mode::empty(), resolve) {
                Err(Errno::AGAIN | Errno::INTR) => std::thread::yield_now(),
                // An old kernel, or a sandbox that does not know the call.
                Err(Errno::NOSYS | Errno::PERM) => return self.walk(path, flags),
                result => return result,
            }
        }
        Err(Errno::AGAIN)
    }

    /// Name by name, without following any link: stricter than the kernel's own way, never laxer.
    pub(super) fn walk(&self, path: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
        let mut folder = None;
        let mut names = path.split(|byte| *byte == b'/').peekable();
        while let Some(name) = names.next() {
            let around = folder.as_ref().map_or(self.0.as_fd(), OwnedFd::as_fd);
            let flags = if names.peek().is_some() { OFlags::PATH | OFlags::DIRECTORY } else { flags };
            let opened = rustix::fs::openat(around, name, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty());
            match opened {
                Ok(opened) => folder = Some(opened),
                Err(Errno::NOTDIR | Errno::LOOP) if is_link(around, name) => return Err(Errno::XDEV),
                Err(error) => return Err(error),
            }
        }
        folder.ok_or(Errno::NOENT)
    }
}

fn is_link(around: rustix::fd::BorrowedFd<'_>, name: &[u8]) -> bool {
    rustix::fs::statat(around, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
}

/// Declared outputs in the form in which they are opened and kept: sorted, no two alike, without `.` and doubled
/// slashes. The loader has refused what is refused here; this is the last door before files are removed.
pub(super) fn declared(outputs: &[String]) -> Result<BTreeSet<String>, NodeError> {
    let refused = |output: &str, why: &str| {
        let message = format!("the declared output `{output}` {why}; declare a file or folder inside the project");
        Err(NodeError::new(Known::SCOPE_VIOLATION, message))
    };
    let tidy = |output: &String| {
        let names: Vec<_> = output.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
        match names.first() {
            _ if output.starts_with('/') => refused(output, "is an absolute path"),
            _ if output.contains('\0') => refused(&output.replace('\0', "\\0"), "holds a NUL byte"),
            _ if names.contains(&"..") => refused(output, "holds `..`"),
            None => refused(output, "names nothing inside the project"),
            Some(&".sprag") => refused(output, "belongs to sprag"),
            Some(_) => Ok(names.join("/")),
        }
    };
    outputs.iter().map(tidy).collect()
}

/// The failure of an attempt because of a file.
pub(super) fn failed(what: impl Display, error: Errno) -> NodeError {
    match error {
        Errno::XDEV | Errno::LOOP => NodeError::new(
            Known::SCOPE_VIOLATION,
            format!("{what} leaves the project through a link; write the file itself, or link to one of the project"),
        ),
        Errno::NXIO | Errno::NODEV => other_kind(what),
        Errno::NOENT | Errno::NOTDIR => NodeError::new(Known::INVALID_OUTPUT, format!("{what} does not exist")),
        Errno::ACCESS | Errno::PERM | Errno::ROFS => {
            let message = format!("{what} cannot be touched ({}); change its permissions", std::io::Error::from(error));
            NodeError::new(Known::PERMISSION_DENIED, message)
        }
        error => NodeError::new(Known::UNAVAILABLE, format!("{what} failed ({})", std::io::Error::from(error))),
    }
}

/// The failure of an attempt that made something which cannot be kept.
pub(super) fn other_kind(what: impl Display) -> NodeError {
    let message = format!("{what} is neither a regular file nor a folder; remove it, or declare less");
    NodeError::new(Known::SCOPE_VIOLATION, message)
}

/// The failure of an attempt whose folders nest too deep.
pub(super) fn too_deep(what: impl Display) -> NodeError {
    NodeError::new(Known::INVALID_OUTPUT, format!("{what} nests more than {DEPTH} folders; remove it, or declare less"))
}
