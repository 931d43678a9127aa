//! The ladder: what is done after a failed attempt of a node that has one (`R-REC-1`, `R-STATE-9`).

use crate::definition::Kind;
use crate::expr;
use crate::graph::NodeIndex;
use crate::run::class::Known;
use crate::run::entry::Entry;
use crate::run::failure::NodeError;
use crate::run::fold::Run;
use crate::run::ids::{Timestamp, attempt_id};
use crate::run::parts::{Product, Taint, Usage};
use crate::run::question::QuestionKind;
use crate::run::recovering::Chosen;
use crate::run::recovery::{LadderRules, Next, Situation, TRANSIENT_RETRIES_MAX, choose};
use crate::run::scope::Scope;

impl Run {
    /// How a node climbs the ladder, if it does.
    pub(super) fn ladder_of(&self, node: NodeIndex) -> Option<LadderRules> {
        let compiled = self.compiled(node);
        LadderRules::resolve(compiled.kind, &compiled.spec)
    }

    /// The next rung, after an attempt that is known to have cost so much.
    pub(super) fn climbs(
        &self,
        now: Timestamp,
        node: NodeIndex,
        error: NodeError,
        mut rules: LadderRules,
        cost: &Usage,
    ) -> Vec<Entry> {
        let record = &self.nodes[node.at()];
        let attempt = record.attempt;
        let climb = self.climb(node).cloned().unwrap_or_default();
        let counts = error.class() != crate::run::Class::Transient || climb.decomposing;
        let attempts = climb.attempts + u32::from(counts);
        // Work that may happen at most once and did is not done again by itself.
        let happened = self.happened_at_most_once(node);
        if happened {
            rules.max_attempts = rules.max_attempts.min(attempts.max(1));
        }
        let higher = rules.tiers.above(climb.model.as_deref()).ok();
        let decision = choose(&Situation {
            error: &error,
            rules: &rules,
            attempts,
            transient_retries: if happened { TRANSIENT_RETRIES_MAX } else { climb.transient_retries },
            used: &climb.used,
            model: climb.model.as_deref(),
            affords_higher: higher.is_none_or(|model| self.affords_model(node, model, cost)),
        });
        let next = decision.next.clone();
        let chosen = Chosen::from(decision);
        match next {
            Next::RetrySame | Next::RetryWithFeedback | Next::EscalateModel { .. } => {
                let run = self.created.as_ref().map(|created| created.run).unwrap_or_default();
                let id = attempt_id(run, &self.address(node), attempt);
                let due = now.plus(rules.delays.delay(record.rare().tries + 1, &id, error.retry_after));
                let chosen = Some(Box::new(chosen));
                vec![Entry::Failed { node, attempt, error: Box::new(error), due: Some(due), chosen }]
            }
            Next::DecomposeFurther => {
                vec![Entry::Decomposing { node, attempt, error: Box::new(error), chosen: Box::new(chosen) }]
            }
            Next::SkipWithFallback => self.falls_back(node, error, Some(chosen)),
            Next::HumanIntervention => vec![self.intervention(node, error, chosen)],
            Next::Fail => {
                let chosen = Some(Box::new(chosen));
                vec![Entry::Failed { node, attempt, error: Box::new(error), due: None, chosen }]
            }
        }
    }

    /// The node completes with its fallback, or fails for good where it has none.
    pub(super) fn falls_back(&self, node: NodeIndex, error: NodeError, chosen: Option<Chosen>) -> Vec<Entry> {
        let Some(fallback) = &self.compiled(node).spec.fallback else { return vec![self.final_failure(node, error)] };
        vec![Entry::Completed {
            node,
            attempt: self.nodes[node.at()].attempt,
            product: Some(Box::new(Product::of(fallback.0.clone()))),
            taint: Some(Box::new(Taint::Fallback(error))),
            chosen: chosen.map(Box::new),
        }]
    }

    /// A person says how to go on (`R-REC-4`).
    fn intervention(&self, node: NodeIndex, error: NodeError, chosen: Chosen) -> Entry {
        let shown = format!("`{}` failed: {} ({}); {}", self.address(node), error.message, error.code, chosen.reason);
        let mut question = self.new_question(node, QuestionKind::Intervention, shown, None);
        question.error = Some(error);
        question.chosen = Some(chosen);
        Entry::Asked(question)
    }

    /// Whether the budgets pay for an attempt on another model, once the current attempt is settled at its cost.
    fn affords_model(&self, node: NodeIndex, model: &str, cost: &Usage) -> bool {
        let expected = self.expects(node, Some(model));
        self.purses(node).all(|(_, purse)| {
            let mut after = purse.clone();
            after.settle(&node, Some(cost));
            after.fits(&expected)
        })
    }

    /// The model of the next attempt: as before, as escalated, or as the node says. It is rendered once.
    pub(super) fn model_to_start(&self, node: NodeIndex) -> Result<Option<String>, NodeError> {
        if let Some(model) = self.model_of(node) {
            return Ok(Some(model.to_owned()));
        }
        let compiled = self.compiled(node);
        let written = compiled.spec.agent.as_ref().and_then(|agent| agent.model.as_ref());
        let ladder =
            if compiled.kind == Kind::Agent || compiled.spec.recovery.is_some() { self.ladder_of(node) } else { None };
        let own = written.map(|model| expr::text(&model.0, &Scope::of_node(self, node))).transpose();
        let own =
            own.map_err(|error| NodeError::new(Known::CONDITION_ERROR, format!("`model` has no value: {error}")))?;
        let own = own.filter(|model| !model.is_empty());
        let start = ladder.as_ref().and_then(|rules| rules.tiers.start(own.as_deref())).map(str::to_owned);
        Ok(start.or(own))
    }
}
