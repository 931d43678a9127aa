//! What the entries of a journal say about each node: what it made, what that took, and what it grew into.

use std::sync::Arc;

use serde_json::Value;

use crate::graph::NodeIndex;
use crate::hash::Digest;
use crate::run::recovery::Allowance;
use crate::run::{Cost, Entry, Growth, Known, Product, Taint, Timestamp, Usage};

/// What the entries say about one node.
#[derive(Debug, Clone, Default)]
pub(super) struct Cell {
    pub product: Option<Product>,
    pub taint: Option<Taint>,
    pub cost: Option<Cost>,
    since: Option<Timestamp>,
    /// Whether an attempt began its work, and nothing says how that ended.
    pub open: bool,
    pub body: Option<Product>,
    pub made_of: Option<Digest>,
    /// Whether its output is what its children made.
    pub gathered: bool,
    /// Whether all this was put into what the run left.
    pub read: bool,
    /// The patches of its children, where they grew in an earlier run.
    pub patches: Vec<Arc<Value>>,
}

/// Codes after which nobody knows whether work that may happen at most once did (`R-CLAIM-5`).
const MAY_HAVE_HAPPENED: [Known; 4] = [Known::INTERRUPTED, Known::TIMEOUT, Known::NETWORK, Known::DEADLINE_EXCEEDED];

/// What the entries say about all nodes, by their numbers.
pub(super) struct Told {
    /// What people allowed beyond the budget of the workflow.
    pub raised: Allowance,
    pub cells: Vec<Cell>,
}

impl Told {
    /// Before the first entry, for so many nodes.
    pub fn new(nodes: usize) -> Self {
        Self { raised: Allowance::default(), cells: vec![Cell::default(); nodes] }
    }

    pub fn take(&mut self, at: Timestamp, entry: &Entry) {
        match entry {
            Entry::Started { node, attempt, .. } => {
                let cell = self.cell(*node);
                cell.since = Some(at);
                cell.open = true;
                cell.cost.get_or_insert_default();
                // The first attempt may go on with what an earlier run left.
                if *attempt > 1 {
                    cell.forget();
                    (cell.body, cell.made_of) = (None, None);
                }
            }
            Entry::Produced { node, product, .. } => {
                let cell = self.cell(*node);
                cell.rests(at);
                cell.open = false;
                product.usage.iter().for_each(|usage| cell.pays(usage));
                cell.product = Some((**product).clone());
            }
            Entry::Expanded(expansion) => {
                let cell = self.cell(expansion.node);
                cell.rests(at);
                cell.open = false;
                cell.made_of = Some(expansion.of.digest());
                if matches!(expansion.of, Growth::Body(_))
                    && let Some(body) = cell.product.take()
                {
                    cell.body = Some(body);
                }
            }
            Entry::Gathered { node, .. } => self.cell(*node).gathered = true,
            Entry::Completed { node, product, taint, .. } => {
                let cell = self.cell(*node);
                cell.rests(at);
                cell.open = false;
                if taint.is_some() {
                    cell.forget();
                    cell.taint = taint.as_deref().cloned();
                }
                if let Some(product) = product {
                    product.usage.iter().for_each(|usage| cell.pays(usage));
                    cell.product = Some((**product).clone());
                }
            }
            Entry::Failed { node, error, .. } => {
                let cell = self.cell(*node);
                cell.rests(at);
                cell.open &= MAY_HAVE_HAPPENED.iter().any(|known| error.code == *known);
                cell.forget();
            }
            Entry::Cancelled { node, .. } | Entry::Unknown { node, .. } => self.cell(*node).rests(at),
            Entry::Asked(question) => question.node.into_iter().for_each(|node| self.cell(node).rests(at)),
            Entry::Spent { node, usage, .. } => self.cell(*node).pays(usage),
            Entry::BudgetRaised { inside: None, by } => self.raised.add(by),
            Entry::Decomposing { node, .. } => {
                let cell = self.cell(*node);
                cell.rests(at);
                cell.open = false;
                cell.forget();
            }
            _ => {}
        }
    }

    pub fn cell(&mut self, node: NodeIndex) -> &mut Cell {
        &mut self.cells[node.at()]
    }
}

impl Cell {
    /// Nobody works on it any longer.
    fn rests(&mut self, at: Timestamp) {
        if let Some(since) = self.since.take() {
            let cost = self.cost.get_or_insert_default();
            cost.millis = cost.millis.saturating_add(at.since(since).millis);
        }
    }

    fn pays(&mut self, usage: &Usage) {
        self.cost.get_or_insert_default().usage.add(usage);
    }

    /// What an attempt made is worth nothing.
    fn forget(&mut self) {
        self.product = None;
        self.taint = None;
        self.gathered = false;
        self.patches = Vec::new();
    }
}
