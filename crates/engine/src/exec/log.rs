//! The log of an attempt: both streams as they arrive (`R-CMD-2`).

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// How long a log may get.
const LOG_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// A file that is created by its first byte. What goes wrong with it never fails the work: whoever reads it sees where
/// something is missing.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    file: Option<File>,
    bytes: u64,
    bytes_max: u64,
    /// Whether something could not be written since the last byte that was.
    gap: bool,
}

impl Log {
    /// A log that does not exist yet.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), file: None, bytes: 0, bytes_max: LOG_BYTES_MAX, gap: false }
    }

    /// Adds what arrived.
    pub fn add(&mut self, chunk: &[u8]) {
        if chunk.is_empty() || self.bytes > self.bytes_max {
            return;
        }
        let room = usize::try_from(self.bytes_max - self.bytes).unwrap_or(usize::MAX);
        let (kept, cut) = chunk.split_at(chunk.len().min(room));
        if self.write(kept).is_err() {
            self.gap = true;
            return;
        }
        self.bytes += kept.len() as u64;
        if !cut.is_empty() {
            // One more than fits: nothing is written after this.
            self.bytes = self.bytes_max + 1;
            let mebibytes = self.bytes_max / 1024 / 1024;
            let line = format!("\n[sprag: the rest was cut, a log holds at most {mebibytes} MiB]\n");
            let _ = self.write(line.as_bytes());
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(open(&self.path)?),
        };
        if self.gap {
            file.write_all(b"\n[sprag: output is missing here, the log could not be written]\n")?;
            self.gap = false;
        }
        file.write_all(bytes)
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600);
    match (options.open(path), path.parent()) {
        (Err(error), Some(parent)) if error.kind() == ErrorKind::NotFound => {
            DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
            options.open(path)
        }
        (outcome, _) => outcome,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use super::Log;

    #[test]
    fn the_first_byte_creates_it_and_the_last_one_is_known() {
        // R-CMD-2, R-CMD-3
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("logs/run/1.log");
        let mut log = Log { bytes_max: 10, ..Log::new(&path) };
        log.add(b"");
        assert!(!path.exists());
        log.add(b"0123456");
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!((mode(&folder.path().join("logs")), mode(&folder.path().join("logs/run"))), (0o700, 0o700));
        log.add(b"789");
        log.add(b"a");
        log.add(b"b");
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, "0123456789\n[sprag: the rest was cut, a log holds at most 0 MiB]\n");
    }

    #[test]
    fn what_could_not_be_written_is_said() {
        // R-CMD-2
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("1.log");
        fs::create_dir(&path).unwrap();
        let mut log = Log::new(&path);
        log.add(b"lost");
        fs::remove_dir(&path).unwrap();
        log.add(b"kept");
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, "\n[sprag: output is missing here, the log could not be written]\nkept");
    }
}
