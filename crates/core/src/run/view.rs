//! What a run looks like from outside. Readings only; nothing here is kept a second time.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cause::{CancelCause, EndStatus, Ending, SkipReason, StopCause};
use super::class::Known;
use super::created::Created;
use super::failure::NodeError;
use super::fold::{AskedQuestion, Ownership, Run};
use super::ids::Timestamp;
use super::parts::Usage;
use super::state::NodeState;
use crate::definition::Definition;
use crate::graph::NodeIndex;

/// The state of a run (`R-STATE-7`). Whether anybody owns it, and so whether it is interrupted, is for the store to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// Nobody has taken it yet.
    Created,
    /// It moves by itself.
    Running,
    /// Only a person can move it on.
    Paused(PausedBy),
    /// It is over.
    Ended(EndStatus),
}

/// Why only a person can move a run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PausedBy {
    /// Somebody paused it.
    Verb,
    /// It asks something, or waits for a signal.
    Question,
}

impl Run {
    /// The workflow it runs.
    pub fn definition(&self) -> &Definition {
        &self.root().body
    }

    /// The workflow, to share.
    pub fn shared_definition(&self) -> Arc<Definition> {
        Arc::clone(&self.root().body)
    }

    /// How it began.
    pub fn created(&self) -> Option<&Created> {
        self.created.as_deref()
    }

    /// When it was created.
    pub const fn started_at(&self) -> Option<Timestamp> {
        self.started_at
    }

    /// When it ended.
    pub const fn ended_at(&self) -> Option<Timestamp> {
        self.ended_at
    }

    /// What its attempts have cost so far.
    pub const fn usage(&self) -> Usage {
        self.usage
    }

    /// The state of the run.
    pub fn status(&self) -> RunStatus {
        match &self.ending {
            Some(ending) => RunStatus::Ended(ending.status),
            None if self.held => RunStatus::Paused(PausedBy::Verb),
            None if self.people_only_since.is_some() => RunStatus::Paused(PausedBy::Question),
            None if self.ownership.is_none() => RunStatus::Created,
            None => RunStatus::Running,
        }
    }

    /// How it ended.
    pub fn ended(&self) -> Option<&Ending> {
        self.ending.as_deref()
    }

    /// Why it stops or stopped early.
    pub fn stopping(&self) -> Option<&StopCause> {
        self.root().stop.as_ref()
    }

    /// Who owns it.
    pub const fn ownership(&self) -> Option<Ownership> {
        self.ownership
    }

    /// When its deadline is, as far as that is known: it moves while only a person could move the run.
    pub const fn deadline(&self) -> Option<Timestamp> {
        self.deadline
    }

    /// The state of a node.
    pub fn state(&self, node: NodeIndex) -> NodeState {
        self.nodes[node.at()].state
    }

    /// Whether nothing about a node will change any more (`R-STATE-4`).
    pub fn is_settled(&self, node: NodeIndex) -> bool {
        self.nodes[node.at()].settled
    }

    /// The current or last attempt of a node; 0 before the first.
    pub fn attempt(&self, node: NodeIndex) -> u32 {
        self.nodes[node.at()].attempt
    }

    /// Whether its result is not what its work would have given.
    pub fn is_tainted(&self, node: NodeIndex) -> bool {
        self.nodes[node.at()].tainted
    }

    /// When a node's wait is over or its retry is due.
    pub fn due(&self, node: NodeIndex) -> Option<Timestamp> {
        self.nodes[node.at()].rare().due
    }

    /// Why a node was skipped, and because of which source.
    pub fn skipped(&self, node: NodeIndex) -> Option<(SkipReason, Option<NodeIndex>)> {
        self.nodes[node.at()].skipped
    }

    /// Why a node was cancelled.
    pub fn cancelled(&self, node: NodeIndex) -> Option<CancelCause> {
        self.nodes[node.at()].cancelled
    }

    /// The error of a node that failed, or whose gate did not let it pass.
    pub fn error(&self, node: NodeIndex) -> Option<NodeError> {
        let record = &self.nodes[node.at()];
        match record.cancelled {
            Some(CancelCause::Rejected) => Some(NodeError::new(Known::REJECTED, "a person rejected it")),
            Some(CancelCause::TimedOut) => Some(NodeError::new(Known::APPROVAL_TIMEOUT, "nobody answered in time")),
            Some(CancelCause::Stopped | CancelCause::SkippedByPerson) => None,
            None => record.rare().error.clone().filter(|_| record.state == NodeState::Failed),
        }
    }

    /// Failures that nobody handles, by id.
    pub fn unhandled(&self) -> impl Iterator<Item = NodeIndex> {
        self.root().unhandled.iter().copied()
    }

    /// The context after all patches so far (`R-SCHED-4`).
    pub fn context(&self) -> Value {
        self.root().context.whole()
    }

    /// The context that a node sees: what the workflow starts with and the patches of its ancestors.
    pub fn context_of(&self, node: NodeIndex) -> Value {
        let level = self.level(node);
        let around = level.parent.filter(|_| level.origin.shares_context()).map(|parent| self.context_of(parent));
        level.context.seen_by(&level.body.graph, level.local(node), around)
    }

    /// Every question so far.
    pub fn questions(&self) -> impl Iterator<Item = &AskedQuestion> {
        self.questions.values()
    }

    /// How many attempts are being executed.
    pub fn executing(&self) -> u32 {
        self.root().occupied
    }

    /// The place of a node in the canonical order (phase, depth, id) of its graph.
    pub(super) fn canonical_place(&self, node: NodeIndex) -> (u16, u32, NodeIndex) {
        let level = self.level(node);
        let local = level.local(node);
        (level.body.graph.phase(local), level.body.graph.wave(local), node)
    }
}
