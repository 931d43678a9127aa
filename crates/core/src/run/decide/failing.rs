//! What becomes of a failed attempt: unknown, retried, replaced by a fallback, or final.

use crate::file::Semantics;
use crate::graph::NodeIndex;
use crate::run::class::{Class, Known};
use crate::run::entry::Entry;
use crate::run::failure::NodeError;
use crate::run::fold::Run;
use crate::run::ids::{Timestamp, attempt_id};
use crate::run::input::Stage;
use crate::run::level::MAX_INTERRUPTIONS;
use crate::run::parts::Usage;
use crate::run::question::QuestionKind;
use crate::run::retry::RetryRules;

impl Run {
    /// An attempt failed. Work that may happen at most once and may have happened is never repeated blindly
    /// (`R-CLAIM-5`).
    pub(super) fn failed(&self, now: Timestamp, node: NodeIndex, error: NodeError) -> Vec<Entry> {
        self.failed_at(now, node, error, &Usage::default())
    }

    /// The same of an attempt that is known to have cost so much.
    pub(super) fn failed_at(&self, now: Timestamp, node: NodeIndex, error: NodeError, cost: &Usage) -> Vec<Entry> {
        let record = &self.nodes[node.at()];
        let spec = &self.compiled(node).spec;
        let at_most_once = self.happens_at_most_once(node);
        let may_have_happened =
            [Known::INTERRUPTED, Known::TIMEOUT, Known::NETWORK].iter().any(|known| error.code == *known);
        if at_most_once && may_have_happened && record.stage == Stage::Work && !self.is_stopping(node) {
            return if spec.probe.is_some() {
                vec![Entry::Unknown { node, attempt: record.attempt, error: Box::new(error) }]
            } else {
                self.outcome_unknown(node, &error)
            };
        }
        self.fails_at(now, node, error, cost)
    }

    /// A probe that fails knows nothing either, so a person is asked.
    pub(super) fn probe_failed(&self, node: NodeIndex, probe: &NodeError) -> Vec<Entry> {
        let rare = self.nodes[node.at()].rare();
        let mut error = rare.error.clone().unwrap_or_else(|| NodeError::new(Known::INTERRUPTED, "interrupted"));
        if self.is_stopping(node) {
            return vec![self.final_failure(node, error)];
        }
        error.message = format!("{}; its probe failed: {}", error.message, probe.message);
        self.outcome_unknown(node, &error)
    }

    fn outcome_unknown(&self, node: NodeIndex, error: &NodeError) -> Vec<Entry> {
        let shown =
            format!("`{}` may or may not have happened: {} ({})", self.address(node), error.message, error.code);
        let mut question = self.new_question(node, QuestionKind::UnknownOutcome, shown, None);
        question.error = Some(error.clone());
        vec![Entry::Asked(question)]
    }

    /// A failed attempt is tried again, replaced by the node's fallback, or final (`R-RETRY-1`, `R-CLAIM-4`, `R-REC-2`).
    pub(super) fn fails(&self, now: Timestamp, node: NodeIndex, error: NodeError) -> Vec<Entry> {
        self.fails_at(now, node, error, &Usage::default())
    }

    fn fails_at(&self, now: Timestamp, node: NodeIndex, error: NodeError, cost: &Usage) -> Vec<Entry> {
        let attempt = self.nodes[node.at()].attempt;
        // Under a stop nothing is tried again and nobody is asked, and interruptions have a way of their own.
        if !self.is_stopping(node)
            && error.code != Known::INTERRUPTED
            && let Some(rules) = self.ladder_of(node)
        {
            return self.climbs(now, node, error, rules, cost);
        }
        if !self.is_stopping(node)
            && let Some(due) = self.retry_due(now, node, &error)
        {
            return vec![Entry::Failed { node, attempt, error: Box::new(error), due: Some(due), chosen: None }];
        }
        if Class::of(&error.code) == Class::Unrecoverable {
            return vec![self.final_failure(node, error)];
        }
        self.falls_back(node, error, None)
    }

    pub(super) fn final_failure(&self, node: NodeIndex, error: NodeError) -> Entry {
        Entry::Failed { node, attempt: self.nodes[node.at()].attempt, error: Box::new(error), due: None, chosen: None }
    }

    fn happens_at_most_once(&self, node: NodeIndex) -> bool {
        self.compiled(node).spec.semantics.unwrap_or_default() == Semantics::AtMostOnce
    }

    /// Work that may happen at most once did happen if a later stage fails.
    pub(super) fn happened_at_most_once(&self, node: NodeIndex) -> bool {
        let stage = self.nodes[node.at()].stage;
        stage != Stage::Work && stage != Stage::Probe && self.happens_at_most_once(node)
    }

    /// When the next attempt is due, if there is to be one.
    fn retry_due(&self, now: Timestamp, node: NodeIndex, error: &NodeError) -> Option<Timestamp> {
        let record = &self.nodes[node.at()];
        if error.code == Known::INTERRUPTED {
            // Interruptions have a limit of their own; those that a person resumed are forgiven.
            let forgiven = self.ownership.is_none_or(|ownership| ownership.person);
            let so_far = self.interruptions.get(&node).copied().unwrap_or(0) + u32::from(!forgiven);
            let limit = self.level(node).policy.max_interruptions.unwrap_or(MAX_INTERRUPTIONS);
            return (so_far <= limit).then_some(now);
        }
        if self.happened_at_most_once(node) {
            return None;
        }
        let rules = RetryRules::resolve(self.compiled(node).spec.retry.as_deref());
        let tries = record.rare().tries + 1;
        if tries >= rules.max_attempts || !rules.wants(&error.code) {
            return None;
        }
        let run = self.created.as_ref()?.run;
        let id = attempt_id(run, &self.address(node), record.attempt);
        Some(now.plus(rules.delay(tries, &id, error.retry_after)))
    }
}
