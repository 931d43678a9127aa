//! Stores and rows for the tests, and processes that use them.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use sprag_core::run::{Commit, Entry, Fence, OwnerId, RunId, Seq, Timestamp};
use sprag_store::{Append, Store, StoreError};
use tempfile::TempDir;
use uuid::Uuid;

/// A folder for one store.
pub struct Place {
    folder: TempDir,
}

impl Place {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("sprag.db")
    }

    pub fn open(&self) -> Store {
        Store::sqlite(&self.path()).unwrap()
    }

    /// A connection as anybody may have one.
    pub fn tamper(&self, sql: &str) {
        rusqlite::Connection::open(self.path()).unwrap().execute_batch(sql).unwrap();
    }
}

/// Where the leases of a store are.
pub fn leases(place: &Place) -> PathBuf {
    place.folder().join("sprag.db.owners")
}

pub fn run(number: u8) -> RunId {
    RunId(Uuid::from_bytes([number; 16]))
}

pub fn owner(number: u8) -> OwnerId {
    OwnerId(Uuid::from_bytes([number; 16]))
}

/// A commit of one entry by an owner.
pub fn commit(number: u8, by: u8, first: u64) -> Arc<Commit> {
    let at = Timestamp::from_millis(1_769_851_800_250);
    Arc::new(Commit::new(run(number), owner(by), Seq(first), at, Fence(1), vec![Entry::Held { on: true }]))
}

pub fn append(store: &Store, number: u8, by: u8, first: u64) -> Result<Seq, StoreError> {
    store.journal.append(&[Append::new(run(number), commit(number, by, first))]).remove(0)
}

/// A run of so many commits of one entry.
pub fn filled(store: &Store, number: u8, commits: u64) {
    for first in 1..=commits {
        append(store, number, 1, first).unwrap();
    }
}

pub fn last(store: &Store, number: u8) -> u64 {
    store.journal.read(run(number), Seq(0), usize::MAX).unwrap().last().map_or(0, |commit| commit.last().0)
}

const STORE: &str = "SPRAG_TEST_STORE";

/// This test program again, running one test that finds its store in the environment.
pub fn process(test: &str, path: &Path) -> Child {
    process_within(&["env"], test, path)
}

/// The same, started by a program that is given before it.
pub fn process_within(program: &[&str], test: &str, path: &Path) -> Child {
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).arg(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(STORE, path);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

/// The store of a test that runs in a process of its own; nothing when it is run like any other test.
pub fn in_process() -> Option<Store> {
    std::env::var_os(STORE).map(|path| Store::sqlite(Path::new(&path)).unwrap())
}

/// What a process says, line by line, without what the test runner says.
pub fn said(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    lines.filter_map(|line| line.split_once("said ").map(|(_, what)| what.to_owned()))
}
