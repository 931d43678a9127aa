//! L1: a run in which nothing happens by itself any more is over, or only a person can move it.

use sprag_core::definition::Kind;
use sprag_core::graph::NodeIndex;
use sprag_core::run::{NodeState, Seq};

use super::case::Case;
use super::history::Verdicts;
use super::schedule::{has_all_copies, is_behind_barrier, is_early};
use super::track::{Track, needs_slot};

pub(super) fn check(history: &Case<'_>, verdicts: &mut Verdicts) {
    let mut track = Track::new(history);
    let mut last = Seq(0);
    for line in &history.lines {
        track.read(history, line);
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
    for node in history.all() {
        let known = track.of(node);
        let name = history.name(node);
        match known.state {
            NodeState::AwaitingApproval => people = true,
            NodeState::Running if history.compiled(node).kind == Kind::Wait && known.waits_until.is_none() => {
                people = true;
            }
            // Its children are judged themselves.
            NodeState::Running if has_open_children(history, &track, node) => {}
            NodeState::Running => stuck(format!("`{name}` is running, and nobody works on it")),
            NodeState::Failed if known.due.is_some() => stuck(format!("the retry of `{name}` is still to come")),
            // Whether there is money is judged elsewhere.
            NodeState::Ready if known.withheld => people = true,
            NodeState::Ready if may_start(history, &track, node) => stuck(format!("`{name}` could start")),
            NodeState::Pending if !is_early(history, &track, node) => {
                let open = history.edges_into(node).any(|(.., from)| !track.of(from).settled);
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

fn has_open_children(history: &Case<'_>, track: &Track, node: NodeIndex) -> bool {
    let inside = track.of(node).inside.filter(|_| track.waits_for_children(node));
    inside.is_some_and(|inside| history.levels[inside].nodes().any(|child| !track.of(child).settled))
}

/// Whether only a barrier, its siblings or a pause hold a ready node. Nothing runs, so there are slots.
fn may_start(history: &Case<'_>, track: &Track, node: NodeIndex) -> bool {
    let held = track.held || (needs_slot(history, node) && history.slots == 0);
    !held && is_behind_barrier(history, track, node).is_none() && !has_all_copies(history, track, node)
}
