//! The bytes of a store's files, and what is in them at any moment of an append.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::rng::Rng;

/// Compared at a time.
const PAGE: usize = 4_096;

/// The files of a store: the database, its log, and the index of the log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Image {
    pub database: Vec<u8>,
    pub log: Vec<u8>,
    pub index: Vec<u8>,
}

impl Image {
    /// What is there. Closing a file that SQLite has open takes its locks, which only other processes would miss.
    pub fn of(path: &Path) -> io::Result<Self> {
        let read = |path: PathBuf| match fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            read => read,
        };
        Ok(Self {
            database: read(path.to_owned())?,
            log: read(beside(path, "-wal"))?,
            index: read(beside(path, "-shm"))?,
        })
    }

    /// Writes the files somewhere else; what is empty is left out.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        for (path, bytes) in
            [(path.to_owned(), &self.database), (beside(path, "-wal"), &self.log), (beside(path, "-shm"), &self.index)]
        {
            if !bytes.is_empty() {
                fs::write(path, bytes)?;
            }
        }
        Ok(())
    }

    /// What a process leaves that is killed at some moment between two images. SQLite writes the log from front to back,
    /// and when it is complete writes pages back into the database, in their order. Of the index any state will do:
    /// nobody has it open any more, so whoever is first makes it anew.
    pub fn between(&self, after: &Self, rng: &mut Rng) -> Self {
        let index = [&self.index, &after.index, &Vec::new()][usize::try_from(rng.below(3)).unwrap_or(0)].clone();
        if self.database != after.database && rng.one_in(2) {
            let database = torn(&self.database, &after.database, rng);
            return Self { database, log: after.log.clone(), index };
        }
        Self { database: self.database.clone(), log: torn(&self.log, &after.log, rng), index }
    }
}

/// New bytes up to some place where the two differ, and old ones from there on.
fn torn(old: &[u8], new: &[u8], rng: &mut Rng) -> Vec<u8> {
    // Pages at a time: these are megabytes.
    let differ = || old.chunks(PAGE).zip(new.chunks(PAGE)).enumerate().filter(|(_, (old, new))| old != new);
    let end = old.len().min(new.len());
    let first = differ().next().map_or(end, |(page, (old, new))| {
        page * PAGE + old.iter().zip(new).take_while(|(old, new)| old == new).count()
    });
    let last = if new.len() > end {
        new.len()
    } else {
        differ().next_back().map_or(first, |(page, _)| end.min((page + 1) * PAGE))
    };
    let length = (last - first) as u64;
    // What is written last makes it count, so that is where it matters most.
    let cut = match rng.below(5) {
        0 => rng.below(length.min(64) + 1),
        1 => length - rng.below(length.min(64) + 1),
        2 => length,
        _ => rng.below(length + 1),
    };
    let cut = first + usize::try_from(cut).unwrap_or(0);
    [&new[..cut], old.get(cut..).unwrap_or_default()].concat()
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::torn;
    use crate::rng::Rng;

    #[test]
    fn what_is_torn_begins_new_and_ends_old() {
        let mut rng = Rng::new(1);
        let seen: std::collections::BTreeSet<_> = (0..200).map(|_| torn(b"aabbcc", b"aaxxxccdd", &mut rng)).collect();
        let wanted: [&[u8]; 8] =
            [b"aabbcc", b"aaxbcc", b"aaxxcc", b"aaxxxc", b"aaxxxc", b"aaxxxcc", b"aaxxxccd", b"aaxxxccdd"];
        assert_eq!(seen, wanted.iter().map(|bytes| bytes.to_vec()).collect());
    }
}
