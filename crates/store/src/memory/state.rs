//! What a store in memory holds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sprag_core::hash::Digest;
use sprag_core::run::{Command, OwnerId, RunId};

use super::journal::Rows;

/// A store in memory.
#[derive(Debug, Default)]
pub struct Memory {
    pub(super) state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub runs: BTreeMap<RunId, Rows>,
    /// In the order of their creation.
    pub created: Vec<RunId>,
    pub mail: Vec<(RunId, Command)>,
    pub blobs: BTreeMap<Digest, Vec<u8>>,
    pub leases: BTreeSet<OwnerId>,
}

impl Memory {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }
}

/// What changes the state changes it whole under the lock, so a panic elsewhere cannot leave half of it.
pub(super) fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
