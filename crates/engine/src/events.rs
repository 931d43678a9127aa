//! A journal as events that people and programs read (`R-CLI-8`, `R-STATE-3`).

use std::sync::Arc;

use serde::Serialize;
use sprag_core::definition::Definition;
use sprag_core::graph::NodeIndex;
use sprag_core::run::{
    Choice, Commit, EndStatus, Entry, NodeError, NodeState, Refusal, Run, RunId, Seq, StopCause, Timestamp, Verb,
};

/// Something durable that happened to a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Event {
    /// What.
    #[serde(flatten)]
    pub what: What,
    /// The run.
    pub run_id: RunId,
    /// When, as people write it.
    #[serde(serialize_with = "as_text")]
    pub at: Timestamp,
    /// Its number in the journal.
    pub seq: Seq,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum What {
    /// The run exists.
    RunCreated {
        /// The workflow.
        workflow: String,
        /// How many nodes it has.
        nodes: usize,
    },
    /// A process owns the run from here on.
    RunOwned {
        /// Whether a person resumed it.
        resumed: bool,
    },
    /// A node moved.
    Node(Box<NodeMoved>),
    /// The work of an attempt is done; its later stages are still to come.
    Produced {
        /// The node.
        node: String,
        /// The attempt.
        attempt: u32,
    },
    /// Every node of a wave is settled.
    WaveCompleted {
        /// The wave, from 0.
        wave: u32,
    },
    /// Every node of a phase is settled.
    PhaseCompleted {
        /// The phase, from 0.
        phase: u16,
    },
    /// A question is open.
    Asked {
        /// Its number.
        question: String,
        /// The node that waits; none where the whole run is meant.
        #[serde(skip_serializing_if = "Option::is_none")]
        node: Option<String>,
        /// What is asked.
        shown: String,
    },
    /// A question was answered.
    Answered {
        /// Its number.
        question: String,
        /// What was chosen.
        choice: Choice,
        /// By whom.
        by: String,
    },
    /// Somebody wanted something of the run.
    Command {
        /// What, in a word.
        verb: &'static str,
        /// Who.
        by: String,
        /// Why it changed nothing.
        #[serde(skip_serializing_if = "Option::is_none")]
        refused: Option<Refusal>,
    },
    /// The run stops before its nodes are done.
    Stopping {
        /// Why, in a word.
        cause: &'static str,
    },
    /// The run is over.
    RunEnded {
        /// How.
        status: EndStatus,
        /// The exit code of the command that ran it.
        exit_code: u8,
        /// Whether some result is not what its work would have given.
        degraded: bool,
        /// The failure that decided it.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<NodeError>,
    },
}

/// A move of a node.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeMoved {
    /// The node.
    pub node: String,
    /// The attempt it is about; 0 before the first.
    pub attempt: u32,
    /// Where it was.
    pub from: &'static str,
    /// Where it is.
    pub to: &'static str,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<NodeError>,
    /// When its retry is due, or its wait over.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_text_if_any")]
    pub due: Option<Timestamp>,
    /// Why it was skipped or cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The node that caused it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}

/// Turns commits into events, in order.
#[derive(Debug)]
pub struct Reader {
    run: RunId,
    definition: Arc<Definition>,
    nodes: Vec<(NodeState, u32)>,
}

impl Reader {
    /// From the beginning of a journal.
    pub fn new(run: RunId, definition: Arc<Definition>) -> Self {
        let nodes = vec![(NodeState::Pending, 0); definition.graph.len()];
        Self { run, definition, nodes }
    }

    /// From where a run stands.
    pub fn from(id: RunId, run: &Run) -> Self {
        let definition = run.shared_definition();
        let nodes = definition.graph.nodes().map(|node| (run.state(node), run.attempt(node))).collect();
        Self { run: id, definition, nodes }
    }

    /// The workflow of the run.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// The events of the next commit.
    pub fn read(&mut self, commit: &Commit) -> Vec<Event> {
        let numbered = (commit.first.0..).map(Seq).zip(&commit.entries);
        let mut events = Vec::new();
        for (seq, entry) in numbered {
            if let Some(what) = self.event(entry) {
                events.push(Event { what, run_id: self.run, at: commit.at, seq });
            }
        }
        events
    }

