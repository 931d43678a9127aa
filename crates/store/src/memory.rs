//! The reference: journals in memory. Every other store is compared with it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sprag_core::run::{Commit, Fence, RunId, Seq};

use crate::error::StoreError;
use crate::journal::{Append, Journal};

/// Journals in memory.
#[derive(Debug, Default)]
pub struct MemoryJournal {
    runs: Mutex<BTreeMap<RunId, Rows>>,
}

#[derive(Debug, Default)]
struct Rows {
    last: Seq,
    fence: Fence,
    commits: Vec<Arc<Commit>>,
}

impl MemoryJournal {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// A commit is applied whole under the lock, so a panic elsewhere cannot leave half of one.
    fn runs(&self) -> MutexGuard<'_, BTreeMap<RunId, Rows>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rows {
    /// The position of the commit that holds an entry, or the one after it.
    fn position(&self, seq: Seq) -> usize {
        self.commits.partition_point(|commit| commit.last() < seq)
    }

    fn append(&mut self, append: &Append) -> Result<Seq, StoreError> {
        let commit = &append.commit;
        // Most commits are new ones at the end, and looking for those would touch a cold row at every step.
        if commit.first <= self.last {
            let landed = self.commits.get(self.position(commit.first));
            let same = |landed: &&Arc<Commit>| (landed.first, landed.id) == (commit.first, commit.id);
            if let Some(landed) = landed.filter(same).filter(|landed| landed.last() == commit.last()) {
                return Ok(landed.last());
            }
        }
        if commit.fence < self.fence {
            return Err(StoreError::Fenced { held: commit.fence, current: self.fence });
        }
        if commit.first != self.last.next() || commit.entries.is_empty() {
            return Err(StoreError::Conflict { expected: Seq(commit.first.0.saturating_sub(1)), actual: self.last });
        }
        self.fence = commit.fence;
        self.last = commit.last();
        self.commits.push(Arc::clone(commit));
        Ok(self.last)
    }
}

impl Journal for MemoryJournal {
    fn append(&self, appends: &[Append]) -> Vec<Result<Seq, StoreError>> {
        let mut runs = self.runs();
        appends
            .iter()
            .map(|append| match runs.get_mut(&append.run) {
                Some(rows) => rows.append(append),
                None if append.commit.first == Seq(1) => {
                    let mut rows = Rows::default();
                    let last = rows.append(append)?;
                    runs.insert(append.run, rows);
                    Ok(last)
                }
                None => Err(StoreError::NoRun(append.run)),
            })
            .collect()
    }

    fn read(&self, run: RunId, after: Seq) -> Result<Vec<Arc<Commit>>, StoreError> {
        let runs = self.runs();
        let rows = runs.get(&run).ok_or(StoreError::NoRun(run))?;
        Ok(rows.commits[rows.position(after.next())..].to_vec())
    }
}
