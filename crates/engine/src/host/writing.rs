//! Moves what is decided into the store and takes care of a store that cannot be written (`R-JRN-3`).

use std::time::{Duration, Instant};

use sprag_core::codes::Code;
use sprag_store::{Append, Journal, StoreError};

/// How long to wait before the same is written again, from the first failure on.
const FIRST_WAIT: Duration = Duration::from_millis(10);
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// Writes commits, and remembers whether the store takes them.
pub(super) struct Writing {
    failures: u32,
    not_before: Option<Instant>,
}

/// What became of one commit.
pub(super) enum Written {
    /// It is durable.
    Done,
    /// The store cannot be written: the same is tried again later. The first of a row of failures says why.
    Later(Option<String>),
    /// Another process owns the run.
    TakenOver,
    /// The disk failed to keep what it took: stop.
    Broken(String),
    /// What is stored is not what was written: stop.
    Damaged(Code, String),
}

/// What a round of writing showed about the store itself.
pub(super) struct Round {
    /// The outcome of each commit, in order.
    pub outcomes: Vec<Written>,
    /// Whether the store can be written again after it could not.
    pub back: bool,
}

impl Writing {
    pub const fn new() -> Self {
        Self { failures: 0, not_before: None }
    }

    /// How long until writing makes sense again, if it failed.
    pub fn patience(&self) -> Option<Duration> {
        self.not_before.map(|moment| moment.saturating_duration_since(Instant::now()))
    }

    /// Whether it is still too early to try again.
    pub fn rests(&self) -> bool {
        self.patience().is_some_and(|left| !left.is_zero())
    }

    /// Writes commits of several runs together.
    pub fn write(&mut self, journal: &dyn Journal, appends: &[Append]) -> Round {
        let answers = journal.append(appends);
        let was_failing = self.failures > 0;
        let mut failing = None;
        let mut outcomes = Vec::with_capacity(appends.len());
        for answer in answers {
            outcomes.push(match answer {
                Ok(_) => Written::Done,
                Err(StoreError::Conflict { .. } | StoreError::Fenced { .. } | StoreError::NoRun(_)) => {
                    Written::TakenOver
                }
                Err(StoreError::Unavailable { source, retry_after }) => {
                    failing =
                        failing.max(Some(retry_after.map_or(Duration::ZERO, |d| Duration::from_millis(d.millis))));
                    Written::Later((!was_failing).then(|| source.to_string()))
                }
                Err(error @ StoreError::Broken { .. }) => Written::Broken(error.to_string()),
                Err(error @ StoreError::Damaged { .. }) => Written::Damaged(Code::DAMAGED_STORE, error.to_string()),
                Err(error @ StoreError::Corrupt { .. }) => Written::Damaged(Code::CORRUPT_JOURNAL, error.to_string()),
            });
        }
        if let Some(asked) = failing {
            let wait = FIRST_WAIT.saturating_mul(1 << self.failures.min(7)).min(LONGEST_WAIT).max(asked);
            self.failures += 1;
            self.not_before = Some(Instant::now() + wait);
        } else {
            self.failures = 0;
            self.not_before = None;
        }
        let taken = outcomes.iter().any(|written| matches!(written, Written::Done));
        Round { outcomes, back: was_failing && self.failures == 0 && taken }
    }
}
