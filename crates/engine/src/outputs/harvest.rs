//! Taking in what an attempt wrote: declared outputs only, each with the digest of its content (`R-CACHE-3`).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{Dir, FileType, Stat};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};
use sprag_core::hash::Digest;
use sprag_core::run::{Known, NodeError};

use super::beneath::{DEPTH, Root, declared, failed, other_kind, too_deep};

/// How many files and folders one output may hold: links between folders can make few of them look like very many.
const ENTRIES: usize = 1_000_000;

/// The bytes of a file that are held at once.
const BUFFER: usize = 64 * 1024;

/// The digest of each declared output, by its path without `.` and doubled slashes.
///
/// Each must exist and be a regular file or a folder of such; links count as what they lead to and must not leave the
/// project. A digest is over (length of path, path, length of content, content) of every file, sorted by path, with
/// lengths in 8 bytes, big end first, and paths relative to the root.
///
/// `stopped` is asked now and then: what takes long must not outlive the wish for it.
pub fn harvest(
    root: &Path,
    outputs: &[String],
    stopped: &dyn Fn() -> bool,
) -> Result<BTreeMap<String, Digest>, NodeError> {
    let outputs = declared(outputs)?;
    let root = Root::new(root)?;
    let digested = |output: String| {
        let digest = Harvest { root: &root, output: &output, stopped }.digest()?;
        Ok((output, digest))
    };
    outputs.into_iter().map(digested).collect()
}

/// One declared output.
struct Harvest<'root> {
    root: &'root Root,
    output: &'root str,
    stopped: &'root dyn Fn() -> bool,
}

/// A folder that is still to be listed.
struct Open {
    path: Vec<u8>,
    /// The folders around it, as the system numbers them.
    around: Vec<(u64, u64)>,
}

impl Harvest<'_> {
    fn digest(&self) -> Result<Digest, NodeError> {
        let path = self.output.as_bytes();
        let (opened, stat) = self.open(path)?;
        let mut hasher = Sha256::new();
        if is(&stat, FileType::RegularFile) {
            self.file(&mut hasher, path, opened, &stat)?;
        } else {
            for path in self.files()? {
                let (opened, stat) = self.open(&path)?;
                if !is(&stat, FileType::RegularFile) {
                    return Err(self.changed(&path));
                }
                self.file(&mut hasher, &path, opened, &stat)?;
            }
        }
        Ok(Digest(hasher.finalize().into()))
    }

    /// A regular file or a folder, opened for reading.
    fn open(&self, path: &[u8]) -> Result<(OwnedFd, Stat), NodeError> {
        let opened = self.root.read(path).map_err(|error| self.failed(path, error))?;
        let stat = rustix::fs::fstat(&opened).map_err(|error| self.failed(path, error))?;
        if is(&stat, FileType::RegularFile) || is(&stat, FileType::Directory) {
            Ok((opened, stat))
        } else {
            Err(other_kind(self.name(path)))
        }
    }

    /// The files of the folder and of all in it, sorted. Folders are opened from the root each time, so that depth costs
    /// no open files.
    fn files(&self) -> Result<Vec<Vec<u8>>, NodeError> {
        let mut files = Vec::new();
        let mut open = vec![Open { path: self.output.as_bytes().to_owned(), around: Vec::new() }];
        let mut entries = 0;
        while let Some(Open { path, mut around }) = open.pop() {
            let (folder, stat) = self.open(&path)?;
            let number = (stat.st_dev, stat.st_ino);
            if around.contains(&number) {
                let message = format!("{} is a link to a folder around it; remove the link", self.name(&path));
                return Err(NodeError::new(Known::SCOPE_VIOLATION, message));
            }
            if around.len() > DEPTH {
                return Err(too_deep(self.name(self.output.as_bytes())));
            }
            around.push(number);
            for entry in Dir::new(folder).map_err(|error| self.failed(&path, error))? {
                let entry = entry.map_err(|error| self.failed(&path, error))?;
                let name = entry.file_name().to_bytes();
                if matches!(name, b"." | b"..") {
                    continue;
                }
                entries += 1;
                if entries > ENTRIES {
                    let name = self.name(self.output.as_bytes());
                    let message = format!("{name} holds more than {ENTRIES} files; declare less");
                    return Err(NodeError::new(Known::INVALID_OUTPUT, message));
                }
                let path = [&path, &b"/"[..], name].concat();
                let is_file = match entry.file_type() {
                    FileType::RegularFile => true,
                    FileType::Directory => false,
                    // A link, or a file system that does not say.
                    _ => is(&self.open(&path)?.1, FileType::RegularFile),
                };
                if is_file {
                    files.push(path);
                } else {
                    open.push(Open { path, around: around.clone() });
                }
            }
        }
        files.sort_unstable();
        Ok(files)
    }

    fn file(&self, hasher: &mut Sha256, path: &[u8], file: OwnedFd, stat: &Stat) -> Result<(), NodeError> {
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        hasher.update((path.len() as u64).to_be_bytes());
        hasher.update(path);
        hasher.update(size.to_be_bytes());
        let mut file = File::from(file);
        let mut buffer = vec![0; BUFFER.min(stat.st_size.try_into().unwrap_or(BUFFER)).max(1)];
        let mut left = size;
        loop {
            if (self.stopped)() {
                return Err(NodeError::new(Known::INTERRUPTED, "it was stopped while its outputs were taken in"));
            }
            let read = match file.read(&mut buffer) {
                Ok(read) => read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.failed(path, Errno::from_io_error(&error).unwrap_or(Errno::IO))),
            };
            // The length stands before the content, so it has to be true.
            match (left.checked_sub(read as u64), read) {
                (Some(0), 0) => return Ok(()),
                (None, _) | (_, 0) => return Err(self.changed(path)),
                (Some(rest), _) => left = rest,
            }
            hasher.update(&buffer[..read]);
        }
    }

    fn name(&self, path: &[u8]) -> String {
        if path == self.output.as_bytes() {
            format!("the declared output `{}`", self.output)
        } else {
            format!("`{}` in the declared output `{}`", String::from_utf8_lossy(path), self.output)
        }
    }

    fn failed(&self, path: &[u8], error: Errno) -> NodeError {
        failed(self.name(path), error)
    }

    fn changed(&self, path: &[u8]) -> NodeError {
        let message = format!("{} changed while it was read; end what still writes to it", self.name(path));
        NodeError::new(Known::INVALID_OUTPUT, message)
    }
}

fn is(stat: &Stat, kind: FileType) -> bool {
    FileType::from_raw_mode(stat.st_mode) == kind
}
