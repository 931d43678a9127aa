//! One run in full: the state of every node, its attempts, its results (`R-CLI-8`).

use std::sync::Arc;

use serde_json::Value;
use sprag_core::graph::NodeIndex;
use sprag_core::run::{
    AskedQuestion, Commit, Counts, Created, Ending, Entry, NodeError, NodeState, OwnerId, Run, RunId, SkipReason,
    Timestamp, Usage, attempt_id,
};

use super::find::{self, PAGE, Which};
use super::people::{Decision, Message, People};
use super::runs::{RunState, is_alive};
use crate::driver::Fold;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::run_error::RunError;

/// A run in full.
#[derive(Debug)]
pub struct ShownRun {
    /// The run.
    pub run: RunId,
    /// Its state.
    pub state: RunState,
    /// How it began.
    pub created: Created,
    /// The author's version of the workflow.
    pub version: Option<String>,
    /// When it was created.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// How it ended.
    pub ending: Option<Ending>,
    /// The context after all patches.
    pub context: Value,
    /// How its nodes are doing.
    pub counts: Counts,
    /// What it has cost.
    pub usage: Usage,
    /// The process that owns it.
    pub owner: Option<OwnerId>,
    /// Questions, answered or not.
    pub questions: Vec<AskedQuestion>,
    /// What people wanted of it, in order.
    pub decisions: Vec<Decision>,
    /// The signals that arrived, in order.
    pub messages: Vec<Message>,
    /// Its nodes, by (wave, id).
    pub nodes: Vec<ShownNode>,
}

/// A node of a run.
#[derive(Debug)]
pub struct ShownNode {
    /// Its id.
    pub id: String,
    /// What it does, by the key of the file.
    pub kind: &'static str,
    /// Its state.
    pub state: NodeState,
    /// Whether nothing about it will change any more.
    pub settled: bool,
    /// Its wave.
    pub wave: u32,
    /// Its output.
    pub output: Option<Arc<Value>>,
    /// Its error.
    pub error: Option<NodeError>,
    /// Why it was skipped, and the node that caused it.
    pub skipped: Option<(SkipReason, Option<String>)>,
    /// Whether its result is not what its work would have given.
    pub tainted: bool,
    /// When its wait is over or its retry due.
    pub due: Option<Timestamp>,
    /// Its attempts, in order.
    pub attempts: Vec<AttemptRecord>,
}

