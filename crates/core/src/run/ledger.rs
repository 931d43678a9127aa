//! The ledger: every attempt with how it came about, what it ran on, what it cost and what became of it (`R-REC-3`). It is
//! read off the journal and kept nowhere else.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::entry::Entry;
use super::ids::Timestamp;
use super::parts::{Taint, Usage};
use super::question::QuestionKind;
use super::recovering::Chosen;
use super::recovery::{Passed, Strategy};
use crate::file::ErrorCode;
use crate::graph::NodeIndex;

/// One line of a node's ledger: an attempt, or what the ladder did instead of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LedgerRow {
    /// The attempt; a decomposition, a fallback and a question have that of the attempt that failed.
    pub attempt: u32,
    /// How it came about; nothing for a first attempt and where no ladder chose.
    pub strategy: Option<Strategy>,
    /// Why.
    pub reason: Option<String>,
    /// What was passed over for it, cheapest first.
    pub passed: Vec<Passed>,
    /// The model.
    pub model: Option<String>,
    /// What it cost.
    pub usage: Usage,
    /// When it began.
    pub started: Timestamp,
    /// When it ended.
    pub ended: Option<Timestamp>,
    /// What became of it.
    pub outcome: LedgerOutcome,
}

/// What became of an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LedgerOutcome {
    /// It is under way.
    Running,
    /// It gave the node its result.
    Completed,
    /// It failed with this code.
    Failed(ErrorCode),
    /// It was taken out.
    Cancelled,
}

/// The ledgers of all nodes that were ever tried, from the entries of a journal and the time of their commits.
pub fn ledger<'entry>(
    entries: impl IntoIterator<Item = (Timestamp, &'entry Entry)>,
) -> BTreeMap<NodeIndex, Vec<LedgerRow>> {
    let mut book = Book::default();
    for (at, entry) in entries {
        book.read(at, entry);
    }
    book.rows
}

#[derive(Default)]
struct Book {
    rows: BTreeMap<NodeIndex, Vec<LedgerRow>>,
    /// What was chosen for the next attempt.
    chosen: BTreeMap<NodeIndex, Chosen>,
}

impl Book {
    fn read(&mut self, at: Timestamp, entry: &Entry) {
        match entry {
            Entry::Started { node, attempt, terms, .. } => {
                let model = terms.as_ref().and_then(|terms| terms.model.clone());
                let chosen = self.chosen.remove(node);
                self.open(at, *node, *attempt, chosen.as_ref(), model);
            }
            Entry::Spent { node, usage, .. } => self.costs(*node, usage),
            Entry::Produced { node, product, .. } => self.costs(*node, &product.usage.unwrap_or_default()),
            Entry::Completed { node, attempt, product, taint, chosen } => {
                if let (Some(Taint::Fallback(error)), Some(chosen)) = (taint.as_deref(), chosen) {
                    self.close(at, *node, &LedgerOutcome::Failed(error.code.clone()));
                    self.open(at, *node, *attempt, Some(chosen), None);
                }
                self.costs(*node, &product.as_ref().and_then(|product| product.usage).unwrap_or_default());
                self.close(at, *node, &LedgerOutcome::Completed);
            }
            Entry::Failed { node, error, chosen, .. } => {
                self.close(at, *node, &LedgerOutcome::Failed(error.code.clone()));
                if let Some(chosen) = chosen {
                    self.chosen.insert(*node, (**chosen).clone());
                }
            }
            Entry::Decomposing { node, attempt, error, chosen } => {
                self.close(at, *node, &LedgerOutcome::Failed(error.code.clone()));
                self.open(at, *node, *attempt, Some(chosen), None);
            }
            Entry::Asked(question) if question.kind == QuestionKind::Intervention => {
                let (Some(node), Some(error)) = (question.node, &question.error) else { return };
                self.close(at, node, &LedgerOutcome::Failed(error.code.clone()));
                self.open(at, node, question.attempt, question.chosen.as_ref(), None);
            }
            Entry::Cancelled { node, .. } => self.close(at, *node, &LedgerOutcome::Cancelled),
            _ => {}
        }
    }

    fn open(&mut self, at: Timestamp, node: NodeIndex, attempt: u32, chosen: Option<&Chosen>, model: Option<String>) {
        self.rows.entry(node).or_default().push(LedgerRow {
            attempt,
            strategy: chosen.and_then(|chosen| chosen.strategy),
            reason: chosen.map(|chosen| chosen.reason.clone()),
            passed: chosen.map(|chosen| chosen.passed.clone()).unwrap_or_default(),
            model,
            usage: Usage::default(),
            started: at,
            ended: None,
            outcome: LedgerOutcome::Running,
        });
    }

    fn costs(&mut self, node: NodeIndex, usage: &Usage) {
        if let Some(row) = self.rows.get_mut(&node).and_then(|rows| rows.last_mut()) {
            row.usage.add(usage);
        }
    }

    fn close(&mut self, at: Timestamp, node: NodeIndex, outcome: &LedgerOutcome) {
        let row = self.rows.get_mut(&node).and_then(|rows| rows.last_mut());
        if let Some(row) = row.filter(|row| row.ended.is_none()) {
            row.ended = Some(at);
            row.outcome = outcome.clone();
        }
    }
}
