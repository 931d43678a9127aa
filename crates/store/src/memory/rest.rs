//! The other ports in memory.

use std::fs::File;
use std::sync::{Arc, Mutex};

use sprag_core::hash::Digest;
use sprag_core::run::{Command, CommandId, OwnerId, RunId};

use super::state::{Memory, State, locked};
use crate::blobs::Blobs;
use crate::catalog::{Catalog, Filter, Listed};
use crate::error::StoreError;
use crate::leases::{Holder, Lease, Leases};
use crate::mailbox::Mailbox;

impl Mailbox for Memory {
    fn send(&self, run: RunId, command: &Command) -> Result<(), StoreError> {
        let mut state = self.state();
        if !state.mail.iter().any(|(_, waiting)| waiting.id == command.id) {
            state.mail.push((run, command.clone()));
        }
        Ok(())
    }

    fn waiting(&self) -> Result<Vec<(RunId, Command)>, StoreError> {
        Ok(self.state().mail.clone())
    }

    fn remove(&self, commands: &[CommandId]) -> Result<(), StoreError> {
        self.state().mail.retain(|(_, waiting)| !commands.contains(&waiting.id));
        Ok(())
    }
}

impl Blobs for Memory {
    fn put(&self, bytes: &[u8]) -> Result<Digest, StoreError> {
        let digest = Digest::of(bytes);
        self.state().blobs.entry(digest).or_insert_with(|| bytes.to_vec());
        Ok(digest)
    }

    fn get(&self, digest: Digest) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.state().blobs.get(&digest).cloned())
    }

    fn has(&self, digest: Digest) -> Result<bool, StoreError> {
        Ok(self.state().blobs.contains_key(&digest))
    }
}

impl Catalog for Memory {
    fn list(&self, filter: &Filter) -> Result<Vec<Listed>, StoreError> {
        let state = self.state();
        let fits = |listed: &Listed| {
            let summary = &listed.summary;
            (filter.statuses.is_empty() || filter.statuses.contains(&summary.status.as_str()))
                && filter.workflow.as_ref().is_none_or(|workflow| summary.workflow.as_str() == workflow)
                && filter.since.is_none_or(|since| summary.started_at >= since)
                && filter.before.is_none_or(|before| listed.number < before)
        };
        let all = state.created.iter().rev().filter_map(|run| listed(*run, state.runs.get(run)?));
        Ok(all.filter(fits).take(filter.most).collect())
    }

    fn find(&self, run: RunId) -> Result<Option<Listed>, StoreError> {
        Ok(self.state().runs.get(&run).and_then(|rows| listed(run, rows)))
    }

    fn starting_with(&self, prefix: &str, most: usize) -> Result<Vec<RunId>, StoreError> {
        let state = self.state();
        let all = state.created.iter().rev().filter(|run| run.to_string().starts_with(prefix));
        Ok(all.take(most).copied().collect())
    }
}

fn listed(run: RunId, rows: &super::journal::Rows) -> Option<Listed> {
    Some(Listed { number: rows.number, run, summary: rows.summary.as_deref()?.clone() })
}

/// Whoever shares a store in memory shares the process, so a lease lives exactly as long as its holder.
impl Leases for Memory {
    fn hold(&self, owner: OwnerId, _note: &str) -> Result<Box<dyn Lease>, StoreError> {
        self.state().leases.insert(owner);
        Ok(Box::new(Held { state: Arc::clone(&self.state), owner }))
    }

    fn holder(&self, owner: OwnerId) -> Result<Holder, StoreError> {
        let held = self.state().leases.contains(&owner);
        Ok(if held { Holder::Alive { pid: Some(std::process::id()) } } else { Holder::Nobody })
    }

    fn abandoned(&self) -> Result<Vec<(OwnerId, String)>, StoreError> {
        Ok(Vec::new())
    }

    fn forget(&self, _owner: OwnerId) -> Result<(), StoreError> {
        Ok(())
    }
}

struct Held {
    state: Arc<Mutex<State>>,
    owner: OwnerId,
}

impl Drop for Held {
    fn drop(&mut self) {
        locked(&self.state).leases.remove(&self.owner);
    }
}

impl Lease for Held {
    fn shared(&self) -> Option<Result<File, StoreError>> {
        None
    }
}
