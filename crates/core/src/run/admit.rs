//! What may be an entry at all: refused live before anything is written, and again on replay (`R-STATE-1`).

use super::cause::{SkipReason, StopCause};
use super::entry::Entry;
use super::fold::{CorruptDetail, Run};
use super::ids::{QuestionId, Seq};
use super::input::Stage;
use super::record::Record;
use super::state::NodeState;
use crate::graph::{EdgeIndex, NodeIndex};

impl Run {
    /// Refuses what cannot be: before anything is changed, live before anything is written.
    pub(super) fn admit(&self, entry: &Entry) -> Result<(), CorruptDetail> {
        let other = |what| Err(CorruptDetail::Other(what));
        if matches!(entry, Entry::Created(_)) != (self.seq == Seq(0)) {
            return other("is a creation in the middle, or something else at the start");
        }
        if let Entry::Created(created) = entry
            && created.graph_hash != self.definition().graph_hash
        {
            return other("was made for another definition");
        }
        if self.ending.is_some() {
            return other("follows the end of the run");
        }
        self.admit_beside_nodes(entry)?;
        let Some(place) = Place::of(entry) else { return Ok(()) };
        let Some(record) = self.nodes.get(place.node.at()) else { return other("names a node that does not exist") };
        if let Some(to) = place.to.filter(|to| !record.state.is_valid_transition(*to)) {
            let id = self.address(place.node);
            return record.state.moved(to, &id).map(drop).map_err(CorruptDetail::Transition);
        }
        if record.settled {
            return other("moves a node that is settled");
        }
        let started = u32::from(matches!(entry, Entry::Started { .. }));
        let expected = record.attempt.saturating_add(started);
        if place.attempt.is_some_and(|attempt| attempt != expected) {
            return other("is about another attempt");
        }
        if !place.stages.is_empty() && (record.state != NodeState::Running || !place.stages.contains(&record.stage)) {
            return other("ends a stage that the node is not at");
        }
        if place.to.is_some() && record.rare().question.is_some() {
            return other("moves a node whose question is open");
        }
        self.admit_decision(entry, record)
    }

    /// A node is decided only when all its sources are settled, and by its own edges.
    fn admit_decision(&self, entry: &Entry, record: &Record) -> Result<(), CorruptDetail> {
        let other = |what| Err(CorruptDetail::Other(what));
        let undecided = record.state == NodeState::Pending && record.open_edges > 0;
        match entry {
            Entry::Ready { .. } if undecided => other("decides a node whose sources are not settled"),
            Entry::Ready { node, verdict: Some(verdict) } => {
                let mut own = self.edges_into(*node).map(|(edge, ..)| edge);
                let first = own.next();
                let last = own.last().or(first);
                let is_own = |edge: &EdgeIndex| first <= Some(*edge) && Some(*edge) <= last;
                if verdict.unmet.iter().all(is_own) { Ok(()) } else { other("judges an edge of another node") }
            }
            Entry::Skipped { reason, .. } if undecided && *reason != SkipReason::RunStopped => {
                other("decides a node whose sources are not settled")
            }
            Entry::Withheld { node, .. } if record.state != NodeState::Ready || self.withheld.contains_key(node) => {
                other("withholds money from what does not ask for it")
            }
            Entry::Started { node, terms: Some(terms), .. }
                if terms.reserved.is_some_and(|reserved| !self.affords(*node, &reserved)) =>
            {
                other("reserves more than there is")
            }
            Entry::Finalised { .. } if record.state != NodeState::Failed => other("makes final what has not failed"),
            _ => Ok(()),
        }
    }

