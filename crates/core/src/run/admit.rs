//! What may be an entry at all: refused live before anything is written, and again on replay (`R-STATE-1`).

use super::entry::Entry;
use super::fold::{CorruptDetail, Run};
use super::ids::Seq;
use super::state::{InvalidStateTransition, NodeState};
use crate::graph::NodeIndex;

impl Run {
    /// Refuses what cannot be: before anything is changed, live before anything is written.
    pub(super) fn admit(&self, entry: &Entry) -> Result<(), CorruptDetail> {
        let other = |what| Err(CorruptDetail::Other(what));
        if matches!(entry, Entry::Created(_)) != (self.seq == Seq(0)) {
            return other("is a creation in the middle, or something else at the start");
        }
        if let Entry::Created(created) = entry
            && created.graph_hash != self.definition.graph_hash
        {
            return other("was made for another definition");
        }
        if self.ending.is_some() {
            return other("follows the end of the run");
        }
        let Some(place) = Place::of(entry) else { return Ok(()) };
        let Some(record) = self.nodes.get(place.node.at()) else { return other("names a node that does not exist") };
        if let Some(to) = place.to
            && !(record.state.is_valid_transition(to))
        {
            let node = self.definition.graph.id(place.node).to_string();
            return Err(CorruptDetail::Transition(InvalidStateTransition { node, from: record.state, to }));
        }
        if record.settled {
            return other("moves a node that is settled");
        }
        let expected = if matches!(entry, Entry::Started { .. }) { record.attempt + 1 } else { record.attempt };
        if place.attempt.is_some_and(|attempt| attempt != expected) {
            return other("is about another attempt");
        }
        if place.stage && record.state != NodeState::Running {
            return other("is a stage of a node that is not running");
        }
        Ok(())
    }
}

/// The node an entry is about, and what must be true of it.
struct Place {
    node: NodeIndex,
    to: Option<NodeState>,
    attempt: Option<u32>,
    stage: bool,
}

impl Place {
    fn of(entry: &Entry) -> Option<Self> {
        use NodeState as S;
        let moved = |node: &NodeIndex, to| Some(Self { node: *node, to: Some(to), attempt: None, stage: false });
        let tried = |node: &NodeIndex, attempt: &u32, to| {
            Some(Self { node: *node, to: Some(to), attempt: Some(*attempt), stage: false })
        };
        let staged = |node: &NodeIndex, attempt: &u32| {
            Some(Self { node: *node, to: None, attempt: Some(*attempt), stage: true })
        };
        match entry {
            Entry::Ready { node, .. } => moved(node, S::Ready),
            Entry::Started { node, attempt, .. } => tried(node, attempt, S::Running),
            Entry::Completed { node, attempt, .. } => tried(node, attempt, S::Completed),
            Entry::Failed { node, attempt, .. } => tried(node, attempt, S::Failed),
            Entry::Asked(question) => tried(&question.node, &question.attempt, S::AwaitingApproval),
            Entry::Approved { node } => moved(node, S::Approved),
            Entry::Skipped { node, .. } => moved(node, S::Skipped),
            Entry::Cancelled { node, .. } => moved(node, S::Cancelled),
            Entry::Produced { node, attempt, .. }
            | Entry::Checked { node, attempt }
            | Entry::Graded { node, attempt, .. }
            | Entry::Unknown { node, attempt, .. } => staged(node, attempt),
            Entry::Finalised { node } | Entry::SignalTaken { node, .. } => {
                Some(Self { node: *node, to: None, attempt: None, stage: false })
            }
            Entry::Created(_)
            | Entry::Owned { .. }
            | Entry::DeadlineMoved { .. }
            | Entry::Answered(_)
            | Entry::Closed { .. }
            | Entry::Signalled { .. }
            | Entry::WaveCompleted { .. }
            | Entry::Command(_)
            | Entry::Held { .. }
            | Entry::PeopleOnly { .. }
            | Entry::Stopping { .. }
            | Entry::Ended(_) => None,
        }
    }
}
