//! What a journal holds: one durable fact an entry (`R-STATE-3`, `R-JRN-1`).
//!
//! A move of a node is always an entry of its own, and every entry but the creation names nodes by their index in the
//! stored definition. Entries are the stored vocabulary of a run: their JSON form is versioned in [`super::Commit`], and
//! samples of every kind are locked in the tests.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cause::{CancelCause, Ending, SkipReason, StopCause};
use super::failure::{Feedback, Grade, NodeError};
use super::ids::{CommandId, Fence, OwnerId, QuestionId, RunId, Timestamp};
use super::input::Command;
use super::question::{Choice, Question};
use crate::codes::Code;
use crate::definition::Definition;
use crate::file::WorkflowId;
use crate::graph::{EdgeIndex, NodeIndex};
use crate::hash::Digest;

/// One durable fact of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Entry {
    /// The run exists; its nodes are pending. Always the first entry.
    Created(Box<Created>),
    /// A process owns the run from here on. The attempts of an earlier owner are interrupted (`R-CLAIM-4`).
    Owned {
        /// The process.
        owner: OwnerId,
        /// The number that makes late writes of earlier owners fail.
        fence: Fence,
        /// Whether a person resumed the run, which forgives earlier interruptions.
        #[serde(default, skip_serializing_if = "is_false")]
        person: bool,
    },
    /// A person gave the run another deadline (`R-TIME-1`).
    DeadlineMoved {
        /// The new deadline.
        deadline: Timestamp,
    },
    /// All edges of a node are decided and its join holds, or a retry is due.
    Ready {
        /// The node.
        node: NodeIndex,
        /// What its conditions said, where that is not simply that all of them hold.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        verdict: Option<Box<Verdict>>,
    },
    /// An attempt begins.
    Started {
        /// The node.
        node: NodeIndex,
        /// The attempt, from 1.
        attempt: u32,
        /// When a wait is over by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        due: Option<Timestamp>,
    },
    /// The work of an attempt is done and paid for; only its later stages are still to come (`R-STATE-8`).
    Produced {
        /// The node.
        node: NodeIndex,
        /// The attempt.
        attempt: u32,
        /// What it produced.
        product: Box<Product>,
    },
    /// The output fits its schemas (`R-SCHED-5`).
    Checked {
        /// The node.
        node: NodeIndex,
        /// The attempt.
        attempt: u32,
    },
    /// The output was graded, well enough (`R-REC-5`).
    Graded {
        /// The node.
        node: NodeIndex,
        /// The attempt.
        attempt: u32,
        /// The grade.
        grade: Grade,
        /// What the grader said.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        feedback: Vec<Feedback>,
    },
    /// A node becomes the graph of its children, whole or not at all (`R-GROW-1`).
    Expanded(Box<Expansion>),
    /// The children of a node are done, and what they made is its output (`R-GROW-1`).
    Gathered {
        /// The node.
        node: NodeIndex,
        /// The attempt.
        attempt: u32,
    },
    /// A node has its result.
    Completed {
        /// The node.
        node: NodeIndex,
        /// The attempt.
        attempt: u32,
        /// Its result, if no earlier entry holds it and there is any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        product: Option<Box<Product>>,
        /// Why the result is not what the work itself would have given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        taint: Option<Box<Taint>>,
    },
    /// An attempt failed: for good, or until a retry is due (`R-STATE-4`).
    Failed {
        /// The node.
        node: NodeIndex,
        /// The attempt.
        attempt: u32,
        /// The error.
        error: Box<NodeError>,
        /// When the next attempt is due; a failure without it is final.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        due: Option<Timestamp>,
    },
    /// The run stops, so a failure that was to be retried is final after all; no move (`R-STATE-4`).
    Finalised {
        /// The node.
        node: NodeIndex,
    },
    /// Nobody knows whether an attempt that may happen at most once happened; its probe is asked (`R-CLAIM-5`).
    Unknown {
        /// The node.
        node: NodeIndex,
        /// The attempt.
        attempt: u32,
        /// How it ended.
        error: Box<NodeError>,
    },
    /// A question is open, and its node waits for the answer (`R-ASK-1`).
    Asked(Box<Question>),
    /// A question is closed by a person.
    Answered(Box<Answer>),
    /// A question is closed because nobody answered in time, or because the run stops.
    Closed {
        /// The question.
        question: QuestionId,
    },
    /// A person let the result of a node pass.
    Approved {
        /// The node.
        node: NodeIndex,
    },
    /// A node will not run (`R-STATE-5`).
    Skipped {
        /// The node.
        node: NodeIndex,
        /// Why.
        reason: SkipReason,
        /// The direct source that caused it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<NodeIndex>,
    },
    /// A node was taken out of the run.
    Cancelled {
        /// The node.
        node: NodeIndex,
        /// Why.
        cause: CancelCause,
    },
    /// A signal arrived.
    Signalled {
        /// Its name.
        name: Box<str>,
        /// What came with it.
        data: Arc<Value>,
        /// Whether nobody was waiting, so that it is kept for the next node that does.
        #[serde(default, skip_serializing_if = "is_false")]
        kept: bool,
    },
    /// A node took the oldest kept signal of a name.
    SignalTaken {
        /// The node.
        node: NodeIndex,
        /// The name of the signal.
        name: Box<str>,
    },
    /// Every node of a wave is settled (`R-SCHED-1`).
    WaveCompleted {
        /// The phase, from 0.
        phase: u16,
        /// The wave, from 0.
        wave: u32,
    },
    /// Every node of a phase is settled, and the next phase may start (`R-PHASE-1`).
    PhaseCompleted {
        /// The phase, from 0.
        phase: u16,
    },
    /// A command from a person, taken or refused; the entries it caused follow.
    Command(Box<CommandRecord>),
    /// The run starts nothing more, or goes on (`pause`, `unpause`).
    Held {
        /// Whether it is held.
        on: bool,
    },
    /// From here on only a person can move the run, or that is over (`R-TIME-1`).
    PeopleOnly {
        /// Whether it is so.
        on: bool,
    },
    /// The run, or the graph of one node's children, stops before its nodes are done (`R-EDGE-5`).
    Stopping {
        /// The node whose children stop; the whole run without it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        inside: Option<NodeIndex>,
        /// Why.
        cause: StopCause,
    },
    /// The run is over.
    Ended(Box<Ending>),
}