    /// What entries say about anything but nodes must be so, too.
    fn admit_beside_nodes(&self, entry: &Entry) -> Result<(), CorruptDetail> {
        let is_open = |id: &QuestionId| self.questions.get(id).is_some_and(|asked| asked.closed.is_none());
        let problem = match entry {
            Entry::Owned { fence, .. } if self.ownership.is_some_and(|current| current.fence >= *fence) => {
                "is a claim with an old fence"
            }
            Entry::Asked(question) if question.id != QuestionId(self.next_question) => "asks out of turn",
            Entry::Answered(answer) if !is_open(&answer.question) => "answers what is not asked",
            Entry::Closed { question } if !is_open(question) => "closes what is not asked",
            Entry::SignalTaken { name, .. } if !self.signals.contains_key(name) => "takes a signal that nobody sent",
            Entry::WaveCompleted { phase, wave } if self.root().waves.completed() != Some((*phase, *wave)) => {
                "announces a wave that is not done"
            }
            Entry::PhaseCompleted { phase } if !self.may_complete(*phase) => "announces a phase that is not done",
            Entry::PeopleOnly { on } if *on == self.people_only_since.is_some() => "says again whom the run waits for",
            Entry::Stopping { inside: Some(node), .. } if self.inside(*node).is_none() => "stops what has not begun",
            Entry::Stopping { inside, cause } if self.stops_already(*inside, cause) => "stops a run that stops already",
            Entry::Ended(_) if self.root().unsettled > 0 => "ends a run whose nodes are not settled",
            Entry::Skipped { cause: Some(node), .. } | Entry::Stopping { cause: StopCause::FailFast { node }, .. }
                if node.at() >= self.nodes.len() =>
            {
                "blames a node that does not exist"
            }
            _ => return Ok(()),
        };
        Err(CorruptDetail::Other(problem))
    }

    fn stops_already(&self, inside: Option<NodeIndex>, cause: &StopCause) -> bool {
        let at = inside.and_then(|node| self.inside(node)).unwrap_or(0);
        self.levels[at].stop.as_ref().is_some_and(|stop| stop.level() >= cause.level())
    }
}

/// The node an entry is about, and what must be true of it.
struct Place {
    node: NodeIndex,
    to: Option<NodeState>,
    attempt: Option<u32>,
    /// The stages that it may end.
    stages: &'static [Stage],
}

impl Place {
    fn of(entry: &Entry) -> Option<Self> {
        use NodeState as S;
        let moved = |node: &NodeIndex, to| Some(Self { node: *node, to: Some(to), attempt: None, stages: &[] });
        let tried = |node: &NodeIndex, attempt: &u32, to| {
            Some(Self { node: *node, to: Some(to), attempt: Some(*attempt), stages: &[] })
        };
        let staged = |node: &NodeIndex, attempt: &u32, stages| {
            Some(Self { node: *node, to: None, attempt: Some(*attempt), stages })
        };
        match entry {
            Entry::Ready { node, .. } => moved(node, S::Ready),
            Entry::Started { node, attempt, .. } => tried(node, attempt, S::Running),
            Entry::Completed { node, attempt, .. } => tried(node, attempt, S::Completed),
            Entry::Failed { node, attempt, .. } => tried(node, attempt, S::Failed),
            Entry::Asked(question) => tried(question.node.as_ref()?, &question.attempt, S::AwaitingApproval),
            Entry::Approved { node } => moved(node, S::Approved),
            Entry::Skipped { node, .. } => moved(node, S::Skipped),
            Entry::Cancelled { node, .. } => moved(node, S::Cancelled),
            Entry::Produced { node, attempt, .. } => {
                staged(node, attempt, &[Stage::Work, Stage::Probe, Stage::Decompose])
            }
            Entry::Expanded(expansion) => staged(&expansion.node, &expansion.attempt, &[Stage::Grow, Stage::Children]),
            Entry::Gathered { node, attempt } => staged(node, attempt, &[Stage::Children]),
            Entry::Checked { node, attempt } => staged(node, attempt, &[Stage::Check]),
            Entry::Graded { node, attempt, .. } => staged(node, attempt, &[Stage::Evaluate]),
            Entry::Unknown { node, attempt, .. } => staged(node, attempt, &[Stage::Work]),
            Entry::Spent { node, attempt, .. } => staged(node, attempt, &Stage::PAID),
            Entry::Decomposing { node, attempt, .. } => {
                staged(node, attempt, &[Stage::Work, Stage::Check, Stage::Evaluate])
            }
            Entry::Finalised { node } | Entry::SignalTaken { node, .. } | Entry::Withheld { node, .. } => {
                Some(Self { node: *node, to: None, attempt: None, stages: &[] })
            }
            Entry::Created(_)
            | Entry::Owned { .. }
            | Entry::DeadlineMoved { .. }
            | Entry::BudgetRaised { .. }
            | Entry::Answered(_)
            | Entry::Closed { .. }
            | Entry::Signalled { .. }
            | Entry::WaveCompleted { .. }
            | Entry::PhaseCompleted { .. }
            | Entry::Command(_)
            | Entry::Held { .. }
            | Entry::PeopleOnly { .. }
            | Entry::Stopping { .. }
            | Entry::Ended(_) => None,
        }
    }
}
