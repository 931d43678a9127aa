//! The state of a workflow as a fold of its journal: what was said, made and decided (`R-CP-1`).
//!
//! A run lets go of an output once nobody will read it; a checkpoint needs every result, so they stay here, shared with
//! the run for as long as it holds them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::BLOB_OVER_BYTES;
use super::address::Address;
use super::held::{Held, json_bytes};
use super::record::Checkpoint;
use super::state::{DecisionKind, DecisionRecord, Message, MessageKind, Task, WorkflowState};
use crate::definition::Definition;
use crate::file::Duration;
use crate::graph::NodeIndex;
use crate::run::recovery::Strategy;
use crate::run::{
    Answer, Choice, Chosen, Command, CommandRecord, Entry, Product, QuestionKind, Run, Taint, Timestamp, Usage, Verb,
};

/// What a node takes in a record and in the machine besides its address, its result and its error.
const NODE_BYTES: u64 = 50;

/// Messages, tasks and decisions so far, and what is needed to go on with them.
#[derive(Debug, Clone, PartialEq)]
pub struct StateFold {
    messages: Vec<Message>,
    tasks: Vec<Task>,
    decisions: Vec<DecisionRecord>,
    /// When the attempts under way began.
    started: BTreeMap<NodeIndex, Timestamp>,
    /// What nodes gave that are not complete, or whose graph is not.
    made: BTreeMap<NodeIndex, Arc<Value>>,
    usage: BTreeMap<NodeIndex, Usage>,
    taints: BTreeMap<NodeIndex, Taint>,
    /// The newest graph inside each node, and how many graphs there are.
    inside: BTreeMap<NodeIndex, u32>,
    graphs: u32,
    /// The command whose entries follow.
    said: Option<Box<Command>>,
    bytes: u64,
}

impl StateFold {
    /// The fold before the first entry.
    pub fn new(definition: &Definition) -> Self {
        Self {
            messages: Vec::new(),
            tasks: Vec::new(),
            decisions: Vec::new(),
            started: BTreeMap::new(),
            made: BTreeMap::new(),
            usage: BTreeMap::new(),
            taints: BTreeMap::new(),
            inside: BTreeMap::new(),
            graphs: 1,
            said: None,
            bytes: json_bytes(&super::record::WorkflowShape::of(definition)) + json_bytes(&definition.policy),
        }
    }

    /// The fold as it was when a checkpoint was made of it, with the run that was restored from there.
    pub(super) fn resumed(checkpoint: &Checkpoint, run: &Run) -> Self {
        let state = &checkpoint.state;
        let mut fold = Self {
            messages: state.messages.clone(),
            tasks: state.tasks.clone(),
            decisions: state.decisions.clone(),
            inside: run.insides().collect(),
            graphs: run.graphs(),
            ..Self::new(run.definition())
        };
        fold.bytes += json_bytes(&checkpoint.run.nodes) + json_bytes(&state.messages) + json_bytes(&state.decisions);
        fold.bytes += state.tasks.iter().map(task_bytes).sum::<u64>() + json_bytes(&state.context);
        for node in run.addressed() {
            let needed = run.parent(node).is_some() || !run.is_settled(node);
            if let Some(output) = run.held_output(node).filter(|_| needed) {
                fold.made.insert(node, Arc::clone(output));
            }
            let address = run.address(node);
            let Some(record) = checkpoint.run.nodes.get(address.as_str()) else { continue };
            fold.started.extend(record.started_at.map(|at| (node, at)));
            fold.usage.extend(record.usage.map(|usage| (node, usage)));
            fold.taints.extend(record.taint.clone().map(|taint| (node, taint)));
        }
        fold
    }

    /// The state, for a run that has taken in the same entries.
    pub fn state(&self, run: &Run) -> WorkflowState {
        WorkflowState {
            messages: self.messages.clone(),
            tasks: self.tasks.clone(),
            decisions: self.decisions.clone(),
            context: run.context(),
        }
    }

    /// About how many bytes a full snapshot has now. It is kept up while entries come in, so that asking costs nothing.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// When the attempt of a node began that is under way.
    pub(super) fn started(&self, node: NodeIndex) -> Option<Timestamp> {
        self.started.get(&node).copied()
    }

    /// What the attempts of a node cost.
    pub(super) fn usage(&self, node: NodeIndex) -> Option<Usage> {
        self.usage.get(&node).copied()
    }

    /// Why the result of a node is not what its work would have given.
    pub(super) fn taint(&self, node: NodeIndex) -> Option<&Taint> {
        self.taints.get(&node)
    }

