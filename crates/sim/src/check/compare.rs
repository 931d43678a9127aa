//! I14: what a history comes to, so that two of them can be compared (`R-SCHED-4`, `R-TRACE-1`).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value};
use sprag_core::graph::NodeIndex;
use sprag_core::run::{Ending, Entry, NodeState, Taint};

use super::case::Case;
use super::history::History;
use super::outputs::Outputs;
use super::track::Track;

/// What a run came to, without times, attempts and order. Nodes have addresses: their numbers hang on who was faster.
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
    /// The node whose failure decided that.
    pub blamed: Option<String>,
    /// The canonical trace.
    pub trace: String,
}

/// What is remembered of each node on the way.
struct Reader<'case, 'run> {
    history: &'case Case<'run>,
    track: Track,
    words: Vec<String>,
    patches: Vec<Option<Value>>,
    /// Whether the patches that its children made count.
    gathered: Vec<Option<usize>>,
}

/// What one history comes to.
pub fn summary(history: &History<'_>) -> Summary {
    let case = Case::of(history);
    let history = &case;
    let count = history.count();
    let mut outputs = Outputs::new(history);
    let mut reader = Reader {
        history,
        track: Track::new(history),
        words: vec![String::new(); count],
        patches: vec![None; count],
        gathered: vec![None; count],
    };
    let mut ending = None;
    for line in &history.lines {
        if let Entry::Ended(end) = line.entry {
            ending = Some((**end).clone());
        }
        reader.read(line.entry);
        outputs.read(history, &reader.track, line);
        reader.track.read(history, line);
    }
    let base = history.definition.context.iter().map(|(key, value)| (key.clone(), value.0.clone()));
    let mut context = Value::Object(base.collect());
    let mut patches = Vec::new();
    reader.patches(0, &mut patches);
    for patch in patches {
        merge(&mut context, patch);
    }
    let mut lines = String::new();
    reader.trace(0, &mut lines);
    let track = &reader.track;
    let blamed = ending.as_mut().and_then(|ending| ending.failure.as_mut()).and_then(|failure| failure.node.take());
    let named = |node: NodeIndex| history.name(node).to_owned();
    // Between two attempts and before the first there is nothing that others see.
    let seen = |node: NodeIndex| if track.of(node).settled { outputs.of(history, track, node) } else { Value::Null };
    Summary {
        states: history
            .all()
            .map(|node| (named(node), format!("{}{}", track.of(node).state, reader.words[node.at()])))
            .collect(),
        outputs: history.all().map(|node| (named(node), seen(node))).collect(),
        context,
        ending,
        blamed: blamed.map(named),
        trace: lines,
    }
}

impl Reader<'_, '_> {
    fn read(&mut self, entry: &Entry) {
        match entry {
            Entry::Started { node, .. } => {
                self.patches[node.at()] = None;
                self.gathered[node.at()] = None;
            }
            Entry::Produced { node, product, .. } => self.patches[node.at()] = product.patch.as_deref().cloned(),
            Entry::Gathered { node, .. } => self.gathered[node.at()] = self.track.of(*node).inside,
            Entry::Completed { node, product, taint, .. } => {
                if taint.is_some() {
                    // Something else stands in for what its work and its children made.
                    self.patches[node.at()] = None;
                    self.gathered[node.at()] = None;
                }
                if let Some(product) = product {
                    self.patches[node.at()] = product.patch.as_deref().cloned();
                }
                self.words[node.at()] = match taint.as_deref() {
                    None => String::new(),
                    Some(Taint::Fallback(error)) => format!(" instead of {}", error.code),
                    Some(Taint::LowGrade(grade)) => format!(" graded {grade}"),
                    Some(Taint::Provided) => " by a person".into(),
                };
            }
            Entry::Failed { node, error, .. } => self.words[node.at()] = format!(" {}", error.code),
            Entry::Skipped { node, reason, cause } => {
                let cause = cause.map(|cause| format!(" {}", self.history.name(cause))).unwrap_or_default();
                self.words[node.at()] = format!(" {}{cause}", reason.as_str());
            }
            Entry::Cancelled { node, cause } => self.words[node.at()] = format!(" {cause:?}"),
            _ => {}
        }
    }

    /// The nodes of a graph in canonical order.
    fn order(&self, level: usize) -> Vec<NodeIndex> {
        let mut order: Vec<_> = self.history.levels[level].nodes().collect();
        order.sort_by_key(|node| self.history.place(*node));
        order
    }

    /// The patches of a graph in canonical order: those that a node's children made of the same context follow its own.
    fn patches<'own>(&'own self, level: usize, found: &mut Vec<&'own Value>) {
        for node in self.order(level) {
            if self.track.of(node).state == NodeState::Completed {
                found.extend(&self.patches[node.at()]);
                if let Some(inside) =
                    self.gathered[node.at()].filter(|inside| self.history.levels[*inside].shares_context)
                {
                    self.patches(inside, found);
                }
            }
        }
    }

    /// The trace of a graph: what grew inside a node comes before it.
    fn trace(&self, level: usize, lines: &mut String) {
        for node in self.order(level) {
            for inside in
                (level + 1..self.track.opened).filter(|inside| self.history.levels[*inside].parent == Some(node))
            {
                self.trace(inside, lines);
            }
            let (name, word) = (self.history.name(node), &self.words[node.at()]);
            let written = match self.track.of(node).state {
                NodeState::Completed => writeln!(lines, "TaskExecuted {name}"),
                NodeState::Failed if self.track.of(node).settled => writeln!(lines, "TaskFailed {name}{word}"),
                NodeState::Skipped => writeln!(lines, "TaskSkipped {name}{word}"),
                _ => Ok(()),
            };
            debug_assert!(written.is_ok(), "a string takes everything");
        }
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
    for node in other.states.keys().filter(|node| !one.states.contains_key(*node)) {
        parts.push(format!("`{node}` is there only the second time"));
    }
    if (&one.ending, &one.blamed) != (&other.ending, &other.blamed) {
        let shown = [one, other].map(|of| format!("{:?} {:?}", of.ending, of.blamed));
        parts.push(format!("ending: {} / {}", shown[0], shown[1]));
    }
    if one.trace != other.trace {
        parts.push(format!("trace:\n{}/\n{}", one.trace, other.trace));
    }
    Some(parts.join("\n"))
}
