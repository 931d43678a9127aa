//! What is judged, and the verdict.

use std::fmt;
use std::sync::Arc;

use sprag_core::definition::Definition;
use sprag_core::run::{Commit, Entry, Seq, Timestamp};
use sprag_engine::Reply;

use super::case::Case;
use super::{
    attempts, edges, ending, growth, journal, money, moves, people, recovery, rest, retries, schedule, stopping, timing,
};
use crate::world::Execution;

/// A run as the outside world has it: finished, or interrupted anywhere.
#[derive(Debug, Clone, Copy)]
pub struct History<'run> {
    /// The workflow, as data.
    pub definition: &'run Definition,
    /// Everything that is durable.
    pub commits: &'run [Arc<Commit>],
    /// Everything that was executed.
    pub ledger: &'run [Execution],
    /// Everything that was acknowledged.
    pub replies: &'run [Reply],
    /// How many attempts its owners may have running.
    pub slots: u32,
}

/// A promise that a history breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The promise: the number of an invariant, or the id of a rule.
    pub invariant: &'static str,
    /// The entry that shows it; 0 when it is about the whole.
    pub seq: u64,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} at {}: {}", self.invariant, self.seq, self.what)
    }
}

/// One entry with what its commit says about it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'run> {
    pub seq: Seq,
    pub at: Timestamp,
    pub commit: usize,
    pub entry: &'run Entry,
}

impl<'run> History<'run> {
    /// All entries in order. They are numbered as the commits say, even if that is wrong.
    pub(super) fn lines(&self) -> impl Iterator<Item = Line<'run>> + use<'run> {
        self.commits.iter().enumerate().flat_map(|(number, commit)| {
            commit.entries.iter().zip(commit.first.0..).map(move |(entry, seq)| Line {
                seq: Seq(seq),
                at: commit.at,
                commit: number,
                entry,
            })
        })
    }
}

/// Verdicts as they are found.
#[derive(Debug, Default)]
pub(super) struct Verdicts(pub Vec<Violation>);

impl Verdicts {
    pub fn add(&mut self, invariant: &'static str, seq: Seq, what: impl Into<String>) {
        self.0.push(Violation { invariant, seq: seq.0, what: what.into() });
    }

    fn names_known_nodes(&self) -> bool {
        !self.0.iter().any(|verdict| verdict.what.contains("no such node"))
    }
}

/// Every promise that a history breaks; it may have been cut off after any commit.
pub fn check(history: &History<'_>) -> Vec<Violation> {
    judged(&Case::of(history)).0
}

/// The same for a run in which nothing happens by itself any more: it is over, or only a person can move it (L1).
pub fn check_at_rest(history: &History<'_>) -> Vec<Violation> {
    let case = Case::of(history);
    let mut verdicts = judged(&case);
    if case.senseless.is_none() {
        rest::check(&case, &mut verdicts);
        if verdicts.names_known_nodes() {
            money::check_at_rest(&case, &mut verdicts);
        }
    }
    verdicts.0
}

fn judged(case: &Case<'_>) -> Verdicts {
    let mut verdicts = Verdicts::default();
    journal::check(case, &mut verdicts);
    if let Some((seq, what)) = &case.senseless {
        verdicts.add("R-GROW-1", *seq, what.clone());
        return verdicts;
    }
    moves::check(case, &mut verdicts);
    // What follows reads the journal as a story about known nodes; without that there is nothing to judge.
    if !verdicts.names_known_nodes() {
        return verdicts;
    }
    attempts::check(case, &mut verdicts);
    retries::check(case, &mut verdicts);
    recovery::check(case, &mut verdicts);
    money::check(case, &mut verdicts);
    edges::check(case, &mut verdicts);
    schedule::check(case, &mut verdicts);
    stopping::check(case, &mut verdicts);
    timing::check(case, &mut verdicts);
    growth::check(case, &mut verdicts);
    ending::check(case, &mut verdicts);
    people::check(case, &mut verdicts);
    verdicts
}
