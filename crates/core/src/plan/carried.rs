//! What a new run begins with, so that it never reads its parent again (`R-RES-7`).

use std::collections::BTreeMap;

use super::past::{Past, PastNode};
use super::planned::Plan;
use super::reason::Reason;
use crate::run::{CancelCause, Carried, Kept, KeptEnd, KeptGrowth, KeptPlace, NodeState};

impl Plan {
    /// What a run of this plan begins with.
    pub fn carried(&self, past: &Past) -> Carried {
        let mut carried = Carried::default();
        for node in &self.nodes {
            let Some(was) = past.find(&node.id) else { continue };
            let place = || {
                let place = KeptPlace { kind: was.kind, needs: was.needs.clone(), keyed: was.keyed };
                node.id.contains('/').then(|| Box::new(place))
            };
            if let Some(end) = end(was, &node.reason) {
                let kept = Kept {
                    end,
                    hash: was.hash,
                    task_hash: was.task_hash,
                    cost: was.cost,
                    attempts: was.attempts,
                    unmet: was.unmet.clone(),
                    place: place(),
                };
                carried.nodes.insert(node.id.clone(), kept);
            }
            let grew = was.inside.body.is_some() || was.inside.made_of.is_some();
            if grew && node.reason.keeps_inside() {
                let body = was.inside.body.clone();
                let (made_of, spent) = (was.inside.made_of, was.inside.spent.clone());
                let growth = KeptGrowth { hash: was.hash, made_of, body, spent, place: place() };
                carried.grown.insert(node.id.clone(), growth);
            }
        }
        if !self.own_lineage {
            let mut generations = past.retired.clone();
            advance("", &past.nodes, &carried.nodes, &mut generations);
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
        Reason::AwaitingApproval => {
            Some(KeptEnd::AwaitingApproval { result: was.result.clone(), asks: was.asks.clone() })
        }
        // Work that may happen at most once, and may have happened, is not begun blindly (`R-CLAIM-5`).
        Reason::Failed
        | Reason::Unfinished(_)
        | Reason::RunStopped
        | Reason::Upstream { .. }
        | Reason::GivenChanged(_)
        | Reason::DefinitionChanged => {
            was.asks.clone().map(|asks| KeptEnd::AwaitingApproval { result: None, asks: Some(asks) })
        }
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
