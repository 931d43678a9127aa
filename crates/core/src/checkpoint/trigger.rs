//! Which commits get a mark (`R-CP-1`).

use super::mark::Trigger;
use crate::definition::{CompiledNode, Kind};
use crate::file::CheckpointPolicy;
use crate::run::recovery::{NoHigher, Tiers};
use crate::run::{Commit, Entry, QuestionKind, Run, Timestamp};

/// Why a commit gets a mark, if it does: the strongest reason. `last` is when the run was last marked.
///
/// What a commit starts or asks begins only when it is durable, so a mark in it is one before that. Waves and phases of
/// graphs inside nodes have no entries, so they have no marks either (`R-GROW-2`).
pub fn trigger_of(run: &Run, commit: &Commit, last: Option<Timestamp>) -> Option<Trigger> {
    let open = CheckpointPolicy::default();
    let policy = run.definition().policy.checkpoints.as_ref().unwrap_or(&open);
    let gates = policy.before_gates.unwrap_or(true);
    let expensive = policy.before_expensive.unwrap_or(true);
    let reason = |entry: &Entry| match entry {
        Entry::Ended(_) => Some(Trigger::RunEnd),
        Entry::PhaseCompleted { .. } => Some(Trigger::PhaseEnd),
        Entry::WaveCompleted { .. } => Some(Trigger::WaveEnd),
        Entry::Asked(question) => (gates && question.kind == QuestionKind::Gate).then_some(Trigger::BeforeGate),
        Entry::Started { node, .. } => {
            let node = run.compiled(*node);
            if node.kind == Kind::Approve {
                gates.then_some(Trigger::BeforeGate)
            } else {
                (expensive && is_expensive(node)).then_some(Trigger::BeforeExpensive)
            }
        }
        _ => None,
    };
    let since = last.or_else(|| run.started_at());
    let long_ago = policy.autosave.zip(since).is_some_and(|(every, since)| commit.at.since(since) >= every);
    commit.entries.iter().filter_map(reason).chain(long_ago.then_some(Trigger::Autosave)).max()
}

/// Whether a node costs much: it says so, or it is an agent on the highest tier.
fn is_expensive(node: &CompiledNode) -> bool {
    if let Some(said) = node.spec.expensive {
        return said;
    }
    let Some(agent) = node.spec.agent.as_deref() else { return false };
    let tiers = node.spec.recovery.as_ref().and_then(|recovery| recovery.tiers.as_deref());
    let tiers = tiers.map_or_else(Tiers::usual, Tiers::written);
    let model = agent.model.as_ref().map(|model| model.0.as_str());
    matches!(tiers.above(model), Err(NoHigher::Top(_)))
}
