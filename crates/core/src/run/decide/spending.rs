//! Money: what attempts may cost, who waits for more, and what people say to that (`R-REC-6`).

use serde_json::Value;

use crate::definition::Kind;
use crate::file::OnExceeded;
use crate::graph::NodeIndex;
use crate::run::class::Known;
use crate::run::entry::Entry;
use crate::run::failure::NodeError;
use crate::run::fold::Run;
use crate::run::ids::QuestionId;
use crate::run::parts::Usage;
use crate::run::question::{Question, QuestionKind, shown_digest};
use crate::run::recovery::{Allowance, Exceeded, expected};

/// What the budgets say to an attempt.
pub(super) enum Payment {
    /// Nothing has to be set aside.
    Free,
    /// This is set aside.
    Reserved(Usage),
    /// It is not paid for now, and a person may change that.
    Waits(Usage),
    /// It is not paid for.
    Refused(NodeError),
}

impl Run {
    /// What an attempt is expected to cost: what earlier attempts in this run did on the same model, else what the ledger
    /// of earlier runs says of the node, else the most that the model can cost.
    pub(super) fn expects(&self, node: NodeIndex, model: Option<&str>) -> Usage {
        let Some(created) = self.created.as_deref() else { return Usage::default() };
        let climb = self.climb(node);
        let same = climb.filter(|climb| climb.model.as_deref() == model);
        // The ledger knows the model that the node starts with, not those that it was escalated to.
        let escalated = climb.is_some_and(|climb| climb.used.contains(&crate::run::recovery::Strategy::EscalateModel))
            || climb.is_some_and(|climb| climb.model.is_some() && climb.model.as_deref() != model);
        let known = if created.expected.is_empty() || escalated {
            None
        } else {
            created.expected.get(&self.address(node)).copied()
        };
        let ledger = same.and_then(|climb| climb.cost).or(known);
        expected(ledger.as_ref(), model.and_then(|model| created.model_maximum.get(model)))
    }

    /// Whether the budgets around a node pay for its next attempt.
    pub(super) fn pays(&self, node: NodeIndex, model: Option<&str>) -> Payment {
        if self.purses(node).next().is_none() {
            return Payment::Free;
        }
        let cost = self.expects(node, model);
        if self.compiled(node).kind != Kind::Agent && cost == Usage::default() {
            return Payment::Free;
        }
        let mut short = self.purses(node).filter(|(_, purse)| !purse.fits(&cost)).peekable();
        let Some((_, purse)) = short.peek() else { return Payment::Reserved(cost) };
        let exceeded = Exceeded { expected: cost, left: purse.left() };
        let fails = |at: usize| {
            let budget = self.levels[at].policy.budget.as_ref();
            budget.and_then(|budget| budget.on_exceeded).unwrap_or_default() == OnExceeded::Fail
        };
        if self.no_more_money || short.any(|(at, _)| fails(at)) {
            let error = NodeError::new(Known::BUDGET_EXCEEDED, format!("the budget does not pay for it: {exceeded}"));
            return Payment::Refused(error);
        }
        Payment::Waits(cost)
    }

    /// One question for all nodes that wait for money; it closes by itself when none does any more.
    pub(super) fn asks_for_money(&self) -> Option<Entry> {
        match (self.money_question, self.withheld.first_key_value()) {
            (None, Some((node, expected))) => Some(Entry::Asked(Box::new(self.budget_question(*node, *expected)))),
            _ => None,
        }
    }

    /// The question about money that nobody needs an answer to any more.
    pub(super) fn no_longer_asked(&self) -> Option<Entry> {
        let question = self.money_question.filter(|_| self.withheld.is_empty())?;
        Some(Entry::Closed { question })
    }

    fn budget_question(&self, node: NodeIndex, expected: Usage) -> Question {
        let left = self.purses(node).find(|(_, purse)| !purse.fits(&expected)).map(|(_, purse)| purse.left());
        let exceeded = Exceeded { expected, left: left.unwrap_or_default() };
        let more = self.withheld.len() - 1;
        let others = if more == 0 { String::new() } else { format!(" ({more} more wait)") };
        let shown = format!("the budget does not pay for `{}`{others}: {exceeded}", self.address(node));
        let run = self.created.as_ref().map(|created| created.run).unwrap_or_default();
        Question {
            id: QuestionId(self.next_question),
            kind: QuestionKind::Budget,
            node: None,
            attempt: 0,
            digest: shown_digest(run, "", 0, &shown, &Value::Null, None),
            shown,
            form: None,
            approvers: Vec::new(),
            error: None,
            chosen: None,
            expires: None,
        }
    }

    /// By how much the budget is raised. Each budget that a waiting node is short of is raised by all of it.
    pub(super) fn raised(&self, by: Allowance) -> Vec<Entry> {
        let short = self.withheld.iter().flat_map(|(node, expected)| {
            self.purses(*node).filter(|(_, purse)| !purse.fits(expected)).map(|(at, _)| at)
        });
        let short: std::collections::BTreeSet<_> = short.collect();
        short.into_iter().map(|at| Entry::BudgetRaised { inside: self.levels[at].parent, by }).collect()
    }
}

/// What a person allows more: tokens, dollars or both, and at least one of them more than nothing.
pub(super) fn read_raise(data: Option<&Value>) -> Result<Allowance, String> {
    let wrong =
        || "`raise` needs data such as {\"tokens\": 1000, \"usd\": 0.5}, at least one more than nothing".to_owned();
    let by: Allowance = data.and_then(|data| serde_json::from_value(data.clone()).ok()).ok_or_else(wrong)?;
    let sound = by.usd.is_none_or(|usd| usd.is_finite() && usd >= 0.0);
    let more = by.tokens.is_some_and(|tokens| tokens > 0) || by.usd.is_some_and(|usd| usd > 0.0);
    if sound && more { Ok(by) } else { Err(wrong()) }
}
