//! Listing runs.

use serde::Serialize;
use sprag_core::run::{RunId, RunStatus, Summary};
use sprag_store::{Filter, Holder, Listed};

use super::find;
use crate::engine::Engine;
use crate::error::EngineError;

/// The state of a run as people see it: what the journal tells, and whether anybody is there (`R-STATE-7`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the states")]
pub enum RunState {
    Created,
    Running,
    Paused,
    Interrupted,
    Completed,
    Failed,
    Cancelled,
}

impl RunState {
    /// All states, in the order of a run's life.
    pub const ALL: [Self; 7] =
        [Self::Created, Self::Running, Self::Paused, Self::Interrupted, Self::Completed, Self::Failed, Self::Cancelled];

    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Interrupted => "interrupted",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// The words under which the catalog may hold a run in this state.
    const fn stored(self) -> &'static [&'static str] {
        match self {
            Self::Created => &["created"],
            Self::Running => &["running"],
            Self::Paused => &["paused"],
            Self::Interrupted => &["created", "running"],
            Self::Completed => &["completed"],
            Self::Failed => &["failed"],
            Self::Cancelled => &["cancelled"],
        }
    }

    /// Whether it can go on in place.
    pub const fn is_resumable(self) -> bool {
        matches!(self, Self::Interrupted | Self::Paused)
    }

    /// The state of a run, given whether its owner is alive.
    pub(super) const fn of(status: RunStatus, alive: bool) -> Self {
        use sprag_core::run::EndStatus;
        match status {
            RunStatus::Created | RunStatus::Running if !alive => Self::Interrupted,
            RunStatus::Created => Self::Created,
            RunStatus::Running => Self::Running,
            RunStatus::Paused(_) => Self::Paused,
            RunStatus::Ended(EndStatus::Completed) => Self::Completed,
            RunStatus::Ended(EndStatus::Failed) => Self::Failed,
            RunStatus::Ended(EndStatus::Cancelled) => Self::Cancelled,
        }
    }
}

/// A run in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct RunLine {
    /// What the catalog holds.
    pub listed: Listed,
    /// Its state.
    pub state: RunState,
}

/// Runs with more nodes than this are listed as they were a second before they were interrupted.
const REFRESHED: u32 = 10_000;

/// Runs, newest first, in one of these states (all, if none is named). The number to give as `before` for the next page
/// comes with them, if there may be more.
pub fn list(
    engine: &Engine,
    states: &[RunState],
    mut filter: Filter,
) -> Result<(Vec<RunLine>, Option<u64>), EngineError> {
    let wanted = filter.most;
    filter.statuses = states.iter().flat_map(|state| state.stored()).copied().collect();
    filter.statuses.sort_unstable();
    filter.statuses.dedup();
    let mut lines = Vec::new();
    loop {
        let page = engine.store.catalog.list(&filter)?;
        let more = page.len() == filter.most;
        for mut listed in page {
            filter.before = Some(listed.number);
            let state = RunState::of(listed.summary.status, is_alive(engine, &listed.summary)?);
            if state == RunState::Interrupted && listed.summary.counts.nodes <= REFRESHED {
                // Whoever was killed could not say the last word; a run that cannot be read is listed all the same.
                listed.summary = summary(engine, listed.run).unwrap_or(listed.summary);
            }
            if states.is_empty() || states.contains(&state) {
                lines.push(RunLine { listed, state });
            }
            if lines.len() == wanted {
                return Ok((lines, filter.before));
            }
        }
        if !more {
            return Ok((lines, None));
        }
    }
}

/// A run in one line, as it is now: a list may be a second behind.
pub fn summary(engine: &Engine, run: RunId) -> Result<Summary, EngineError> {
    if let Some(listed) = engine.store.catalog.find(run)?
        && matches!(listed.summary.status, RunStatus::Ended(_))
    {
        return Ok(listed.summary);
    }
    let summary = find::fold(&engine.store, run)?.run().summary();
    summary.ok_or_else(|| EngineError::definition("the journal has no beginning"))
}

/// Whether somebody runs it. Asking costs a lock, so it is asked only where it matters.
pub(super) fn is_alive(engine: &Engine, summary: &Summary) -> Result<bool, EngineError> {
    match (summary.status, summary.owner) {
        (RunStatus::Ended(_), _) | (_, None) => Ok(false),
        (_, Some(owner)) => Ok(matches!(engine.store.leases.holder(owner)?, Holder::Alive { .. })),
    }
}