    /// Takes an entry in. The run must have taken it in already, and may have gone on.
    pub fn apply(&mut self, run: &Run, at: Timestamp, entry: &Entry) {
        match entry {
            Entry::Created(created) => {
                self.bytes += 2 * json_bytes(created);
                self.begin(run, at, run.top_nodes());
            }
            Entry::Started { node, .. } => {
                self.started.insert(*node, at);
            }
            Entry::Produced { node, product, .. } => self.keep(*node, product),
            Entry::Expanded(expansion) => {
                self.leave(run, expansion.node);
                self.made.remove(&expansion.node);
                self.inside.insert(expansion.node, self.graphs);
                let children = run.nodes_of(self.graphs);
                self.graphs += 1;
                self.bytes += json_bytes(&expansion.of);
                self.begin(run, at, children);
            }
            Entry::Gathered { node, .. } => self.gather(run, *node),
            Entry::Spent { node, usage, .. } => self.usage.entry(*node).or_default().add(usage),
            Entry::Decomposing { node, error, chosen, .. } => {
                self.bytes += json_bytes(error);
                self.made.remove(node);
                self.choose(run, at, *node, chosen);
            }
            Entry::BudgetRaised { inside, by } => {
                let node = inside.and_then(|node| Address::new(&run.address(node)).ok());
                let choice = serde_json::to_string(by).unwrap_or_default();
                self.decide(DecisionRecord { what: DecisionKind::BudgetRaise, node, by: None, why: None, choice, at });
            }
            Entry::Completed { node, product, taint, chosen, .. } => {
                if let Some(chosen) = chosen {
                    self.choose(run, at, *node, chosen);
                }
                if let Some(taint) = taint {
                    self.made.remove(node);
                    self.taints.insert(*node, (**taint).clone());
                }
                if let Some(product) = product {
                    self.keep(*node, product);
                }
                self.complete(run, at, *node);
            }
            Entry::Failed { node, error, chosen, .. } => {
                self.bytes += json_bytes(error);
                if let Some(chosen) = chosen {
                    self.choose(run, at, *node, chosen);
                }
                self.drop_attempt(run, *node);
            }
            Entry::Skipped { node, .. } | Entry::Cancelled { node, .. } => self.drop_attempt(run, *node),
            Entry::Command(record) => self.hear(at, record),
            Entry::Signalled { name, data, .. } => {
                let by = self.said.as_ref().filter(|said| matches!(said.verb, Verb::Signal { .. }));
                let by = by.map(|said| said.by.clone());
                let data = Value::clone(data);
                self.say(Message { kind: MessageKind::Signal, name: Some(name.to_string()), by, data, at });
            }
            Entry::Answered(answer) => self.answer(run, at, answer),
            Entry::Owned { .. }
            | Entry::DeadlineMoved { .. }
            | Entry::Ready { .. }
            | Entry::Checked { .. }
            | Entry::Graded { .. }
            | Entry::Finalised { .. }
            | Entry::Withheld { .. }
            | Entry::Unknown { .. }
            | Entry::Asked(_)
            | Entry::Closed { .. }
            | Entry::Approved { .. }
            | Entry::SignalTaken { .. }
            | Entry::WaveCompleted { .. }
            | Entry::PhaseCompleted { .. }
            | Entry::Held { .. }
            | Entry::PeopleOnly { .. }
            | Entry::Stopping { .. }
            | Entry::Ended(_) => {}
        }
    }

    fn keep(&mut self, node: NodeIndex, product: &Product) {
        if !product.output.is_null() {
            self.made.insert(node, Arc::clone(&product.output));
        }
        if let Some(usage) = &product.usage {
            self.usage.entry(node).or_default().add(usage);
        }
        if let Some(patch) = &product.patch {
            // Once in the context, once in the machine.
            self.bytes += 2 * json_bytes(patch);
        }
    }

    fn gather(&mut self, run: &Run, node: NodeIndex) {
        let Some(graph) = self.inside.get(&node) else { return };
        let output = |child: NodeIndex| {
            let made = self.made.get(&child).map(|made| &**made);
            made.or_else(|| run.output(child)).cloned().unwrap_or_default()
        };
        let gathered = Arc::new(run.gathered_graph(*graph, output));
        self.leave(run, node);
        self.made.insert(node, gathered);
    }

    /// What a node's children gave is needed no longer.
    fn leave(&mut self, run: &Run, node: NodeIndex) {
        for child in self.inside.remove(&node).into_iter().flat_map(|graph| run.nodes_of(graph)) {
            self.made.remove(&child);
        }
    }

