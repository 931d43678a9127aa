//! What a run remembers of one node. A million of these must fit: what few nodes have lives behind one pointer.

use std::sync::Arc;

use serde_json::Value;

use super::cause::{CancelCause, SkipReason};
use super::failure::{Feedback, NodeError};
use super::ids::{QuestionId, Seq, Timestamp};
use super::input::Stage;
use super::parts::Verdict;
use super::recovering::Climb;
use super::recovery::Confidence;
use super::state::NodeState;
use crate::graph::{EdgeIndex, NodeIndex};

/// A node of a run.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, and a byte of a million records")]
pub(super) struct Record {
    pub state: NodeState,
    /// Whether nothing about it will change any more (`R-STATE-4`).
    pub settled: bool,
    /// What is being done for the current attempt; meaningful while running.
    pub stage: Stage,
    pub cancelled: Option<CancelCause>,
    pub skipped: Option<(SkipReason, Option<NodeIndex>)>,
    /// Whether its result is not what its work would have given.
    pub tainted: bool,
    /// How much its result can be trusted, once it has one.
    pub confidence: Confidence,
    /// Whether it takes one of the places of `max_parallelism`.
    pub holds_slot: bool,
    /// Whether it began as it ended in an earlier run.
    pub kept: bool,
    /// The current or last attempt; 0 before the first.
    pub attempt: u32,
    /// Incoming edges whose source is not settled.
    pub open_edges: u32,
    /// Unsettled nodes that may read its output.
    pub readers: u32,
    /// Since which entry the world owes it something; `Seq(0)` when nothing is owed.
    pub demand: Seq,
    rare: Option<Box<Rare>>,
}

/// What only some nodes have.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Rare {
    pub output: Option<Arc<Value>>,
    pub patch: Option<Arc<Value>>,
    pub error: Option<NodeError>,
    pub verdict: Option<Box<Verdict>>,
    /// When a wait is over or a retry is due.
    pub due: Option<Timestamp>,
    pub question: Option<QuestionId>,
    /// Failed attempts that count against `max_attempts`.
    pub tries: u32,
    /// What the next attempt is told to do better.
    pub feedback: Vec<Feedback>,
    pub climb: Option<Box<Climb>>,
}

static NOTHING: Rare = Rare {
    output: None,
    patch: None,
    error: None,
    verdict: None,
    due: None,
    question: None,
    tries: 0,
    feedback: Vec::new(),
    climb: None,
};

impl Record {
    pub const fn new(open_edges: u32, readers: u32) -> Self {
        Self {
            state: NodeState::Pending,
            settled: false,
            stage: Stage::Work,
            cancelled: None,
            skipped: None,
            tainted: false,
            confidence: Confidence::CLEAN,
            holds_slot: false,
            kept: false,
            attempt: 0,
            open_edges,
            readers,
            demand: Seq(0),
            rare: None,
        }
    }

    pub fn rare(&self) -> &Rare {
        self.rare.as_deref().unwrap_or(&NOTHING)
    }

    pub fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Forgets what has no further use, and gives the memory back if nothing is left.
    pub fn forget(&mut self, what: impl FnOnce(&mut Rare)) {
        if let Some(rare) = &mut self.rare {
            what(rare);
            if **rare == NOTHING {
                self.rare = None;
            }
        }
    }

    /// Whether the condition of an edge into it was found not to hold.
    pub fn found_unmet(&self, edge: EdgeIndex) -> bool {
        self.rare().verdict.as_ref().is_some_and(|verdict| verdict.unmet.binary_search(&edge).is_ok())
    }

    /// Whether it ended in a way that `on_failure` edges see (`R-EDGE-1`).
    pub fn has_failed(&self) -> bool {
        self.settled && (self.state == NodeState::Failed || self.cancelled.is_some_and(CancelCause::is_failure))
    }
}

#[cfg(test)]
mod tests {
    use super::Record;

    #[test]
    fn a_million_records_stay_small() {
        // What only some nodes have belongs into `Rare`; what all have is paid for by each of a million.
        assert!(size_of::<Record>() <= 48, "{} bytes", size_of::<Record>());
    }
}
