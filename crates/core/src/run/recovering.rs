//! Takes recovery into the state: what was chosen after failures, what attempts are told, and what they run on
//! (`R-REC-1`, `R-STATE-9`).

use serde::{Deserialize, Serialize};

use super::class::{Class, Known};
use super::failure::{Feedback, NodeError, Severity};
use super::fold::Run;
use super::input::Stage;
use super::parts::Usage;
use super::recovery::{Decision, Next, Passed, Strategy};
use crate::graph::NodeIndex;

/// What was chosen after a failed attempt, and why (`R-REC-3`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chosen {
    /// What comes next; nothing if the failure is final.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<Strategy>,
    /// The model that the node goes on with, where that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Why, in words for people.
    pub reason: String,
    /// The strategies that come before it and were not taken, cheapest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed: Vec<Passed>,
}

impl From<Decision> for Chosen {
    fn from(decision: Decision) -> Self {
        let strategy = decision.next.strategy();
        let model = match decision.next {
            Next::EscalateModel { model } => Some(model),
            _ => None,
        };
        Self { strategy, model, reason: decision.reason, passed: decision.passed }
    }
}

/// What an attempt starts with, where it is more than the node says.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Terms {
    /// The model it runs on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What is set aside for it in every budget around it (`R-REC-6`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reserved: Option<Usage>,
}

/// What a node that was recovered, or runs on a model, remembers.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Climb {
    /// The strategies used, in order.
    pub used: Vec<Strategy>,
    /// Failures that count towards the limit of the ladder.
    pub attempts: u32,
    /// How often it was repeated because of transient failures.
    pub transient_retries: u32,
    /// The model of the last attempt, or the one that the next attempt was escalated to.
    pub model: Option<String>,
    /// The most that an attempt on that model cost.
    pub cost: Option<Usage>,
    /// Whether the current attempt is being split into smaller tasks.
    pub decomposing: bool,
}

impl Run {
    /// The model of the current or last attempt of a node, or of the next one where it is escalated.
    pub fn model_of(&self, node: NodeIndex) -> Option<&str> {
        self.climb(node)?.model.as_deref()
    }

    /// The strategies used on a node so far, in order.
    pub fn strategies(&self, node: NodeIndex) -> &[Strategy] {
        self.climb(node).map_or(&[], |climb| climb.used.as_slice())
    }

    /// What the next attempt of a node is told to do better.
    ///
    /// It is what the last failure said. A transient failure says nothing about the work, so what was said before stays.
    pub fn feedback_of(&self, node: NodeIndex) -> &[Feedback] {
        &self.nodes[node.at()].rare().feedback
    }

    pub(super) fn climb(&self, node: NodeIndex) -> Option<&Climb> {
        self.nodes[node.at()].rare().climb.as_deref()
    }

    pub(super) fn climb_mut(&mut self, node: NodeIndex) -> &mut Climb {
        self.nodes[node.at()].rare_mut().climb.get_or_insert_default()
    }

    /// Whether a node's task is being split, and what its children are made of is what its hook gave.
    pub(super) fn is_decomposing(&self, node: NodeIndex) -> bool {
        self.climb(node).is_some_and(|climb| climb.decomposing)
    }

    /// An attempt begins on these terms.
    pub(super) fn take_terms(&mut self, node: NodeIndex, terms: Option<&Terms>) {
        if self.is_decomposing(node) {
            self.climb_mut(node).decomposing = false;
        }
        let Some(terms) = terms else { return };
        if let Some(model) = &terms.model {
            let climb = self.climb_mut(node);
            if climb.model.as_ref() != Some(model) {
                climb.model = Some(model.clone());
                climb.cost = None;
            }
        }
        if let Some(reserved) = &terms.reserved {
            self.reserve(node, reserved);
        }
    }

    /// An attempt failed, and this was chosen; without a choice only its failure counts.
    pub(super) fn remember(&mut self, node: NodeIndex, error: &NodeError, chosen: Option<&Chosen>) {
        let told = chosen.and_then(|chosen| chosen.strategy) == Some(Strategy::RetryWithFeedback);
        let rare = self.nodes[node.at()].rare_mut();
        if !error.feedback.is_empty() || error.class() != Class::Transient {
            rare.feedback.clone_from(&error.feedback);
        }
        // Whoever is to do better must know what was wrong, also where nobody but the error says it.
        let splits = chosen.and_then(|chosen| chosen.strategy) == Some(Strategy::DecomposeFurther);
        if (told || splits) && rare.feedback.is_empty() {
            rare.feedback.push(Feedback { severity: Severity::Critical, text: error.to_string() });
        }
        let Some(chosen) = chosen else {
            self.nodes[node.at()].forget(|_| {});
            return;
        };
        let climb = self.climb_mut(node);
        // A decomposition cost at least one attempt, whatever its children failed of.
        if error.class() != Class::Transient || climb.decomposing {
            climb.attempts += 1;
        }
        climb.used.extend(chosen.strategy);
        if chosen.strategy == Some(Strategy::RetrySame) {
            climb.transient_retries += 1;
        }
        if let Some(model) = &chosen.model {
            climb.model = Some(model.clone());
            climb.cost = None;
        }
    }

    /// The task of a node is split: its attempt failed, the node goes on, and its hook is owed (`R-GROW-2`).
    pub(super) fn decompose(&mut self, node: NodeIndex, error: &NodeError, chosen: &Chosen) {
        self.settle_cost(node, Some(&Usage::default()));
        self.remember(node, error, Some(chosen));
        self.climb_mut(node).decomposing = true;
        let rare = self.nodes[node.at()].rare_mut();
        rare.output = None;
        rare.patch = None;
        rare.error = Some(error.clone());
        rare.tries += 1;
        self.enter(node, Stage::Decompose);
    }

    /// Whether the end of an attempt leaves open what it cost: nobody was there to tell.
    pub(super) fn cost_is_unknown(error: &NodeError) -> bool {
        error.code == Known::INTERRUPTED
    }
}
