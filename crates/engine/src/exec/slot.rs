//! Where the four files of an attempt live: a folder on a memory file system, so that nothing touches a disk before it
//! is needed (`R-CMD-3`).

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::fs::OFlags;
use rustix::io::Errno;
use sprag_core::run::OwnerId;

/// How much is read of a file that a command wrote.
pub const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// The folder of one owner; the folders of its slots are inside. It is removed when this value is dropped, and by the
/// guard or by whoever takes over if that does not happen.
#[derive(Debug)]
pub struct SlotFolders {
    path: PathBuf,
}

impl SlotFolders {
    /// Makes the folder of an owner in the first place that can hold it: `$XDG_RUNTIME_DIR`, `/dev/shm`, or `tmp` in the
    /// state folder of the project.
    pub fn create(owner: OwnerId, state_folder: &Path) -> io::Result<Self> {
        Self::create_noted(owner, state_folder, |_| Ok(())).map(|(folders, ())| folders)
    }

    /// The same, but each path is noted before anything is there, so that whoever cleans up after a process that dies in
    /// between knows what to remove. A note about a place that cannot be used is dropped.
    pub fn create_noted<Note>(
        owner: OwnerId,
        state_folder: &Path,
        note: impl Fn(&Path) -> io::Result<Note>,
    ) -> io::Result<(Self, Note)> {
        // Commands get paths in it, and work elsewhere.
        let state_folder = std::path::absolute(state_folder)?;
        let mut why = io::Error::from(ErrorKind::NotFound);
        for place in places(&state_folder) {
            if place.starts_with(&state_folder) {
                DirBuilder::new().recursive(true).mode(0o700).create(&place)?;
            }
            let path = place.join(name(owner));
            let noted = note(&path)?;
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok((Self { path }, noted)),
                Err(error) => why = error,
            }
        }
        Err(why)
    }

    /// The folder, to be noted where a successor finds it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of one slot. Two slots never share a number at the same time.
    pub fn slot(&self, number: u32) -> SlotFolder {
        SlotFolder { base: self.path.join(number.to_string()), attempts: AtomicU64::new(0), last: Mutex::default() }
    }
}

impl Drop for SlotFolders {
    fn drop(&mut self) {
        // What is left is removed by the guard; and it is memory, so it does not outlive the machine.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes what a dead owner left, and nothing else: only a real folder of ours, with the name of that owner, directly
/// inside one of the places where such folders are made. The path may come from a record that anybody could have written.
pub fn remove_slot_folders(owner: OwnerId, path: &Path, state_folder: &Path) -> io::Result<()> {
    let state_folder = std::path::absolute(state_folder)?;
    let named = path.file_name().is_some_and(|last| last == name(owner).as_str());
    let placed = path.parent().is_some_and(|parent| places(&state_folder).iter().any(|place| place == parent));
    if !named || !placed {
        return Err(io::Error::new(ErrorKind::InvalidInput, format!("`{}` is no folder of slots", path.display())));
    }
    let kind = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    if !kind.is_dir() || kind.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::new(ErrorKind::PermissionDenied, format!("`{}` is not ours", path.display())));
    }
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn name(owner: OwnerId) -> String {
    format!("sprag-{owner}")
}

fn places(state_folder: &Path) -> Vec<PathBuf> {
    let session = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    session.into_iter().chain([PathBuf::from("/dev/shm"), state_folder.join("tmp")]).collect()
}

/// Where one slot keeps the files of its attempts, one attempt after the other.
///
/// The folder has another name for each attempt: a process that an attempt left in the background cannot write into the
/// files of the next one, since the paths it knows are gone.
#[derive(Debug)]
pub struct SlotFolder {
    base: PathBuf,
    attempts: AtomicU64,
    /// The files of the last attempt, until they are removed.
    last: Mutex<Option<Files>>,
}

impl SlotFolder {
    /// Keeps the files of an attempt that is over, so that its outcome can be told before they are removed.
    pub(super) fn keep(&self, files: Files) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(files);
    }

