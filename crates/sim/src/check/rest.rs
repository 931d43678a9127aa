//! L1: a run in which nothing happens by itself any more is over, or only a person can move it.

use sprag_core::definition::Kind;
use sprag_core::file::Scheduling;
use sprag_core::graph::NodeIndex;
use sprag_core::run::{NodeState, Seq};

use super::history::{History, Verdicts};
use super::track::{Track, depths, needs_slot};

pub(super) fn check(history: &History<'_>, verdicts: &mut Verdicts) {
    let mut track = Track::new(history);
    let mut last = Seq(0);
    for line in history.lines() {
        track.read(history, &line);
        last = line.seq;
    }
    if track.ended {
        return;
    }
    let mut stuck = |what: String| verdicts.add("L1", last, what);
    if history.ledger.iter().any(|done| done.ended.is_none()) {
        stuck("something is still being executed".into());
    }
    let mut people = track.held;
    for node in history.definition.graph.nodes() {
        let known = track.of(node);
        let name = history.name(node);
        let spec = &history.definition.nodes[node.at()];
        match known.state {
            NodeState::AwaitingApproval => people = true,
            NodeState::Running if spec.kind == Kind::Wait && known.waits_until.is_none() => people = true,
            NodeState::Running => stuck(format!("`{name}` is running, and nobody works on it")),
            NodeState::Failed if known.due.is_some() => stuck(format!("the retry of `{name}` is still to come")),
            NodeState::Ready if may_start(history, &track, node) => stuck(format!("`{name}` could start")),
            NodeState::Pending => {
                let open = history.definition.graph.edges_into(node).iter().any(|edge| !track.of(edge.from).settled);
                if !open {
                    stuck(format!("`{name}` could be decided"));
                }
            }
            _ => {}
        }
    }
    if !people {
        stuck("nobody can move the run on".into());
    }
}

/// Whether only the barrier of its wave or a pause holds a ready node. Nothing runs, so there are slots.
fn may_start(history: &History<'_>, track: &Track, node: NodeIndex) -> bool {
    if track.held || (needs_slot(history, node) && history.slots == 0) {
        return false;
    }
    if history.definition.policy.scheduling == Some(Scheduling::Frontier) {
        return true;
    }
    let depths = depths(history);
    let earlier = |other: &NodeIndex| depths[other.at()] < depths[node.at()];
    history.definition.graph.nodes().filter(earlier).all(|other| track.of(other).settled)
}
