//! I14: what a history comes to, so that two of them can be compared (`R-SCHED-4`, `R-TRACE-1`).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value};
use sprag_core::run::{Ending, Entry, NodeState, Taint};

use super::history::History;
use super::track::{Track, continues, depths};

/// What a run came to, without times, attempts and order.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The state of each node, with the reason and cause of a skip, the cause of a cancellation, the code of a failure.
    pub states: BTreeMap<String, String>,
    /// The output of each node that has one.
    pub outputs: BTreeMap<String, Value>,
    /// The context with all patches of completed nodes, in canonical order.
    pub context: Value,
    /// How the run ended.
    pub ending: Option<Ending>,
    /// The canonical trace.
    pub trace: String,
}

/// What one history comes to.
pub fn summary(history: &History<'_>) -> Summary {
    let graph = &history.definition.graph;
    let mut track = Track::new(history);
    let mut words: Vec<String> = vec![String::new(); graph.len()];
    let mut outputs = vec![Value::Null; graph.len()];
    let mut patches: Vec<Option<Value>> = vec![None; graph.len()];
    let mut ending = None;
    for line in history.lines() {
        match line.entry {
            Entry::Started { node, .. } => {
                outputs[node.at()] = Value::Null;
                patches[node.at()] = None;
            }
            Entry::Produced { node, product, .. } => {
                outputs[node.at()] = (*product.output).clone();
                patches[node.at()] = product.patch.as_deref().cloned();
            }
            Entry::Completed { node, product, taint, .. } => {
                if let Some(product) = product {
                    outputs[node.at()] = (*product.output).clone();
                    patches[node.at()] = product.patch.as_deref().cloned();
                }
                words[node.at()] = match taint.as_deref() {
                    None => String::new(),
                    Some(Taint::Fallback(error)) => format!(" instead of {}", error.code),
                    Some(Taint::LowGrade(grade)) => format!(" graded {grade}"),
                    Some(Taint::Provided) => " by a person".into(),
                };
            }
            Entry::Failed { node, error, .. } => words[node.at()] = format!(" {}", error.code),
            Entry::Skipped { node, reason, cause } => {
                let cause = cause.map(|cause| format!(" {}", history.name(cause))).unwrap_or_default();
                words[node.at()] = format!(" {}{cause}", reason.as_str());
            }
            Entry::Cancelled { node, cause } => words[node.at()] = format!(" {cause:?}"),
            Entry::Ended(end) => ending = Some((**end).clone()),
            _ => {}
        }
        track.read(history, &line);
    }
    for node in graph.nodes() {
        if track.of(node).state != NodeState::Completed {
            patches[node.at()] = None;
            let fallback = history.definition.nodes[node.at()].spec.fallback.as_ref();
            outputs[node.at()] = match fallback {
                Some(fallback) if track.is_failure(node) && continues(history, node) => fallback.0.clone(),
                _ => Value::Null,
            };
        }
    }
    let depths = depths(history);
    let mut order: Vec<_> = graph.nodes().collect();
    order.sort_by_key(|node| (graph.phase(*node), depths[node.at()], history.name(*node)));
    let base = history.definition.context.iter().map(|(key, value)| (key.clone(), value.0.clone()));
    let mut context = Value::Object(base.collect());
    let mut lines = String::new();
    for node in order {
        if let Some(patch) = &patches[node.at()] {
            merge(&mut context, patch);
        }
        let (name, word) = (history.name(node), &words[node.at()]);
        let written = match track.of(node).state {
            NodeState::Completed => writeln!(lines, "TaskExecuted {name}"),
            NodeState::Failed if track.of(node).settled => writeln!(lines, "TaskFailed {name}{word}"),
            NodeState::Skipped => writeln!(lines, "TaskSkipped {name}{word}"),
            _ => Ok(()),
        };
        debug_assert!(written.is_ok(), "a string takes everything");
    }
    let named = |node: sprag_core::graph::NodeIndex| history.name(node).to_owned();
    Summary {
        states: graph
            .nodes()
            .map(|node| (named(node), format!("{}{}", track.of(node).state, words[node.at()])))
            .collect(),
        outputs: graph.nodes().map(|node| (named(node), outputs[node.at()].clone())).collect(),
        context,
        ending,
        trace: lines,
    }
}

/// A JSON merge patch: objects merge, null removes, everything else replaces.
fn merge(target: &mut Value, patch: &Value) {
    match patch {
        Value::Object(fields) => {
            if !target.is_object() {
                *target = Value::Object(Map::new());
            }
            for (key, value) in fields {
                match (value, target.as_object_mut()) {
                    (Value::Null, Some(object)) => {
                        object.remove(key);
                    }
                    (value, Some(object)) => merge(object.entry(key.as_str()).or_insert(Value::Null), value),
                    (_, None) => {}
                }
            }
        }
        other => *target = other.clone(),
    }
}

/// Where two histories differ in what they come to, for people; nothing if they do not.
pub fn difference(one: &Summary, other: &Summary) -> Option<String> {
    if one == other {
        return None;
    }
    let mut parts = Vec::new();
    for (node, state) in &one.states {
        if other.states.get(node) != Some(state) {
            parts.push(format!("`{node}`: {state} / {:?}", other.states.get(node)));
        }
    }
    for (node, output) in &one.outputs {
        if other.outputs.get(node) != Some(output) {
            parts.push(format!("output of `{node}`: {output} / {:?}", other.outputs.get(node)));
        }
    }
    if one.context != other.context {
        parts.push(format!("context: {} / {}", one.context, other.context));
    }
    if one.ending != other.ending {
        parts.push(format!("ending: {:?} / {:?}", one.ending, other.ending));
    }
    if one.trace != other.trace {
        parts.push(format!("trace:\n{}/\n{}", one.trace, other.trace));
    }
    Some(parts.join("\n"))
}
