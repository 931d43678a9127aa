//! The rules for one node, wherever it stands (`R-RES-2`).

use std::collections::BTreeSet;

use super::options::{ResumeOptions, TaskHashes};
use super::past::PastNode;
use super::reason::{Given, Reason};
use crate::hash::Digest;
use crate::run::NodeState;

/// What holds for all nodes of one plan.
pub(super) struct Judge<'plan> {
    pub options: &'plan ResumeOptions,
    /// The addresses that a person named.
    pub named: BTreeSet<&'plan str>,
    /// Whether the one that is named is where a fork begins.
    pub forks: bool,
    /// Whether the run itself goes on, so that everything settled stands (`R-RES-1`).
    pub in_place: bool,
    /// What every node may read and is not what it was.
    pub given: Option<Given>,
    pub task_hashes: &'plan TaskHashes<'plan>,
}

/// One node, and what is known about its surroundings.
pub(super) struct Subject<'node> {
    pub address: &'node str,
    pub past: &'node PastNode,
    /// The hash of its definition now, where that may differ.
    pub hash: Option<Digest>,
    /// Whether it has `inputs`, `outputs` or `cache`.
    pub keyed: bool,
    /// Whether its end stands, as long as nothing before it runs.
    pub stands: bool,
    /// The nearest one before it that runs.
    pub upstream: Option<&'node str>,
}

impl Judge<'_> {
    /// Why the node is kept, runs or waits. Its children are not looked at.
    pub fn reason(&self, subject: &Subject<'_>, runs: &dyn Fn(&str) -> bool) -> Reason {
        let past = subject.past;
        if self.named.contains(subject.address) {
            return if self.forks { Reason::Forked } else { Reason::Named };
        }
        if subject.hash.is_some_and(|hash| hash != past.hash) {
            return Reason::DefinitionChanged;
        }
        match past.state {
            // A person let it pass; only the last move was missing.
            NodeState::Completed | NodeState::Approved if past.result.is_some() => self.completed(subject, runs),
            NodeState::Completed => Reason::ResultMissing,
            NodeState::AwaitingApproval => self.disturbed(subject).unwrap_or(Reason::AwaitingApproval),
            // A failure that waits for its retry is no failure yet.
            NodeState::Failed if !past.settled => Reason::Unfinished(NodeState::Failed),
            NodeState::Failed | NodeState::Skipped | NodeState::Cancelled => {
                self.disturbed(subject).unwrap_or_else(|| self.without_result(subject))
            }
            NodeState::Pending | NodeState::Ready | NodeState::Running | NodeState::Approved => {
                Reason::Unfinished(past.state)
            }
        }
    }

    fn completed(&self, subject: &Subject<'_>, runs: &dyn Fn(&str) -> bool) -> Reason {
        if self.options.re_execute_completed {
            return Reason::ReExecuteCompleted;
        }
        let disturbed = self.disturbed(subject);
        if disturbed.is_none() && (!subject.keyed || self.in_place) {
            return Reason::Kept;
        }
        let now = (self.task_hashes)(subject.address, runs);
        let proven = now.is_some() && now == subject.past.task_hash;
        match (disturbed, subject.upstream) {
            (Some(reason), _) if !proven => reason,
            // Unknown is not changed: definition and upstream are the same.
            (None, _) if !proven && now.is_some() => Reason::InputsChanged,
            (Some(_), Some(node)) => Reason::Proven { node: node.to_owned() },
            (Some(_) | None, _) => Reason::Kept,
        }
    }

    fn without_result(&self, subject: &Subject<'_>) -> Reason {
        let past = subject.past;
        match (past.state, &past.skip) {
            _ if subject.stands => Reason::Stands(past.state),
            (NodeState::Failed, _) if self.options.retry_failed => Reason::Failed,
            (NodeState::Failed, _) => Reason::KeptFailure,
            // Nothing was decided about it: kept as skipped it would look done (`R-RES-2`).
            (NodeState::Skipped, None) => Reason::RunStopped,
            (NodeState::Skipped, Some(_)) if past.was_stopped() => Reason::RunStopped,
            (NodeState::Skipped, Some((reason, _))) => Reason::StaysSkipped(*reason),
            (state, _) => Reason::Unfinished(state),
        }
    }

    /// Why what the node was given is not what it was.
    fn disturbed(&self, subject: &Subject<'_>) -> Option<Reason> {
        let upstream = subject.upstream.map(|node| Reason::Upstream { node: node.to_owned() });
        upstream.or_else(|| self.given.clone().map(Reason::GivenChanged))
    }
}
