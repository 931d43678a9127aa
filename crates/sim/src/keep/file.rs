//! A store in an SQLite file, whose owners die in several ways.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use sprag_core::run::{Commit, Entry, Fence, OwnerId, RunId, Seq, Timestamp};
use sprag_store::{Append, Journal, Sqlite, StoreError};
use tempfile::TempDir;
use uuid::Uuid;

use super::image::Image;
use super::port::Keep;
use crate::rng::Rng;

/// What an owner leaves behind.
#[derive(Debug, Clone)]
pub enum Death {
    /// It closes the store, which writes its log back.
    Closing,
    /// The files as they are after its last append: what `kill -9` leaves.
    Killed,
    /// The files as they are at some moment of its last append, drawn from here.
    Torn(Rng),
}

/// A store in an SQLite file, opened again whenever its owner dies. Nothing is flushed: processes die here, not machines.
#[derive(Debug)]
pub struct File {
    death: Death,
    opened: Opened,
    folder: TempDir,
    deaths: u32,
    braced: Option<Image>,
}

#[derive(Debug)]
struct Opened {
    // Closed before the file is left to itself.
    store: Option<Sqlite>,
    path: PathBuf,
}

impl File {
    /// A new store.
    pub fn new(death: Death) -> Self {
        static EMPTY: OnceLock<Image> = OnceLock::new();
        Self::from_image(EMPTY.get_or_init(|| made(0)), death)
    }

    /// A store whose log is almost so long that it is written back: one of the next appends does that, and the one after
    /// it starts the log again.
    pub fn about_to_write_back(death: Death) -> Self {
        static FULL: OnceLock<Image> = OnceLock::new();
        Self::from_image(FULL.get_or_init(|| made(994)), death)
    }

    fn from_image(image: &Image, death: Death) -> Self {
        let folder = folder();
        let path = folder.path().join("0.db");
        sure(image.write(&path));
        Self { death, opened: Opened::at(path), folder, deaths: 0, braced: None }
    }

    /// Where it is now, for others who open it.
    pub fn path(&self) -> &Path {
        &self.opened.path
    }
}

impl Opened {
    fn at(path: PathBuf) -> Self {
        Self { store: Some(sure(Sqlite::open(&path))), path }
    }

    fn store(&self) -> &Sqlite {
        sure(self.store.as_ref().ok_or("it is closed"))
    }
}

impl Keep for File {
    fn journal(&self) -> &dyn Journal {
        self
    }

    fn brace(&mut self) -> bool {
        let during = matches!(self.death, Death::Torn(_));
        if during {
            self.braced = Some(sure(Image::of(&self.opened.path)));
        }
        during
    }

    fn reopen(&mut self) {
        self.deaths += 1;
        let left = match (&mut self.death, self.braced.take()) {
            (Death::Closing, _) => {
                self.opened.store = None;
                self.opened = Opened::at(self.opened.path.clone());
                return;
            }
            (Death::Torn(rng), Some(before)) => before.between(&sure(Image::of(&self.opened.path)), rng),
            (Death::Killed | Death::Torn(_), _) => sure(Image::of(&self.opened.path)),
        };
        // The dead one never gets to close its store, so what it left is opened somewhere else.
        let path = self.folder.path().join(format!("{}.db", self.deaths));
        sure(left.write(&path));
        self.opened = Opened::at(path);
    }
}

impl Journal for File {
    fn append(&self, appends: &[Append]) -> Vec<Result<Seq, StoreError>> {
        let relaxed: Vec<_> = appends.iter().map(|append| Append { relaxed: true, ..append.clone() }).collect();
        self.opened.store().append(&relaxed)
    }

    fn read(&self, run: RunId, after: Seq, most: usize) -> Result<Vec<Arc<Commit>>, StoreError> {
        self.opened.store().read(run, after, most)
    }
}

/// In memory where there is such a file system: no disk wears out for a test, and none is waited for.
fn folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| sure(tempfile::tempdir()))
}

/// The files of a store with so many pages in its log.
fn made(pages: usize) -> Image {
    const PAGE_AND_HEADER: usize = 4_096 + 24;
    let folder = folder();
    let path = folder.path().join("made.db");
    let store = sure(Sqlite::open(&path));
    for first in 1.. {
        let image = sure(Image::of(&path));
        if image.log.len() >= pages * PAGE_AND_HEADER {
            return image;
        }
        for answer in store.append(&[filler(first)]) {
            sure(answer);
        }
    }
    Image::default()
}

/// The commits of a run that nobody looks at.
fn filler(first: u64) -> Append {
    let run = RunId(Uuid::from_u128(1));
    let held = vec![Entry::Held { on: true }];
    let commit = Commit::new(run, OwnerId::default(), Seq(first), Timestamp::default(), Fence(1), held);
    Append { relaxed: true, ..Append::new(run, Arc::new(commit)) }
}

/// A test without its files stops.
#[expect(clippy::panic, reason = "without its file there is no scenario")]
fn sure<T, E: Debug>(result: Result<T, E>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("the file of a store: {error:?}"),
    }
}

#[cfg(test)]
mod tests {
    use sprag_core::run::{RunId, Seq};
    use sprag_store::Journal as _;
    use uuid::Uuid;

    use super::{Death, File, filler};
    use crate::keep::Keep as _;
    use crate::keep::image::Image;

    #[test]
    fn a_log_that_is_almost_full_is_soon_written_back_and_begun_again() {
        let file = File::about_to_write_back(Death::Killed);
        let before = Image::of(file.path()).unwrap();
        let last = file.read(RunId(Uuid::from_u128(1)), Seq(0), usize::MAX).unwrap().last().unwrap().last();
        let mut images = (1..=5).map(|more| {
            file.append(&[filler(last.0 + more)]).remove(0).unwrap();
            Image::of(file.path()).unwrap()
        });
        let back = images.find(|image| image.database != before.database).unwrap();
        assert!(images.all(|image| image.log.len() == back.log.len() && image.log[..4_096] != back.log[..4_096]));
    }

    #[test]
    fn a_dead_owner_leaves_what_was_acknowledged() {
        // R-JRN-1
        for death in [Death::Closing, Death::Killed] {
            let mut file = File::new(death);
            for first in 1..=3 {
                file.journal().append(&[filler(first)]).remove(0).unwrap();
                file.reopen();
            }
            assert_eq!(file.read(RunId(Uuid::from_u128(1)), Seq(0), usize::MAX).unwrap().len(), 3);
        }
    }
}
