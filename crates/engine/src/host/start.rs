//! A process that drives runs: its lease, its guard, its threads.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use sprag_core::definition::Definition;
use sprag_core::run::{OwnerId, RunId};
use sprag_store::{Lease, Store, StoreError};
use uuid::Uuid;

use super::coordinator::{Coordinator, Event};
use super::follower::Follower;
use super::functions::Functions;
use super::owned::Owned;
use super::secrets::Secrets;
use super::slots::Slots;
use super::tail::Tail;
use crate::driver::Driver;
use crate::exec::SlotFolders;
use crate::guard::{self, Guard, GuardProgram};

/// Where runs are executed.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The project's root: commands start here, and paths are relative to it.
    pub root: PathBuf,
    /// The folder for logs, and for what has no memory file system to live on.
    pub state: PathBuf,
    /// What `call` nodes may name.
    pub functions: Functions,
    /// The program that ends children when this process dies. Without one, whoever takes a run over ends them.
    pub guard: Option<GuardProgram>,
}

/// Drives runs for this process until it is dropped.
#[derive(Debug)]
pub struct Host {
    owner: OwnerId,
    inbox: Sender<Event>,
    thread: Option<JoinHandle<()>>,
    store: Store,
    root: PathBuf,
}

/// A run to drive.
#[derive(Debug)]
pub struct Begin {
    /// The run.
    pub run: RunId,
    /// The workflow.
    pub definition: Arc<Definition>,
    /// Its driver, made for this host's owner.
    pub driver: Driver,
}

/// The guard of a process, started with its first command (`R-CMD-2`).
pub(super) struct Guarding {
    owner: OwnerId,
    program: Option<GuardProgram>,
    folder: PathBuf,
    state: PathBuf,
    guard: Option<Guard>,
    lease: Box<dyn Lease>,
}

impl Guarding {
    /// Makes sure that the guard runs.
    pub fn begin(&mut self) -> std::io::Result<()> {
        let Some(program) = &self.program else { return Ok(()) };
        if !self.guard.as_mut().is_some_and(Guard::is_alive) {
            let lock = self.lease.shared().transpose().map_err(std::io::Error::other)?;
            self.guard = Some(Guard::start(self.owner, lock, &self.folder, &self.state, program)?);
        }
        Ok(())
    }

    /// Ends what commands left behind, and then the lease.
    pub fn end(self) {
        // What a guard that was killed cannot do any more is done here.
        if self.guard.is_some_and(|guard| guard.finish().is_err()) {
            drop(guard::clean_up_after(self.owner, &self.folder, &self.state));
        }
        drop(self.lease);
    }
}

impl Host {
    /// Takes a lease for this process and starts driving.
    pub fn start(store: Store, surroundings: Surroundings) -> Result<Self, StoreError> {
        let owner = OwnerId(Uuid::new_v4());
        let unavailable = |error: std::io::Error| StoreError::Unavailable { retry_after: None, source: error.into() };
        clean_up_all(&store, &surroundings.state);
        let hold =
            |folders: &Path| store.leases.hold(owner, &folders.display().to_string()).map_err(std::io::Error::other);
        let (folders, lease) = SlotFolders::create_noted(owner, &surroundings.state, hold).map_err(unavailable)?;
        let (inbox, events) = channel();
        let guarding = Guarding {
            owner,
            program: surroundings.guard.clone(),
            folder: folders.path().to_owned(),
            state: surroundings.state.clone(),
            guard: None,
            lease,
        };
        let root = surroundings.root.clone();
        let slots = Slots::new(folders, inbox.clone());
        let coordinator = Coordinator::new(owner, store.clone(), surroundings, events, slots, guarding);
        let thread = std::thread::Builder::new().name("runs".into()).spawn(move || coordinator.run());
        Ok(Self { owner, inbox, thread: Some(thread.map_err(unavailable)?), store, root })
    }

    /// Who this process is to the journals.
    pub const fn owner(&self) -> OwnerId {
        self.owner
    }

    /// Drives a run, and lets the caller follow it.
    pub fn begin(&self, begin: Begin) -> Follower {
        let Begin { run, definition, driver } = begin;
        let tail = Arc::new(Tail::default());
        let seen = driver.durable_seq();
        let secrets = Secrets::new(&definition, self.root.clone());
        let owned = Owned::new(run, driver, definition, Arc::clone(&tail), secrets);
        // If the thread is gone the tail never ends by itself.
        if self.inbox.send(Event::Begin(Box::new(owned))).is_err() {
            tail.finish(super::Outcome::Faulty("the thread that drives runs has ended".into()));
        }
        Follower::new(run, seen, tail, Arc::clone(&self.store.journal))
    }

    /// Starts nothing more; each run is let go when what it runs has ended (`R-GATE-3`).
    pub fn leave(&self) {
        drop(self.inbox.send(Event::Leave));
    }

    /// Kills what runs and lets every run go.
    pub fn stop(&self) {
        drop(self.inbox.send(Event::Stop));
    }
}

/// On return nothing runs any more and the lease is free.
impl Drop for Host {
    fn drop(&mut self) {
        drop(self.inbox.send(Event::Close));
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// Ends what a dead process left behind, so that nothing of it overlaps with what comes next.
pub fn clean_up(store: &Store, owner: OwnerId, state: &Path) -> Result<(), StoreError> {
    match store.leases.abandoned()?.into_iter().find(|(abandoned, _)| *abandoned == owner) {
        Some((owner, note)) => clean_up_one(store, owner, &note, state),
        None => Ok(()),
    }
}

/// The same for every dead process, since nobody takes over a run that had already ended when its owner was killed. What
/// cannot be ended now is met again by whoever takes over.
fn clean_up_all(store: &Store, state: &Path) {
    for (owner, note) in store.leases.abandoned().unwrap_or_default() {
        drop(clean_up_one(store, owner, &note, state));
    }
}

fn clean_up_one(store: &Store, owner: OwnerId, note: &str, state: &Path) -> Result<(), StoreError> {
    // A process that only applied a verb has no slots, started nothing and noted nothing.
    if !note.is_empty() {
        let cleaned = guard::clean_up_after(owner, Path::new(note), state);
        // A process that cannot be ended must not meet its successor.
        cleaned.map_err(|error| StoreError::Unavailable { retry_after: None, source: error.into() })?;
    }
    store.leases.forget(owner)
}