    fn complete(&mut self, run: &Run, at: Timestamp, node: NodeIndex) {
        let began = self.started.remove(&node);
        let inside = run.parent(node).is_some();
        let made = if inside { self.made.get(&node).cloned() } else { self.made.remove(&node) };
        let Ok(task_id) = Address::new(&run.address(node)) else { return };
        self.bytes += task_id.as_str().len() as u64 + NODE_BYTES;
        let duration = began.map_or(Duration::from_millis(0), |began| at.since(began));
        let task = Task { task_id, result: Held::from(made.unwrap_or_default()), timestamp: at, duration };
        self.bytes += task_bytes(&task);
        self.tasks.push(task);
    }

    fn drop_attempt(&mut self, run: &Run, node: NodeIndex) {
        self.bytes += run.address(node).len() as u64 + NODE_BYTES;
        self.started.remove(&node);
        self.made.remove(&node);
        self.leave(run, node);
    }

    /// A command counts if it was not refused. Why somebody wants what is no answer is a note to the run.
    fn hear(&mut self, at: Timestamp, record: &CommandRecord) {
        let CommandRecord { command, refused } = record;
        self.bytes += NODE_BYTES;
        self.said = refused.is_none().then(|| Box::new(command.clone()));
        let name = match &command.verb {
            Verb::Answer { .. } | Verb::Signal { .. } => return,
            Verb::Cancel { .. } => "cancel",
            Verb::Pause => "pause",
            Verb::Unpause => "unpause",
        };
        if let (Some(why), None) = (&command.why, refused) {
            let (name, by) = (Some(name.to_owned()), Some(command.by.clone()));
            self.say(Message { kind: MessageKind::Note, name, by, data: Value::from(why.as_str()), at });
        }
    }

    fn answer(&mut self, run: &Run, at: Timestamp, answer: &Answer) {
        let said = self.said.take().filter(|said| said.id == answer.command);
        let (data, why) = match said.map(|said| *said) {
            Some(Command { verb: Verb::Answer { data, .. }, why, .. }) => (data.unwrap_or_default(), why),
            _ => (Value::Null, None),
        };
        let by = Some(answer.by.clone());
        let name = Some(answer.question.to_string());
        self.say(Message { kind: MessageKind::Answer, name, by: by.clone(), data, at });
        let asked = run.questions().find(|asked| asked.question.id == answer.question);
        let kind = asked.map(|asked| asked.question.kind);
        let what = match (kind, answer.choice) {
            (Some(QuestionKind::Gate), Choice::Approve) => DecisionKind::Approval,
            (Some(QuestionKind::Gate), Choice::Reject) => DecisionKind::Rejection,
            _ => DecisionKind::Answer,
        };
        let node = asked.and_then(|asked| Address::new(&run.address(asked.question.node?)).ok());
        self.decide(DecisionRecord { what, node, by, why, choice: answer.choice.as_str().to_owned(), at });
    }

    /// A rung of the ladder was chosen (`R-REC-1`).
    fn choose(&mut self, run: &Run, at: Timestamp, node: NodeIndex, chosen: &Chosen) {
        let choice = chosen.strategy.map_or("fail", Strategy::as_str).to_owned();
        let node = Address::new(&run.address(node)).ok();
        self.decide(DecisionRecord {
            what: DecisionKind::Strategy,
            node,
            by: None,
            why: Some(chosen.reason.clone()),
            choice,
            at,
        });
    }

    fn decide(&mut self, decision: DecisionRecord) {
        self.bytes += json_bytes(&decision) + 1;
        self.decisions.push(decision);
    }

    /// Nodes that begin as they ended in an earlier run bring their results along.
    fn begin(&mut self, run: &Run, at: Timestamp, nodes: impl Iterator<Item = NodeIndex>) {
        for node in nodes.filter(|node| run.is_reused(*node)) {
            if let Some(result) = run.kept_result(node) {
                self.keep(node, &Product { usage: None, ..result.product.clone() });
                self.taints.extend(result.taint.clone().map(|taint| (node, taint)));
            }
            self.complete(run, at, node);
        }
    }

    fn say(&mut self, message: Message) {
        self.bytes += json_bytes(&message) + 1;
        self.messages.push(message);
    }
}

/// What a result takes in a record: what is long goes to the blob store.
fn task_bytes(task: &Task) -> u64 {
    let bytes = json_bytes(task) + 1;
    if bytes > BLOB_OVER_BYTES { 4 * NODE_BYTES } else { bytes }
}
