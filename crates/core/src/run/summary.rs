//! A run in one line, for lists. A reading like any other: it can be made again from the journal at any time.

use serde::{Deserialize, Serialize};

use super::cause::EndStatus;
use super::fold::Run;
use super::ids::{OwnerId, RunId, Seq, Timestamp};
use super::parts::{Usage, is_zero};
use super::state::NodeState;
use super::view::{PausedBy, RunStatus};
use crate::file::{ErrorCode, WorkflowId};
use crate::hash::Digest;

/// What a list shows of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// The workflow.
    pub workflow: WorkflowId,
    /// The author's version of it.
    pub version: Option<String>,
    /// The hash of what a run of it does.
    pub graph_hash: Digest,
    /// The run that this one goes on from.
    pub previous_run: Option<RunId>,
    /// How many runs of the lineage came before.
    pub retry_count: u32,
    /// Its state, as far as the journal tells.
    pub status: RunStatus,
    /// How the command that ran it ended, once the run is over.
    pub exit: Option<u8>,
    /// Whether it ended with less than it was meant to.
    pub degraded: bool,
    /// Who owns it, or did last.
    pub owner: Option<OwnerId>,
    /// When it was created.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// How its nodes are doing.
    pub counts: Counts,
    /// What it has cost.
    pub usage: Usage,
    /// The failure that decided its end.
    pub failure: Option<Failing>,
    /// The last entry that is told of here.
    pub seq: Seq,
}

/// How many nodes of a run are how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// All of them.
    pub nodes: u32,
    /// With a result.
    pub completed: u32,
    /// Failed for good.
    pub failed: u32,
    /// Not run, because of how others ended.
    pub skipped: u32,
    /// Taken out.
    pub cancelled: u32,
    /// Those of the completed ones whose result is that of an earlier run.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reused: u32,
}

impl Counts {
    /// How many will not change any more.
    pub const fn settled(self) -> u32 {
        self.completed + self.failed + self.skipped + self.cancelled
    }
}

/// A failure in one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failing {
    /// The node, if it was one.
    pub node: Option<String>,
    /// The code.
    pub code: ErrorCode,
    /// What happened.
    pub message: String,
}

impl Run {
    /// The run in one line, once it is created.
    pub fn summary(&self) -> Option<Summary> {
        let created = self.created.as_deref()?;
        let ending = self.ended();
        let failure = ending.and_then(|ending| ending.failure.as_ref()).map(|failure| Failing {
            node: failure.node.map(|node| self.address(node)),
            code: failure.error.code.clone(),
            message: failure.error.message.clone(),
        });
        Some(Summary {
            workflow: created.workflow.clone(),
            version: self.definition().version.clone(),
            graph_hash: created.graph_hash,
            previous_run: created.previous_run,
            retry_count: created.retry_count,
            status: self.status(),
            exit: ending.map(|ending| ending.exit),
            degraded: ending.is_some_and(|ending| ending.degraded),
            owner: self.ownership.map(|ownership| ownership.owner),
            started_at: self.started_at?,
            ended_at: self.ended_at,
            counts: self.counts(),
            usage: self.usage,
            failure,
            seq: self.seq,
        })
    }

    /// How many nodes are how. Looks at all of them.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts { nodes: super::fold::count(self.nodes.len()), ..Counts::default() };
        for record in self.nodes.iter().filter(|record| record.settled) {
            match record.state {
                NodeState::Completed => {
                    counts.completed += 1;
                    counts.reused += u32::from(record.kept);
                }
                NodeState::Failed => counts.failed += 1,
                NodeState::Skipped => counts.skipped += 1,
                NodeState::Cancelled => counts.cancelled += 1,
                NodeState::Pending
                | NodeState::Ready
                | NodeState::Running
                | NodeState::AwaitingApproval
                | NodeState::Approved => {}
            }
        }
        counts
    }
}

impl RunStatus {
    /// The word that people see and lists filter by.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Running => "running",
            Self::Paused(PausedBy::Verb | PausedBy::Question) => "paused",
            Self::Ended(EndStatus::Completed) => "completed",
            Self::Ended(EndStatus::Failed) => "failed",
            Self::Ended(EndStatus::Cancelled) => "cancelled",
        }
    }
}
