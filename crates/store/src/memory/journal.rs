//! Journals in memory.

use std::sync::Arc;

use sprag_core::run::{Commit, Fence, RunId, Seq, Summary};

use super::state::Memory;
use crate::error::StoreError;
use crate::journal::{Append, Journal};

#[derive(Debug, Default)]
pub(super) struct Rows {
    pub number: u64,
    pub summary: Option<Box<Summary>>,
    last: Seq,
    fence: Fence,
    commits: Vec<Arc<Commit>>,
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
        if let Some(summary) = &append.summary {
            self.summary = Some(summary.clone());
        }
        Ok(self.last)
    }
}

impl Journal for Memory {
    fn append(&self, appends: &[Append]) -> Vec<Result<Seq, StoreError>> {
        let mut state = self.state();
        appends
            .iter()
            .map(|append| match state.runs.get_mut(&append.run) {
                Some(rows) => rows.append(append),
                None if append.commit.first == Seq(1) => {
                    let number = state.created.len() as u64 + 1;
                    let mut rows = Rows { number, ..Rows::default() };
                    let last = rows.append(append)?;
                    state.runs.insert(append.run, rows);
                    state.created.push(append.run);
                    Ok(last)
                }
                None => Err(StoreError::NoRun(append.run)),
            })
            .collect()
    }

    fn read(&self, run: RunId, after: Seq, most: usize) -> Result<Vec<Arc<Commit>>, StoreError> {
        let state = self.state();
        let rows = state.runs.get(&run).ok_or(StoreError::NoRun(run))?;
        Ok(rows.commits[rows.position(after.next())..].iter().take(most).cloned().collect())
    }
}
