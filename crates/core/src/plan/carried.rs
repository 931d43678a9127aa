//! What a new run begins with, so that it never reads its parent again (`R-RES-7`).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::past::{Cost, Past, PastNode, PastResult};
use super::planned::Plan;
use super::reason::Reason;
use crate::hash::Digest;
use crate::run::{CancelCause, NodeError, NodeState, SkipReason};

/// What a new run begins with. All keys are addresses.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Carried {
    /// The nodes that begin as they ended. One inside another is kept only if its definition has the same hash when its
    /// parent has grown again.
    pub nodes: BTreeMap<String, Kept>,
    /// The nodes that growing nodes had produced, where that work need not be done again.
    pub bodies: BTreeMap<String, Arc<Value>>,
    /// The same of generated phases, by name.
    pub phases: BTreeMap<String, Arc<Value>>,
    /// The generations that are not 0, also of nodes that are gone and may come back (`R-CLAIM-6`).
    pub generations: BTreeMap<String, u32>,
}

/// A node that begins as it ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// How it ended.
    pub end: KeptEnd,
    /// The hash of its definition.
    pub hash: Digest,
    /// The hash of everything that its work read.
    pub task_hash: Option<Digest>,
    /// What its work took.
    pub cost: Option<Cost>,
}

/// How a node that is kept ended.
#[derive(Debug, Clone, PartialEq)]
pub enum KeptEnd {
    /// With a result.
    Completed(PastResult),
    /// With an error.
    Failed(Option<NodeError>),
    /// Not at all, because of this source.
    Skipped(SkipReason, Option<String>),
    /// It was taken out.
    Cancelled(CancelCause),
    /// It has not: a person is asked about this result, or, without one, what to do.
    AwaitingApproval(Option<PastResult>),
}

impl Plan {
    /// What a run of this plan begins with.
    pub fn carried(&self, past: &Past) -> Carried {
        let mut carried = Carried::default();
        for node in &self.nodes {
            let Some(was) = past.find(&node.id) else { continue };
            if let Some(end) = end(was, &node.reason) {
                let kept = Kept { end, hash: was.hash, task_hash: was.task_hash, cost: was.cost };
                carried.nodes.insert(node.id.clone(), kept);
            }
            match &was.inside.body {
                Some(body) if node.reason.keeps_inside() => {
                    carried.bodies.insert(node.id.clone(), Arc::clone(body));
                }
                _ => {}
            }
        }
        for (name, phase) in &past.phases {
            match &phase.inside.body {
                Some(body) if self.phases_kept.contains(name) => {
                    carried.phases.insert(name.clone(), Arc::clone(body));
                }
                _ => {}
            }
        }
        if !self.own_lineage {
            let mut generations = past.retired.clone();
            let tops = past.phases.values().map(|phase| &phase.inside.children).chain([&past.nodes]);
            for children in tops {
                advance("", children, &carried.nodes, &mut generations);
            }
            generations.retain(|_, generation| *generation > 0);
            carried.generations = generations;
        }
        carried
    }
}

/// How a node begins that does not begin anew.
fn end(was: &PastNode, reason: &Reason) -> Option<KeptEnd> {
    match reason {
        Reason::Kept | Reason::Proven { .. } => was.result.clone().map(KeptEnd::Completed),
        Reason::KeptFailure | Reason::Stands(NodeState::Failed) => Some(KeptEnd::Failed(was.error.clone())),
        Reason::StaysSkipped(reason) => {
            Some(KeptEnd::Skipped(*reason, was.skip.as_ref().and_then(|(_, cause)| cause.clone())))
        }
        Reason::AwaitingApproval => Some(KeptEnd::AwaitingApproval(was.result.clone())),
        Reason::Stands(NodeState::Skipped) => was.skip.clone().map(|(reason, cause)| KeptEnd::Skipped(reason, cause)),
        Reason::Stands(NodeState::Cancelled) => Some(KeptEnd::Cancelled(was.cancelled.unwrap_or(CancelCause::Stopped))),
        _ => None,
    }
}

/// A node that had completed and is not kept starts a new generation; every other goes on with its own.
fn advance(
    prefix: &str,
    nodes: &BTreeMap<String, PastNode>,
    kept: &BTreeMap<String, Kept>,
    generations: &mut BTreeMap<String, u32>,
) {
    for (key, node) in nodes {
        let address = format!("{prefix}{key}");
        let over = node.state == NodeState::Completed && !kept.contains_key(&address);
        let generation = node.generation.saturating_add(u32::from(over));
        advance(&format!("{address}/"), &node.inside.children, kept, generations);
        // An address that was gone and came back goes on where it was, or further.
        let known = generations.entry(address).or_default();
        *known = generation.max(*known);
    }
}
