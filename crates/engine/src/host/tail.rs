//! The newest durable commits of a run, for whoever listens. A slow listener falls behind and reads the journal instead;
//! it never blocks the run (`R-STATE-3`).

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sprag_core::run::{Commit, Seq};

use super::outcome::{Notice, Outcome};

/// How many commits are kept for listeners. Each may hold outputs of many nodes, so there are few.
const KEPT: usize = 64;

/// How often listeners are woken. Each time costs the thread that drives as much as deciding a node does.
const WOKEN_EVERY: Duration = Duration::from_millis(5);

/// The end of a run's journal, as far as it is durable.
#[derive(Debug, Default)]
pub struct Tail {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    recent: VecDeque<Arc<Commit>>,
    last: Seq,
    woken: Option<Instant>,
    notices: VecDeque<Notice>,
    outcome: Option<Outcome>,
}

/// What a listener gets.
#[derive(Debug, Default)]
pub struct News {
    /// Commits after the one that the listener has seen, in order.
    pub commits: Vec<Arc<Commit>>,
    /// Whether older ones are no longer here: read the journal instead.
    pub behind: bool,
    /// What a person should know.
    pub notices: Vec<Notice>,
    /// How it ended, once there is nothing more to come.
    pub outcome: Option<Outcome>,
}

impl Tail {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A commit became durable.
    pub fn push(&self, commit: Arc<Commit>) {
        let mut state = self.state();
        state.last = commit.last();
        state.recent.push_back(commit);
        if state.recent.len() > KEPT {
            state.recent.pop_front();
        }
        // Whoever waits wakes up by itself before long, so what comes in quick succession is heard together.
        let due = state.woken.is_none_or(|woken| woken.elapsed() >= WOKEN_EVERY);
        if due {
            state.woken = Some(Instant::now());
        }
        drop(state);
        if due {
            self.changed.notify_all();
        }
    }

    /// A person should know something.
    pub fn notice(&self, notice: Notice) {
        self.state().notices.push_back(notice);
        self.changed.notify_all();
    }

    /// Nothing more will come.
    pub fn finish(&self, outcome: Outcome) {
        self.state().outcome.get_or_insert(outcome);
        self.changed.notify_all();
    }

    /// What came after an entry; waits for something until the time is over.
    pub fn after(&self, seen: Seq, patience: Duration) -> News {
        let until = Instant::now() + patience;
        let mut state = self.state();
        while state.last <= seen && state.notices.is_empty() && state.outcome.is_none() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return News::default();
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        let behind = state.last > seen && state.recent.front().is_none_or(|oldest| oldest.first > seen.next());
        let fresh = state.recent.iter().filter(|commit| commit.last() > seen);
        let commits = if behind { Vec::new() } else { fresh.cloned().collect() };
        let notices = state.notices.drain(..).collect();
        let outcome = state.outcome.clone().filter(|_| !behind);
        News { commits, behind, notices, outcome }
    }
}