/// An attempt (`R-CLAIM-1`).
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptRecord {
    /// Its number, from 1.
    pub attempt: u32,
    /// Its id.
    pub attempt_id: uuid::Uuid,
    /// How it stands, in a word.
    pub status: &'static str,
    /// Its error.
    pub error: Option<NodeError>,
    /// How long after its end the next one was due.
    pub retry_after_ms: Option<u64>,
    /// The process that executed it.
    pub owner: Option<OwnerId>,
    /// The fence under which it ran.
    pub fence: u64,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

/// A run in full.
pub fn show(engine: &Engine, which: &Which) -> Result<ShownRun, EngineError> {
    let store = &engine.store;
    let run = find::run(engine, which)?;
    let mut fold = Fold::new(find::definition(store, run)?, run);
    let mut told = Told::new(run, fold.run().definition().graph.len());
    loop {
        let commits = store.journal.read(run, fold.run().seq(), PAGE)?;
        for commit in &commits {
            fold.take(commit).map_err(|corrupt| RunError::Corrupt { run, corrupt })?;
            told.read(fold.run(), commit);
        }
        if commits.is_empty() {
            break;
        }
    }
    let alive = match fold.run().summary() {
        Some(summary) => is_alive(engine, &summary)?,
        None => false,
    };
    let created = fold.run().created().cloned();
    let created = created.ok_or_else(|| EngineError::definition("the journal has no beginning"))?;
    Ok(told.shown(fold.run(), created, alive))
}

/// What the journal tells of nodes beyond the state of the run.
struct Told {
    run: RunId,
    outputs: Vec<Option<Arc<Value>>>,
    attempts: Vec<Vec<AttemptRecord>>,
    owner: Option<OwnerId>,
    fence: u64,
    people: People,
}

impl Told {
    fn new(run: RunId, nodes: usize) -> Self {
        let (outputs, attempts) = (vec![None; nodes], vec![Vec::new(); nodes]);
        Self { run, outputs, attempts, owner: None, fence: 0, people: People::default() }
    }

    fn read(&mut self, run: &Run, commit: &Commit) {
        for entry in &commit.entries {
            match entry {
                Entry::Owned { owner, fence, .. } => (self.owner, self.fence) = (Some(*owner), fence.0),
                Entry::Started { node, attempt, .. } => {
                    let id = attempt_id(self.run, run.definition().graph.id(*node).as_str(), *attempt);
                    self.attempts[node.at()].push(AttemptRecord {
                        attempt: *attempt,
                        attempt_id: id,
                        status: NodeState::Running.as_str(),
                        error: None,
                        retry_after_ms: None,
                        owner: self.owner,
                        fence: self.fence,
                        started_at: commit.at,
                        ended_at: None,
                    });
                }
                Entry::Produced { node, product, .. } => self.outputs[node.at()] = Some(product.output.clone()),
                Entry::Completed { node, product, .. } => {
                    if let Some(product) = product {
                        self.outputs[node.at()] = Some(product.output.clone());
                    }
                    self.ended(*node, commit.at, NodeState::Completed.as_str(), None);
                }
                Entry::Failed { node, error, due, .. } => {
                    self.ended(*node, commit.at, NodeState::Failed.as_str(), Some((**error).clone()));
                    if let (Some(due), Some(attempt)) = (due, self.attempts[node.at()].last_mut()) {
                        attempt.retry_after_ms = Some(due.since(commit.at).millis);
                    }
                    self.outputs[node.at()] = None;
                }
                Entry::Command(record) => self.people.command(commit.at, record),
                Entry::Answered(answer) => {
                    let asked = run.questions().find(|asked| asked.question.id == answer.question);
                    let node = asked.and_then(|asked| asked.question.node).map(|node| run.address(node));
                    self.people.answered(commit.at, answer, node);
                }
                Entry::Signalled { name, data, .. } => self.people.signalled(commit.at, name, data),
                Entry::Cancelled { node, .. } => self.ended(*node, commit.at, NodeState::Cancelled.as_str(), None),
                _ => {}
            }
        }
    }

    fn ended(&mut self, node: NodeIndex, at: Timestamp, status: &'static str, error: Option<NodeError>) {
        if let Some(attempt) = self.attempts[node.at()].last_mut().filter(|attempt| attempt.ended_at.is_none()) {
            attempt.status = status;
            attempt.error = error;
            attempt.ended_at = Some(at);
        }
    }

    fn shown(self, run: &Run, created: Created, alive: bool) -> ShownRun {
        let definition = run.definition();
        let graph = &definition.graph;
        let told = self.outputs.into_iter().zip(self.attempts);
        let mut nodes: Vec<_> = graph
            .nodes()
            .zip(told)
            .map(|(node, (output, attempts))| ShownNode {
                id: graph.id(node).to_string(),
                kind: definition.node(node).kind.as_str(),
                state: run.state(node),
                settled: run.is_settled(node),
                wave: graph.wave(node),
                output: output.filter(|output| !output.is_null()),
                error: run.error(node),
                skipped: run.skipped(node).map(|(why, by)| (why, by.map(|by| graph.id(by).to_string()))),
                tainted: run.is_tainted(node),
                due: run.due(node),
                attempts,
            })
            .collect();
        nodes.sort_by(|a, b| (a.wave, &a.id).cmp(&(b.wave, &b.id)));
        ShownRun {
            run: self.run,
            state: RunState::of(run.status(), alive),
            created,
            version: definition.version.clone(),
            started_at: run.started_at(),
            ended_at: run.ended_at(),
            ending: run.ended().cloned(),
            context: run.context(),
            counts: run.counts(),
            usage: run.usage(),
            owner: self.owner,
            questions: run.questions().cloned().collect(),
            decisions: self.people.decisions,
            messages: self.people.messages,
            nodes,
        }
    }
}
