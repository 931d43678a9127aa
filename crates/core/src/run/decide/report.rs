//! What executors say about attempts (`R-CLAIM-3`, `R-STATE-8`).

use std::sync::Arc;

use serde_json::Value;

use super::input::Refused;
use crate::graph::NodeIndex;
use crate::run::class::Known;
use crate::run::depth::is_too_deep;
use crate::run::entry::Entry;
use crate::run::failure::{Feedback, Grade, NodeError};
use crate::run::fold::Run;
use crate::run::ids::{Seq, Timestamp};
use crate::run::input::{Report, Stage};
use crate::run::parts::{Product, Usage};
use crate::run::state::NodeState;

impl Run {
    /// An outcome told twice, or one that comes after the attempt was ended otherwise, means nothing.
    pub(super) fn report(
        &self,
        now: Timestamp,
        node: NodeIndex,
        attempt: u32,
        report: &Report,
    ) -> Result<Vec<Entry>, Refused> {
        let Some(record) = self.nodes.get(node.at()).filter(|record| record.attempt >= attempt && attempt > 0) else {
            return Err(Refused::NoAttempt { node, attempt });
        };
        let stage = match report {
            Report::Produced(_) => Stage::Work,
            Report::Failed(stage, _) | Report::FailedAt(stage, ..) => *stage,
            Report::Checked => Stage::Check,
            Report::Graded { .. } => Stage::Evaluate,
            Report::Probed { .. } => Stage::Probe,
            Report::Decomposed(_) => Stage::Decompose,
        };
        let expected = record.attempt == attempt && record.state == NodeState::Running && record.stage == stage;
        // A report about what nobody was asked to do is none either: a wait, or an attempt of a dead owner.
        if !expected || record.demand == Seq(0) {
            return Ok(Vec::new());
        }
        Ok(match report {
            Report::Produced(product) | Report::Decomposed(product) => match unusable(product) {
                Some(problem) => self.failed(now, node, NodeError::new(Known::INVALID_OUTPUT, problem)),
                None => vec![self.produced(node, attempt, product)],
            },
            Report::Failed(stage, error) => self.stage_failed(now, node, *stage, error, &Usage::default()),
            Report::FailedAt(stage, error, usage) => {
                // What is no sum of money is not kept.
                let usage = if is_money(usage) { *usage } else { Usage { usd: 0.0, ..*usage } };
                let failed = self.stage_failed(now, node, *stage, error, &usage);
                [Entry::Spent { node, attempt, usage }].into_iter().chain(failed).collect()
            }
            Report::Checked => vec![Entry::Checked { node, attempt }],
            Report::Graded { grade, feedback } => self.graded(now, node, *grade, feedback.clone()),
            Report::Probed { happened } => self.probed(now, node, happened.as_ref()),
        })
    }

    fn stage_failed(
        &self,
        now: Timestamp,
        node: NodeIndex,
        stage: Stage,
        error: &NodeError,
        cost: &Usage,
    ) -> Vec<Entry> {
        match stage {
            Stage::Probe => self.probe_failed(node, error),
            _ => self.failed_at(now, node, told(error), cost),
        }
    }

    /// Work that has further stages is kept before they begin, so that a crash repeats the stage and never the work.
    pub(super) fn produced(&self, node: NodeIndex, attempt: u32, product: &Product) -> Entry {
        let splits = self.nodes[node.at()].stage == Stage::Decompose;
        if !splits && self.stage_after(node, Stage::Work) == Stage::Done {
            let product = (!product.is_empty()).then(|| Box::new(product.clone()));
            return Entry::Completed { node, attempt, product, taint: None, chosen: None };
        }
        Entry::Produced { node, attempt, product: Box::new(product.clone()) }
    }

    /// A bad grade fails the attempt (`R-REC-5`).
    pub(super) fn graded(&self, now: Timestamp, node: NodeIndex, grade: Grade, feedback: Vec<Feedback>) -> Vec<Entry> {
        if grade.fails() {
            let mut error = NodeError::new(Known::LOW_GRADE, format!("the result was graded {grade}"));
            error.grade = Some(grade);
            error.feedback = feedback;
            return self.failed(now, node, error);
        }
        vec![Entry::Graded { node, attempt: self.nodes[node.at()].attempt, grade, feedback }]
    }

    /// The probe knows: the attempt happened and this is its output, or it did not and may be tried again (`R-CLAIM-5`).
    fn probed(&self, now: Timestamp, node: NodeIndex, happened: Option<&Arc<Value>>) -> Vec<Entry> {
        let record = &self.nodes[node.at()];
        if let Some(output) = happened {
            if is_too_deep(output) {
                return self.probe_failed(node, &NodeError::new(Known::INVALID_OUTPUT, "its output nests too deep"));
            }
            let product = Product { output: output.clone(), ..Product::default() };
            return vec![self.produced(node, record.attempt, &product)];
        }
        let unknown = || NodeError::new(Known::INTERRUPTED, "the attempt did not happen");
        self.fails(now, node, record.rare().error.clone().unwrap_or_else(unknown))
    }
}

/// Why a product cannot be kept: what is stored must be read back as it was.
fn unusable(product: &Product) -> Option<&'static str> {
    let patch = product.patch.as_ref();
    if patch.is_some_and(|patch| !patch.is_object()) {
        return Some("the patch of the context is not a JSON object");
    }
    if is_too_deep(&product.output) || patch.is_some_and(|patch| is_too_deep(patch)) {
        return Some("the output or the patch of the context nests too deep");
    }
    let usage = product.usage.as_ref();
    usage.filter(|usage| !is_money(usage)).map(|_| "the cost is not an amount of money")
}

fn is_money(usage: &Usage) -> bool {
    usage.usd.is_finite() && usage.usd >= 0.0
}

/// An error as its reporter told it. Whether an attempt was interrupted is for the owner to say: the budget of
/// interruptions is not the reporter's to use.
fn told(error: &NodeError) -> NodeError {
    let mut error = error.clone();
    if error.code == Known::INTERRUPTED {
        error.code = Known::UNAVAILABLE.into();
    }
    error
}
