//! Follows one run that this process drives.

use std::sync::Arc;
use std::time::Duration;

use sprag_core::run::{Commit, RunId, Seq};
use sprag_store::{Journal, StoreError};

use super::outcome::{Notice, Outcome};
use super::tail::{News, Tail};

/// How many commits are read at once by a listener that fell behind.
const PAGE: usize = 256;

/// A listener's place in a run: every durable commit is seen once, in order.
pub struct Follower {
    run: RunId,
    seen: Seq,
    tail: Arc<Tail>,
    journal: Arc<dyn Journal>,
}

impl std::fmt::Debug for Follower {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Follower").field("run", &self.run).field("seen", &self.seen).finish_non_exhaustive()
    }
}

/// What a follower hears.
#[derive(Debug, Default)]
pub struct Heard {
    /// Commits, in order.
    pub commits: Vec<Arc<Commit>>,
    /// What a person should know.
    pub notices: Vec<Notice>,
    /// How it ended, once everything was heard.
    pub outcome: Option<Outcome>,
}

impl Follower {
    pub(super) const fn new(run: RunId, seen: Seq, tail: Arc<Tail>, journal: Arc<dyn Journal>) -> Self {
        Self { run, seen, tail, journal }
    }

    /// The run.
    pub const fn run(&self) -> RunId {
        self.run
    }

    /// What happened since the last time; waits for something until the time is over.
    pub fn next(&mut self, patience: Duration) -> Result<Heard, StoreError> {
        let News { mut commits, behind, notices, outcome } = self.tail.after(self.seen, patience);
        if behind {
            commits = self.journal.read(self.run, self.seen, PAGE)?;
        }
        if let Some(last) = commits.last() {
            self.seen = last.last();
        }
        Ok(Heard { commits, notices, outcome })
    }

    /// Waits for the end, and hears nothing of the way to it.
    pub fn outcome(&mut self) -> Outcome {
        loop {
            match self.next(Duration::from_mins(1)) {
                Ok(Heard { outcome: Some(outcome), .. }) => return outcome,
                Ok(_) => {}
                Err(error) => return Outcome::Unavailable(error.to_string()),
            }
        }
    }
}
