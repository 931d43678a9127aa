//! Marks the commits of a run, and says which marks get a full snapshot (`R-CP-1`, `R-CP-6`).

use super::growth::Growth;
use super::id::CheckpointId;
use super::mark::{Mark, Trigger};
use super::of_run::About;
use super::record::Checkpoint;
use super::state_fold::StateFold;
use super::trigger::trigger_of;
use crate::definition::Definition;
use crate::run::{Commit, Run, Timestamp};

/// What is to be saved with a commit.
#[derive(Debug, Clone, PartialEq)]
pub struct Marked {
    /// The mark, which goes into the commit.
    pub mark: Mark,
    /// The full snapshot beside it, where one is due; [`super::encode`] makes bytes of it.
    pub full: Option<Checkpoint>,
}

/// Follows a run and marks it. It decides by the size of the state as the fold counts it, so a mark without a snapshot
/// costs nothing that grows with the run.
#[derive(Debug, Clone, PartialEq)]
pub struct Marker {
    fold: StateFold,
    growth: Growth,
    about: About,
    last: Option<Timestamp>,
}

impl Marker {
    /// The marker of a run before its first entry.
    pub fn new(definition: &Definition, about: About) -> Self {
        Self { fold: StateFold::new(definition), growth: Growth::new(), about, last: None }
    }

    /// The marker of a run that goes on: with the fold of its state, the size of its largest snapshot, and when it was
    /// last marked.
    pub const fn resumed(fold: StateFold, about: About, largest: u64, last: Option<Timestamp>) -> Self {
        Self { fold, growth: Growth::resumed(largest), about, last }
    }

    /// The state so far.
    pub const fn fold(&self) -> &StateFold {
        &self.fold
    }

    /// Takes in a commit without marking it: one that is marked already, or that a run folds to catch up.
    pub fn follow(&mut self, commit: &Commit, run: &Run) {
        for entry in &commit.entries {
            self.fold.apply(run, commit.at, entry);
        }
    }

    /// Takes in a commit that the run has just applied, and marks it if there is a reason. `link` is what the store chains
    /// its commits with.
    pub fn commit(&mut self, commit: &Commit, run: &Run, link: &[u8]) -> Option<Marked> {
        self.follow(commit, run);
        let trigger = trigger_of(run, commit, self.last)?;
        self.marked(run, commit.at, trigger, link)
    }

    /// A full snapshot because somebody wants one.
    pub fn on_demand(&mut self, run: &Run, at: Timestamp, link: &[u8]) -> Option<Marked> {
        self.marked(run, at, Trigger::OnDemand, link)
    }

    fn marked(&mut self, run: &Run, at: Timestamp, trigger: Trigger, link: &[u8]) -> Option<Marked> {
        let id = CheckpointId::new(run.definition().id.clone(), run.id()?, at, run.seq());
        let (phase, wave) = run.progress();
        let size = self.fold.bytes();
        let due = self.growth.is_due(size, trigger);
        if due {
            self.growth.wrote(size, trigger);
        }
        self.last = Some(at);
        let full = if due { Checkpoint::of(run, &self.fold, at, &self.about) } else { None };
        Some(Marked { mark: Mark::new(id, wave, phase, trigger, link), full })
    }
}
