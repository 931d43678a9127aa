//! A store that cannot be reached now and then, and does not say whether it took what it was given (`R-JRN-3`).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sprag_core::run::{Commit, RunId, Seq};
use sprag_store::{Append, Journal, StoreError};

use super::port::Keep;

/// Fails some appends of another store with `Unavailable`: by turns before they landed and after.
#[derive(Debug)]
pub struct Unsteady {
    inner: Box<dyn Keep>,
    every: u64,
    row: u64,
    appends: AtomicU64,
}

impl Unsteady {
    /// Of every so many appends the first `row` fail.
    ///
    /// # Panics
    /// When all of them would.
    pub fn new(inner: Box<dyn Keep>, every: u64, row: u64) -> Self {
        assert!(row < every, "such a store is never written");
        Self { inner, every, row, appends: AtomicU64::new(0) }
    }
}

impl Keep for Unsteady {
    fn journal(&self) -> &dyn Journal {
        self
    }

    fn brace(&mut self) -> bool {
        self.inner.brace()
    }

    fn reopen(&mut self) {
        self.inner.reopen();
    }
}

impl Journal for Unsteady {
    fn append(&self, appends: &[Append]) -> Vec<Result<Seq, StoreError>> {
        let count = self.appends.fetch_add(1, Ordering::Relaxed);
        if count % self.every >= self.row {
            return self.inner.journal().append(appends);
        }
        if (count / self.every + count % self.every) % 2 == 1 {
            // Whatever the answer is, nobody hears it.
            drop(self.inner.journal().append(appends));
        }
        let failed = || StoreError::Unavailable { retry_after: None, source: "the line is dead".into() };
        appends.iter().map(|_| Err(failed())).collect()
    }

    fn read(&self, run: RunId, after: Seq, most: usize) -> Result<Vec<Arc<Commit>>, StoreError> {
        self.inner.journal().read(run, after, most)
    }
}