    /// Removes what the last attempt left.
    pub fn tidy(&self) {
        drop(self.last.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// Makes the folder of the next attempt, with its input in it.
    pub(super) fn open(&self, input: &[u8]) -> io::Result<Files> {
        self.tidy();
        let mut folder = self.base.clone().into_os_string();
        folder.push(format!("-{}", self.attempts.fetch_add(1, Ordering::Relaxed)));
        let folder = PathBuf::from(folder);
        // Some systems empty `/dev/shm` when a person logs out, so the folder around it may have to be made again.
        let create = |recursive| DirBuilder::new().mode(0o700).recursive(recursive).create(&folder);
        create(false).or_else(|error| if error.kind() == ErrorKind::NotFound { create(true) } else { Err(error) })?;
        let files = Files {
            input: folder.join("input"),
            output: folder.join("output"),
            context: folder.join("context"),
            error: folder.join("error"),
            folder,
        };
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&files.input)?.write_all(input)?;
        Ok(files)
    }
}

/// The four files of one attempt; all but the input are only names until the command writes them. They are gone when
/// this value is.
#[derive(Debug)]
pub struct Files {
    folder: PathBuf,
    pub input: PathBuf,
    pub output: PathBuf,
    pub context: PathBuf,
    pub error: PathBuf,
}

impl Drop for Files {
    fn drop(&mut self) {
        // Most commands leave nothing but the input, and two calls are cheaper than looking what is there.
        let _ = fs::remove_file(&self.input);
        if fs::remove_dir(&self.folder).is_err() {
            // A process in the background may be writing here; the next attempt has another folder anyway.
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

/// What is in a file that a command may have written, or why it is not read. It is somebody else's file: a link is not
/// followed, a pipe not waited for, and no more than [`FILE_BYTES_MAX`] read.
pub fn read_written(path: &Path) -> Result<Option<Vec<u8>>, String> {
    // The flags are small positive numbers, so nothing is lost.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = match File::options().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) if Errno::from_io_error(&error) == Some(Errno::LOOP) => return Err("it is a link".into()),
        Err(error) => return Err(format!("it cannot be read: {error}")),
    };
    let unreadable = |error: io::Error| format!("it cannot be read: {error}");
    let kind = file.metadata().map_err(unreadable)?;
    if !kind.is_file() {
        return Err("it is not a regular file".into());
    }
    let mut bytes = Vec::new();
    if kind.len() <= FILE_BYTES_MAX {
        // It may still grow while it is read.
        file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    }
    if kind.len().max(bytes.len() as u64) > FILE_BYTES_MAX {
        return Err(format!("it is larger than {} MiB", FILE_BYTES_MAX / 1024 / 1024));
    }
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::{OwnerId, SlotFolders, name, places, read_written, remove_slot_folders};

    const OWNER: &str = "0198c5f2-7b3a-7d10-8e4f-1a2b3c4d5e6f";

    #[test]
    fn only_the_folder_of_the_dead_owner_is_removed() {
        // R-CMD-3
        let state = tempfile::tempdir().unwrap();
        let owner: OwnerId = OWNER.parse().unwrap();
        let (place, elsewhere) = (state.path().join("tmp"), state.path().join("elsewhere"));
        fs::create_dir_all(&place).unwrap();
        fs::create_dir_all(elsewhere.join(name(owner))).unwrap();
        fs::create_dir_all(place.join("sprag-other")).unwrap();
        symlink(&elsewhere, place.join(name(owner))).unwrap();
        for path in [elsewhere.join(name(owner)), place.join("sprag-other"), place.join(name(owner)), place.clone()] {
            assert!(remove_slot_folders(owner, &path, state.path()).is_err(), "{}", path.display());
        }
        assert!(elsewhere.join(name(owner)).exists() && place.join("sprag-other").exists());
        fs::remove_file(place.join(name(owner))).unwrap();
        fs::create_dir_all(place.join(name(owner)).join("0-7")).unwrap();
        remove_slot_folders(owner, &place.join(name(owner)), state.path()).unwrap();
        assert!(!place.join(name(owner)).exists());
        remove_slot_folders(owner, &place.join(name(owner)), state.path()).unwrap();
    }

    #[test]
    fn every_attempt_has_an_empty_folder_of_its_own() {
        // R-CMD-3
        let state = tempfile::tempdir().unwrap();
        let folders = SlotFolders::create(OwnerId(uuid::Uuid::from_u128(u128::from(std::process::id()))), state.path());
        let folders = folders.unwrap();
        let path = folders.path().to_owned();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        let slot = folders.slot(3);
        let first = slot.open(b"{}").unwrap();
        assert_eq!(fs::read(&first.input).unwrap(), b"{}");
        let known = first.output.clone();
        fs::create_dir(first.folder.join("more")).unwrap();
        drop(first);
        assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
        let second = slot.open(b"").unwrap();
        assert!(fs::write(&known, "late").is_err(), "what the first left behind does not reach the second");
        drop((second, folders));
        assert!(!path.exists());
    }

    #[test]
    fn the_last_place_is_nobody_elses_either() {
        // R-CMD-3
        let state = tempfile::tempdir().unwrap();
        let owner = OwnerId(uuid::Uuid::new_v4());
        let mut taken = places(state.path());
        let last = taken.pop().unwrap();
        let taken: Vec<_> = taken.iter().map(|place| place.join(name(owner))).collect();
        let made: Vec<_> = taken.iter().filter(|path| fs::create_dir(path).is_ok()).collect();
        let folders = SlotFolders::create(owner, state.path());
        for path in made {
            fs::remove_dir(path).unwrap();
        }
        assert_eq!(folders.unwrap().path().parent(), Some(last.as_path()));
        assert_eq!(last.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn only_regular_files_are_read() {
        // R-CMD-1
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("output");
        assert_eq!(read_written(&path), Ok(None));
        symlink("/dev/zero", &path).unwrap();
        assert_eq!(read_written(&path), Err("it is a link".into()));
        assert_eq!(read_written(folder.path()), Err("it is not a regular file".into()));
    }
}
