//! What work does when it is executed.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use sprag_core::file::{Duration, ErrorCode};
use sprag_core::run::{Grade, NodeError, Product, Report, Stage, Usage};

use crate::chance::Chance;

/// How one execution ends.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The work is done.
    Produces(Product),
    /// The work fails.
    Fails(NodeError),
    /// The work fails, and costs something all the same.
    FailsAt(NodeError, Usage),
    /// It never ends by itself.
    Hangs,
}

impl Outcome {
    /// Work that is done, with this output.
    pub fn output(output: Value) -> Self {
        Self::Produces(Product::of(output))
    }

    /// Work that is done and patches the context.
    pub fn patch(patch: Value) -> Self {
        Self::Produces(Product { patch: Some(Arc::new(patch)), ..Product::default() })
    }

    /// Work that fails with this code. A text that is no code fails with `INTERNAL`, which no scenario expects.
    pub fn fails(code: &str) -> Self {
        let code = ErrorCode::new(code).unwrap_or_else(|_| sprag_core::run::Known::INTERNAL.into());
        Self::Fails(NodeError::new(code, "as the script says"))
    }
}

/// What nodes do, attempt by attempt. Attempts that a crash cut short do not count.
#[derive(Debug, Clone, Default)]
pub struct Script {
    outcomes: BTreeMap<String, Vec<Outcome>>,
    lengths: BTreeMap<String, Duration>,
    grades: BTreeMap<String, Vec<Grade>>,
    checks: BTreeMap<String, Vec<bool>>,
    probes: BTreeMap<String, Vec<Result<Option<Value>, NodeError>>>,
    decompositions: BTreeMap<String, Vec<Outcome>>,
    /// What decides where nothing is scripted.
    pub(crate) chance: Option<Chance>,
    ended: BTreeMap<(String, Stage), usize>,
}

impl Script {
    /// The outcomes of a node, in order; the last one repeats. Unscripted work is done and has no output.
    pub fn node(&mut self, node: &str, outcomes: impl IntoIterator<Item = Outcome>) {
        self.outcomes.insert(node.to_owned(), outcomes.into_iter().collect());
    }

    /// How long each execution of a node takes.
    pub fn length(&mut self, node: &str, length: Duration) {
        self.lengths.insert(node.to_owned(), length);
    }

    /// The grades that a node's results get.
    pub fn grades(&mut self, node: &str, grades: impl IntoIterator<Item = Grade>) {
        self.grades.insert(node.to_owned(), grades.into_iter().collect());
    }

    /// Whether a node's outputs fit their schemas.
    pub fn checks(&mut self, node: &str, fits: impl IntoIterator<Item = bool>) {
        self.checks.insert(node.to_owned(), fits.into_iter().collect());
    }

    /// What a node's probe finds out.
    pub fn probes(&mut self, node: &str, found: impl IntoIterator<Item = Result<Option<Value>, NodeError>>) {
        self.probes.insert(node.to_owned(), found.into_iter().collect());
    }

    /// What a node's `decompose` hook comes to, one attempt after the other.
    pub fn decomposes(&mut self, node: &str, outcomes: impl IntoIterator<Item = Outcome>) {
        self.decompositions.insert(node.to_owned(), outcomes.into_iter().collect());
    }

    pub(crate) fn length_of(&self, node: &str) -> Option<Duration> {
        self.lengths.get(node).copied()
    }

    pub(crate) fn hangs(&self, node: &str) -> bool {
        self.outcome(&self.outcomes, node, Stage::Work) == Some(Outcome::Hangs)
    }

    /// What an execution reports when it ends; that attempt is then used up.
    pub(crate) fn report(&mut self, node: &str, stage: Stage) -> Report {
        let report = match stage {
            Stage::Work => match self.outcome(&self.outcomes, node, stage) {
                Some(Outcome::Produces(product)) => Report::Produced(product),
                Some(Outcome::Fails(error)) => Report::Failed(stage, error),
                Some(Outcome::FailsAt(error, usage)) => Report::FailedAt(stage, error, usage),
                Some(Outcome::Hangs) | None => Report::Produced(Product::default()),
            },
            Stage::Decompose => match self.split(node) {
                Some(Outcome::Produces(product)) => Report::Decomposed(product),
                Some(Outcome::Fails(error)) => Report::Failed(stage, error),
                Some(Outcome::FailsAt(error, usage)) => Report::FailedAt(stage, error, usage),
                Some(Outcome::Hangs) | None => Report::Decomposed(Product::default()),
            },
            Stage::Evaluate => {
                let drawn = self.drawn(node, stage, Chance::grade);
                let grade = self.next(&self.grades, node, stage).copied().or(drawn).unwrap_or(Grade::A);
                Report::Graded { grade, feedback: Vec::new() }
            }
            Stage::Probe => {
                let drawn = self.drawn(node, stage, Chance::found);
                match self.next(&self.probes, node, stage).cloned().or(drawn) {
                    Some(Ok(found)) => Report::Probed { happened: found.map(Arc::new) },
                    Some(Err(error)) => Report::Failed(stage, error),
                    None => Report::Probed { happened: None },
                }
            }
            Stage::Check | Stage::Grow | Stage::Children | Stage::Gate | Stage::Done => {
                let drawn = self.drawn(node, stage, Chance::fits);
                if self.next(&self.checks, node, stage).copied().or(drawn).unwrap_or(true) {
                    Report::Checked
                } else {
                    let error = NodeError::new(sprag_core::run::Known::SCHEMA_MISMATCH, "it does not fit");
                    Report::Failed(stage, error)
                }
            }
        };
        *self.ended.entry((node.to_owned(), stage)).or_default() += 1;
        report
    }

    /// What an execution reported was lost with the owner, so the next one reports the same.
    pub(crate) fn take_back(&mut self, node: &str, stage: Stage) {
        if let Some(ended) = self.ended.get_mut(&(node.to_owned(), stage)) {
            *ended = ended.saturating_sub(1);
        }
    }

    /// How the work of a node ends: as scripted, or as it happens.
    fn outcome(&self, of: &BTreeMap<String, Vec<Outcome>>, node: &str, stage: Stage) -> Option<Outcome> {
        self.next(of, node, stage).cloned().or_else(|| self.drawn(node, stage, Chance::outcome))
    }

    fn split(&self, node: &str) -> Option<Outcome> {
        let scripted = self.next(&self.decompositions, node, Stage::Decompose).cloned();
        scripted.or_else(|| self.drawn(node, Stage::Decompose, Chance::split))
    }

    fn drawn<T>(&self, node: &str, stage: Stage, of: fn(Chance, &str, usize) -> T) -> Option<T> {
        Some(of(self.chance?, node, self.turn(node, stage).min(3)))
    }

    fn turn(&self, node: &str, stage: Stage) -> usize {
        self.ended.get(&(node.to_owned(), stage)).copied().unwrap_or(0)
    }

    fn next<'script, T>(
        &'script self,
        of: &'script BTreeMap<String, Vec<T>>,
        node: &str,
        stage: Stage,
    ) -> Option<&'script T> {
        let outcomes = of.get(node)?;
        outcomes.get(self.turn(node, stage)).or_else(|| outcomes.last())
    }
}
