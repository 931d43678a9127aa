//! The nodes of a run as rows of alike ones: a chain of ten thousand completed nodes is one row.

use std::collections::BTreeMap;

use super::stored::{Output, Shape, StoredRare};
use crate::graph::NodeIndex;
use crate::run::fold::count;
use crate::run::input::Stage;
use crate::run::record::{Rare, Record};
use crate::run::state::NodeState;

/// Whether outputs are written, or only that there are some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outputs {
    Here,
    Beside,
}

/// What all nodes have, in rows.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub shapes: Vec<Shape>,
    pub nodes: Vec<(u32, u32)>,
    pub rare: Vec<(NodeIndex, StoredRare)>,
}

impl Rows {
    pub fn of(records: &[Record], outputs: Outputs) -> Self {
        let mut rows = Self::default();
        let mut known = BTreeMap::new();
        for (at, record) in records.iter().enumerate() {
            let node = NodeIndex(count(at));
            let (shape, rare) = split(node, record);
            let number = *known.entry(shape).or_insert_with(|| {
                rows.shapes.push(shape);
                count(rows.shapes.len() - 1)
            });
            match rows.nodes.last_mut() {
                Some((last, length)) if *last == number => *length += 1,
                _ => rows.nodes.push((number, 1)),
            }
            if let Some(rare) = rare {
                rows.rare.push((node, stored(rare, outputs)));
            }
        }
        rows
    }
}

/// A record without what is counted again from the graph and the states of its neighbours.
fn split(node: NodeIndex, record: &Record) -> (Shape, Option<&Rare>) {
    let Record {
        state,
        settled,
        stage,
        cancelled,
        skipped,
        tainted,
        confidence,
        holds_slot,
        kept,
        attempt,
        open_edges: _,
        readers: _,
        demand,
        rare,
    } = record;
    let before = |source: NodeIndex| i64::from(node.0) - i64::from(source.0);
    let shape = Shape {
        state: *state,
        settled: *settled,
        stage: *stage,
        cancelled: *cancelled,
        skipped: skipped.map(|(reason, cause)| (reason, cause.map(before))),
        tainted: *tainted,
        confidence: *confidence,
        holds_slot: *holds_slot,
        kept: *kept,
        attempt: *attempt,
        demand: *demand,
    };
    (shape, rare.as_deref())
}

fn stored(rare: &Rare, outputs: Outputs) -> StoredRare {
    let Rare { output, patch, error, verdict, due, question, tries, feedback, climb } = rare;
    StoredRare {
        output: output.as_ref().map(|output| match outputs {
            Outputs::Here => Output::Here(output.clone()),
            Outputs::Beside => Output::Beside,
        }),
        patch: patch.clone(),
        error: error.clone(),
        verdict: verdict.clone(),
        due: *due,
        question: *question,
        tries: *tries,
        feedback: feedback.clone(),
        climb: climb.clone(),
    }
}

impl Shape {
    /// What contradicts itself, if anything does.
    pub fn contradiction(&self) -> Option<&'static str> {
        use NodeState::{Cancelled, Completed, Failed, Running, Skipped};
        let over = matches!(self.state, Completed | Skipped | Cancelled);
        if (over && !self.settled) || (self.settled && !over && self.state != Failed) {
            return Some("a node is settled and is not");
        }
        if (self.holds_slot || self.demand.0 > 0) && self.state != Running {
            return Some("somebody works on a node that does not run");
        }
        if self.demand.0 > 0 && matches!(self.stage, Stage::Grow | Stage::Children | Stage::Gate | Stage::Done) {
            return Some("somebody outside does what only the run can do");
        }
        None
    }

    /// The record of a node that looks like this, in a graph of so many nodes; none if its source is not in it.
    pub fn record(&self, node: NodeIndex, nodes: usize) -> Option<Record> {
        let source = |before: i64| {
            let source = u32::try_from(i64::from(node.0).checked_sub(before)?).ok().map(NodeIndex)?;
            (source.at() < nodes).then_some(source)
        };
        let skipped = match self.skipped {
            Some((reason, Some(before))) => Some((reason, Some(source(before)?))),
            Some((reason, None)) => Some((reason, None)),
            None => None,
        };
        Some(Record {
            state: self.state,
            settled: self.settled,
            stage: self.stage,
            cancelled: self.cancelled,
            skipped,
            tainted: self.tainted,
            confidence: self.confidence,
            holds_slot: self.holds_slot,
            kept: self.kept,
            attempt: self.attempt,
            demand: self.demand,
            ..Record::new(0, 0)
        })
    }
}
