//! How a run ends: the first row of the table that fits (`R-EDGE-5`).

use sprag_core::graph::NodeIndex;
use sprag_core::run::{EndStatus, Ending, Entry, NodeState, Seq, StopCause};

use super::case::Case;
use super::history::Verdicts;
use super::track::Track;

pub(super) fn check(history: &Case<'_>, verdicts: &mut Verdicts) {
    let mut track = Track::new(history);
    for line in &history.lines {
        if let Entry::Ended(ending) = line.entry {
            if let Some(open) = history.all().find(|node| !track.of(*node).settled) {
                verdicts.add("R-EDGE-5", line.seq, format!("the run ends before `{}`", history.name(open)));
            }
            judge(history, &track, line.seq, ending, verdicts);
        }
        track.read(history, line);
    }
    let settled = track.nodes.iter().all(|known| known.settled);
    if settled && !track.ended && !track.nodes.is_empty() {
        verdicts.add("L1", Seq(0), "every node is settled, and the run has not ended");
    }
    if track.ended && history.ledger.iter().any(|done| done.ended.is_none()) {
        verdicts.add("L1", Seq(0), "something is still being executed after the end");
    }
}

fn judge(history: &Case<'_>, track: &Track, seq: Seq, ending: &Ending, verdicts: &mut Verdicts) {
    let root = &history.levels[0];
    let unhandled = track.unhandled(history, 0);
    let tainted = root.nodes().any(|node| track.of(node).tainted);
    let (status, exit, degraded) = match &track.stops[0] {
        Some(StopCause::Cancel { .. }) => (EndStatus::Cancelled, 5, false),
        Some(StopCause::Deadline) => (EndStatus::Failed, 6, false),
        None if unhandled.is_empty() => (EndStatus::Completed, 0, tainted),
        None if root.rules.fail_open => (EndStatus::Completed, 0, true),
        Some(_) | None => (EndStatus::Failed, 1, false),
    };
    if (ending.status, ending.exit, ending.degraded) != (status, exit, degraded) {
        let what = format!("the run ends {ending:?}, not {status:?} {exit}, degraded: {degraded}");
        verdicts.add("R-EDGE-5", seq, what);
    }
    let named = ending.failure.as_ref().and_then(|failure| failure.node);
    let expected = match &track.stops[0] {
        Some(StopCause::Cancel { .. } | StopCause::Deadline | StopCause::PhaseTimeout { .. }) => None,
        Some(cause) => blamed(history, track, 0, cause),
        None => first(history, unhandled.into_iter()),
    };
    if named != expected {
        let shown = [named, expected].map(|node| node.map(|node| history.name(node)));
        verdicts.add("R-SCHED-4", seq, format!("the run blames {:?}, not {:?}", shown[0], shown[1]));
    }
}

/// The failure that a graph ends with, which a rule stopped.
pub(super) fn blamed(history: &Case<'_>, track: &Track, level: usize, cause: &StopCause) -> Option<NodeIndex> {
    if let StopCause::FailFast { node } = cause {
        return Some(*node);
    }
    // A count may stop a graph in which every failure was handled; then the first of them has to do, and of a graph in
    // which nothing failed itself, the first one inside it.
    let failed = |node: &NodeIndex| track.of(*node).state == NodeState::Failed;
    let within = (level..track.opened).filter(|inside| history.chain(*inside).any(|around| around == level));
    let mut any = within.filter_map(|inside| first(history, history.levels[inside].nodes().filter(failed)));
    first(history, track.unhandled(history, level).into_iter()).or_else(|| any.next())
}

/// The first of some nodes of a graph in canonical order.
pub(super) fn first(history: &Case<'_>, nodes: impl Iterator<Item = NodeIndex>) -> Option<NodeIndex> {
    nodes.min_by_key(|node| history.place(*node))
}
