//! What a journal holds: one durable fact an entry (`R-STATE-3`, `R-JRN-1`).
//!
//! A move of a node is always an entry of its own, and every entry but the creation names nodes by their index in the
//! stored definition. Entries are the stored vocabulary of a run: their JSON form is versioned in [`super::Commit`], and
//! samples of every kind are locked in the tests.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cause::{CancelCause, Ending, SkipReason, StopCause};
use super::created::Created;
use super::failure::{Feedback, Grade, NodeError};
use super::ids::{Fence, OwnerId, QuestionId, Timestamp};
use super::parts::{Answer, CommandRecord, Expansion, Product, Taint, Usage, Verdict};
use super::question::Question;
use super::recovering::{Chosen, Terms};
use super::recovery::Allowance;
use crate::graph::NodeIndex;

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
        /// Its model, and what is set aside for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        terms: Option<Box<Terms>>,
    },
    /// What a failed stage of an attempt cost; what becomes of the attempt follows (`R-REC-3`, `R-REC-6`).
    Spent {
        /// The node.
        node: NodeIndex,
        /// The attempt.
        attempt: u32,
        /// What it cost.
        usage: Usage,
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
        /// Why the ladder ends with the fallback.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        chosen: Option<Box<Chosen>>,
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
        /// What the ladder does next, and why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        chosen: Option<Box<Chosen>>,
    },
    /// An attempt failed, and the node goes on: its hook splits the task into smaller ones (`R-REC-1`).
    Decomposing {
        /// The node.
        node: NodeIndex,
        /// The attempt.
        attempt: u32,
        /// The error.
        error: Box<NodeError>,
        /// Why.
        chosen: Box<Chosen>,
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
    /// No budget pays for a node: it stays ready and waits for money; no move (`R-REC-6`).
    Withheld {
        /// The node.
        node: NodeIndex,
        /// What it is expected to cost.
        expected: Usage,
    },
    /// A person allows more (`R-REC-6`).
    BudgetRaised {
        /// The node whose children have that budget; the whole run without it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        inside: Option<NodeIndex>,
        /// By how much.
        by: Allowance,
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

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
pub(super) const fn is_false(value: &bool) -> bool {
    !*value
}
