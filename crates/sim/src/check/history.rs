//! What is judged, and the verdict.

use std::fmt;
use std::sync::Arc;

use sprag_core::definition::Definition;
use sprag_core::graph::NodeIndex;
use sprag_core::run::{Commit, Entry, Seq, Timestamp};
use sprag_engine::Reply;

use super::{attempts, edges, ending, journal, moves, people, rest, retries, schedule, stopping};
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

    /// The name of a node, for a verdict.
    pub(super) fn name(&self, node: NodeIndex) -> &'run str {
        if node.at() < self.definition.graph.len() { self.definition.graph.id(node).as_str() } else { "?" }
    }
}

/// Verdicts as they are found.
#[derive(Debug, Default)]
pub(super) struct Verdicts(pub Vec<Violation>);

impl Verdicts {
    pub fn add(&mut self, invariant: &'static str, seq: Seq, what: impl Into<String>) {
        self.0.push(Violation { invariant, seq: seq.0, what: what.into() });
    }
}

/// Every promise that a history breaks; it may have been cut off after any commit.
pub fn check(history: &History<'_>) -> Vec<Violation> {
    let mut verdicts = Verdicts::default();
    journal::check(history, &mut verdicts);
    moves::check(history, &mut verdicts);
    // What follows reads the journal as a story about known nodes; without that there is nothing to judge.
    if verdicts.0.iter().any(|verdict| verdict.what.contains("no such node")) {
        return verdicts.0;
    }
    attempts::check(history, &mut verdicts);
    retries::check(history, &mut verdicts);
    edges::check(history, &mut verdicts);
    schedule::check(history, &mut verdicts);
    stopping::check(history, &mut verdicts);
    ending::check(history, &mut verdicts);
    people::check(history, &mut verdicts);
    verdicts.0
}

/// The same for a run in which nothing happens by itself any more: it is over, or only a person can move it (L1).
pub fn check_at_rest(history: &History<'_>) -> Vec<Violation> {
    let mut verdicts = Verdicts(check(history));
    rest::check(history, &mut verdicts);
    verdicts.0
}