    fn event(&mut self, entry: &Entry) -> Option<What> {
        Some(match entry {
            Entry::Created(created) => {
                What::RunCreated { workflow: created.workflow.to_string(), nodes: self.definition.graph.len() }
            }
            Entry::Owned { person, .. } => What::RunOwned { resumed: *person },
            Entry::Ready { node, .. } => self.moved(*node, NodeState::Ready, |_| {}),
            Entry::Started { node, attempt, due, .. } => {
                self.nodes[node.at()].1 = *attempt;
                self.moved(*node, NodeState::Running, |moved| moved.due = *due)
            }
            Entry::Produced { node, attempt, .. } => What::Produced { node: self.name(*node), attempt: *attempt },
            Entry::Completed { node, .. } => self.moved(*node, NodeState::Completed, |_| {}),
            Entry::Failed { node, error, due, .. } => self.moved(*node, NodeState::Failed, |moved| {
                moved.error = Some((**error).clone());
                moved.due = *due;
            }),
            Entry::Asked(question) => {
                if let Some(node) = question.node {
                    self.nodes[node.at()].0 = NodeState::AwaitingApproval;
                }
                What::Asked {
                    question: question.id.to_string(),
                    node: question.node.map(|node| self.name(node)),
                    shown: question.shown.clone(),
                }
            }
            Entry::Answered(answer) => {
                What::Answered { question: answer.question.to_string(), choice: answer.choice, by: answer.by.clone() }
            }
            Entry::Approved { node } => self.moved(*node, NodeState::Approved, |_| {}),
            Entry::Skipped { node, reason, cause } => {
                let cause = cause.map(|cause| self.name(cause));
                self.moved(*node, NodeState::Skipped, |moved| {
                    moved.reason = Some(reason.as_str().into());
                    moved.cause = cause;
                })
            }
            Entry::Cancelled { node, cause } => {
                let reason = serde_json::to_value(cause).ok().and_then(|word| word.as_str().map(str::to_owned));
                self.moved(*node, NodeState::Cancelled, |moved| moved.reason = reason)
            }
            Entry::WaveCompleted { wave, .. } => What::WaveCompleted { wave: *wave },
            Entry::PhaseCompleted { phase } => What::PhaseCompleted { phase: *phase },
            Entry::Command(record) => What::Command {
                verb: verb(&record.command.verb),
                by: record.command.by.clone(),
                refused: record.refused.clone(),
            },
            Entry::Stopping { inside: None, cause } => What::Stopping { cause: stop(cause) },
            Entry::Ended(ending) => What::RunEnded {
                status: ending.status,
                exit_code: ending.exit,
                degraded: ending.degraded,
                error: ending.failure.as_ref().map(|failure| failure.error.clone()),
            },
            Entry::DeadlineMoved { .. }
            | Entry::Checked { .. }
            | Entry::Graded { .. }
            | Entry::Finalised { .. }
            | Entry::Unknown { .. }
            | Entry::Spent { .. }
            | Entry::Decomposing { .. }
            | Entry::Withheld { .. }
            | Entry::BudgetRaised { .. }
            | Entry::Expanded(_)
            | Entry::Gathered { .. }
            | Entry::Stopping { inside: Some(_), .. }
            | Entry::Closed { .. }
            | Entry::Signalled { .. }
            | Entry::SignalTaken { .. }
            | Entry::Held { .. }
            | Entry::PeopleOnly { .. } => return None,
        })
    }

    fn moved(&mut self, node: NodeIndex, to: NodeState, fill: impl FnOnce(&mut NodeMoved)) -> What {
        let name = self.name(node);
        let (from, attempt) = self.nodes[node.at()];
        self.nodes[node.at()].0 = to;
        let mut moved = NodeMoved {
            node: name,
            attempt,
            from: from.as_str(),
            to: to.as_str(),
            error: None,
            due: None,
            reason: None,
            cause: None,
        };
        fill(&mut moved);
        What::Node(Box::new(moved))
    }

    fn name(&self, node: NodeIndex) -> String {
        self.definition.graph.id(node).to_string()
    }
}

/// What a person wants, in a word.
pub(crate) const fn verb(verb: &Verb) -> &'static str {
    match verb {
        Verb::Answer { .. } => "answer",
        Verb::Signal { .. } => "signal",
        Verb::Cancel { kill: false } => "cancel",
        Verb::Cancel { kill: true } => "kill",
        Verb::Pause => "pause",
        Verb::Unpause => "unpause",
    }
}

const fn stop(cause: &StopCause) -> &'static str {
    match cause {
        StopCause::FailFast { .. } => "fail_fast",
        StopCause::NodeFailures { .. } => "max_node_failures",
        StopCause::RetriesExhausted { .. } => "max_retries_exhausted",
        StopCause::PhaseFailed { .. } => "phase_failed",
        StopCause::PhaseTimeout { .. } => "phase_timeout",
        StopCause::Timeout => "timeout",
        StopCause::Deadline => "deadline",
        StopCause::Superseded { .. } => "superseded",
        StopCause::Cancel { kill: false } => "cancel",
        StopCause::Cancel { kill: true } => "kill",
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
fn as_text<S: serde::Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(at)
}

#[expect(clippy::ref_option, reason = "serde hands over references")]
fn as_text_if_any<S: serde::Serializer>(at: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => serializer.collect_str(at),
        None => serializer.serialize_none(),
    }
}
