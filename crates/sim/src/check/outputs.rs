//! What nodes gave, as their dependents and the nodes around them see it (`R-GROW-1`, `R-EDGE-4`), and the few
//! expressions over it that generated workflows use.

use serde_json::{Map, Value};
use sprag_core::graph::NodeIndex;
use sprag_core::run::{Entry, KeptEnd, NodeState};

use super::case::Case;
use super::history::Line;
use super::track::{Track, continues};

/// The output of each node so far.
#[derive(Debug)]
pub(super) struct Outputs(Vec<Value>);

impl Outputs {
    pub fn new(history: &Case<'_>) -> Self {
        let mut outputs = Self(vec![Value::Null; history.count()]);
        outputs.begin_kept(history, 0);
        outputs
    }

    /// What an earlier run left.
    fn begin_kept(&mut self, history: &Case<'_>, level: usize) {
        let Some(carried) = history.carried() else { return };
        for node in history.levels[level].nodes() {
            if let Some(KeptEnd::Completed(result)) = carried.nodes.get(history.name(node)).map(|kept| &kept.end) {
                self.0[node.at()] = (*result.product.output).clone();
            }
        }
    }

    /// Reads an entry before the notes do.
    pub fn read(&mut self, history: &Case<'_>, track: &Track, line: &Line<'_>) {
        match line.entry {
            Entry::Started { node, attempt: 1, .. } => {
                self.0[node.at()] = history.carried_body(*node).map(|body| (*body).clone()).unwrap_or_default();
            }
            Entry::Started { node, .. } | Entry::Failed { node, .. } => self.0[node.at()] = Value::Null,
            Entry::Produced { node, product, .. } => self.0[node.at()] = (*product.output).clone(),
            Entry::Expanded(expansion) => {
                self.0[expansion.node.at()] = Value::Null;
                if history.keeps_children(expansion) && track.opened < history.levels.len() {
                    self.begin_kept(history, track.opened);
                }
            }
            Entry::Gathered { node, .. } => {
                if let Some(inside) = track.of(*node).inside {
                    self.0[node.at()] = self.gathered(history, track, inside);
                }
            }
            Entry::Completed { node, product, taint, .. } => {
                if taint.is_some() {
                    self.0[node.at()] = Value::Null;
                }
                if let Some(product) = product {
                    self.0[node.at()] = (*product.output).clone();
                }
            }
            _ => {}
        }
    }

    /// What others see of a node.
    pub fn of(&self, history: &Case<'_>, track: &Track, node: NodeIndex) -> Value {
        if track.is_failure(node) && continues(history, node) {
            let fallback = history.compiled(node).spec.fallback.as_ref();
            return fallback.map(|fallback| fallback.0.clone()).unwrap_or_default();
        }
        match track.of(node).state {
            NodeState::Completed | NodeState::Running | NodeState::AwaitingApproval | NodeState::Approved => {
                self.0[node.at()].clone()
            }
            _ => Value::Null,
        }
    }

    /// What a graph inside a node gives: a list of what its copies gave, or what the nodes gave that lead nowhere, by id.
    pub fn gathered(&self, history: &Case<'_>, track: &Track, level: usize) -> Value {
        let nodes = history.levels[level].nodes();
        if history.levels[level].items.is_some() {
            return Value::Array(nodes.map(|copy| self.of(history, track, copy)).collect());
        }
        let last = nodes.filter(|node| history.edges_from(*node).next().is_none());
        let named = last.map(|node| (history.id(node).to_owned(), self.of(history, track, node)));
        Value::Object(named.collect::<Map<_, _>>())
    }

    /// The value of an expression, if it is one of the few that are understood here and has one.
    pub fn value(
        &self,
        history: &Case<'_>,
        track: &Track,
        (node, own): (NodeIndex, Option<&Value>),
        text: &str,
    ) -> Option<Value> {
        let text = text.trim();
        if let Ok(literal) = serde_json::from_str(text) {
            return Some(literal);
        }
        if let Some((left, right)) = text.split_once(" > ") {
            let number = |side| self.value(history, track, (node, own), side)?.as_i64();
            return Some(Value::Bool(number(left)? > number(right)?));
        }
        let mut words = text.split('.');
        let mut value = match words.next()? {
            "output" => own?.clone(),
            "nodes" => {
                // Copies see what the map sees.
                let mut seat = node;
                while let (Some(parent), Some(_)) = (history.level(seat).parent, &history.level(seat).items) {
                    seat = parent;
                }
                let named = history.find(history.level_of(seat), words.next()?)?;
                (words.next()? == "output").then(|| self.of(history, track, named))?
            }
            "item" => {
                let level = history.level(node);
                level.items.as_ref()?.get((node.0 - level.base) as usize)?.clone()
            }
            _ => return None,
        };
        for word in words {
            value = value.get_mut(word)?.take();
        }
        Some(value)
    }
}
