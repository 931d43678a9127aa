//! The reference: a store in memory. Every other store is compared with it.

mod journal;
mod rest;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sprag_core::hash::Digest;
use sprag_core::run::{Command, OwnerId, RunId};

/// A store in memory.
#[derive(Debug, Default)]
pub struct Memory {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    runs: BTreeMap<RunId, journal::Rows>,
    /// In the order of their creation.
    created: Vec<RunId>,
    mail: Vec<(RunId, Command)>,
    blobs: BTreeMap<Digest, Vec<u8>>,
    leases: BTreeSet<OwnerId>,
}

impl Memory {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }
}

/// What changes the state changes it whole under the lock, so a panic elsewhere cannot leave half of it.
fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