/// How a run began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Created {
    /// The run.
    pub run: RunId,
    /// The first run of its lineage, from which idempotency keys are made (`R-CLAIM-6`).
    pub first_run: RunId,
    /// The run that this one goes on from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_run: Option<RunId>,
    /// How many runs of the lineage came before.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub retry_count: u32,
    /// The workflow.
    pub workflow: WorkflowId,
    /// The hash of what a run of this workflow does.
    pub graph_hash: Digest,
    /// The stored definition that all indices refer to, where a store keeps one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<Digest>,
    /// The parameters, defaults filled in.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Value>,
    /// How far the run may grow.
    #[serde(default, skip_serializing_if = "GrowthLimits::is_default")]
    pub growth: GrowthLimits,
}

/// How far a run may grow (`R-GROW-1`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrowthLimits {
    /// How many nodes it may have, those of the file included.
    pub nodes: u32,
    /// How deep nodes may grow inside each other.
    pub depth: u32,
}

impl Default for GrowthLimits {
    fn default() -> Self {
        Self { nodes: 200_000, depth: 16 }
    }
}

impl GrowthLimits {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Created {
    /// The first run of a lineage.
    pub fn first(run: RunId, definition: &Definition, params: BTreeMap<String, Value>) -> Self {
        Self {
            run,
            first_run: run,
            previous_run: None,
            retry_count: 0,
            workflow: definition.id.clone(),
            graph_hash: definition.graph_hash,
            definition: None,
            params,
            growth: GrowthLimits::default(),
        }
    }
}

/// What a node becomes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expansion {
    /// The node.
    pub node: NodeIndex,
    /// The attempt.
    pub attempt: u32,
    /// The iteration of a loop, from 1; 0 for everything else.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub round: u32,
    /// How many children there are. They are numbered after all nodes that the run has so far.
    pub children: u32,
    /// What they are made of.
    pub of: Growth,
}

/// What children are made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Growth {
    /// One copy of the node of a `map` for each of these items.
    Items(Arc<Vec<Value>>),
    /// The graph inside a `workflow` or a `loop`, with these parameters.
    Params(BTreeMap<String, Value>),
    /// The graph that the node's work produced; the digest of it.
    Body(Digest),
}

/// What the conditions of a node's edges said.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Verdict {
    /// Edges whose `when` holds and whose condition does not, sorted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unmet: Vec<EdgeIndex>,
    /// The error of a condition: the node fails as soon as it is its turn (`R-EDGE-1`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doomed: Option<Box<NodeError>>,
}

/// What the work of an attempt produced.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Product {
    /// The output; null if there is none.
    #[serde(skip_serializing_if = "is_null")]
    pub output: Arc<Value>,
    /// A merge patch of the context (`R-CMD-1`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<Arc<Value>>,
    /// What it cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The declared outputs that it wrote, by path, with the digest of their content (`R-CACHE-3`).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, Digest>,
}

impl Product {
    /// A product that is only an output.
    pub fn of(output: Value) -> Self {
        Self { output: Arc::new(output), ..Self::default() }
    }

    /// Whether there is nothing worth an entry.
    pub fn is_empty(&self) -> bool {
        self.output.is_null() && self.patch.is_none() && self.usage.is_none() && self.files.is_empty()
    }
}

/// What an attempt cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Usage {
    /// Tokens read by the model.
    pub tokens_in: u64,
    /// Tokens written by the model.
    pub tokens_out: u64,
    /// US dollars.
    pub usd: f64,
}

impl Usage {
    /// Adds what another attempt cost.
    pub fn add(&mut self, other: &Self) {
        self.tokens_in = self.tokens_in.saturating_add(other.tokens_in);
        self.tokens_out = self.tokens_out.saturating_add(other.tokens_out);
        self.usd += other.usd;
    }
}

/// Why a result is not what the work itself would have given (`R-REC-7`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Taint {
    /// All attempts failed and the node's `fallback` stands in; the last error.
    Fallback(NodeError),
    /// A person provided it.
    Provided,
}

/// How a person closed a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The question.
    pub question: QuestionId,
    /// What the person chose.
    pub choice: Choice,
    /// Who.
    pub by: String,
    /// The command that carried the answer.
    pub command: CommandId,
}

/// A command from a person, and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandRecord {
    /// The command.
    pub command: Command,
    /// Why it changed nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refusal>,
}

/// Why a command was refused, for whoever sent it from another process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    /// The stable code.
    pub code: Code,
    /// What happened.
    pub message: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
pub(super) const fn is_false(value: &bool) -> bool {
    !*value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
const fn is_zero(value: &u32) -> bool {
    *value == 0
}

fn is_null(value: &Arc<Value>) -> bool {
    value.is_null()
}
