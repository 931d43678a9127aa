//! How a run ends: the first row of the table that fits (`R-EDGE-5`).

use sprag_core::graph::NodeIndex;
use sprag_core::run::{EndStatus, Ending, Entry, NodeState, Seq, StopCause};

use super::history::{History, Verdicts};
use super::track::{Track, depths};

pub(super) fn check(history: &History<'_>, verdicts: &mut Verdicts) {
    let mut track = Track::new(history);
    for line in history.lines() {
        if let Entry::Ended(ending) = line.entry {
            if let Some(open) = history.definition.graph.nodes().find(|node| !track.of(*node).settled) {
                verdicts.add("R-EDGE-5", line.seq, format!("the run ends before `{}`", history.name(open)));
            }
            judge(history, &track, line.seq, ending, verdicts);
        }
        track.read(history, &line);
    }
    let settled = track.nodes.iter().all(|known| known.settled);
    if settled && !track.ended && !track.nodes.is_empty() {
        verdicts.add("L1", Seq(0), "every node is settled, and the run has not ended");
    }
    if track.ended && history.ledger.iter().any(|done| done.ended.is_none()) {
        verdicts.add("L1", Seq(0), "something is still being executed after the end");
    }
}

fn judge(history: &History<'_>, track: &Track, seq: Seq, ending: &Ending, verdicts: &mut Verdicts) {
    let unhandled = track.unhandled(history);
    let tainted = track.nodes.iter().any(|known| known.tainted);
    let open = history.definition.policy.fail_open == Some(true);
    let (status, exit, degraded) = match &track.stop {
        Some(StopCause::Cancel { .. }) => (EndStatus::Cancelled, 5, false),
        Some(StopCause::Deadline) => (EndStatus::Failed, 6, false),
        None if unhandled.is_empty() => (EndStatus::Completed, 0, tainted),
        None if open => (EndStatus::Completed, 0, true),
        Some(_) | None => (EndStatus::Failed, 1, false),
    };
    if (ending.status, ending.exit, ending.degraded) != (status, exit, degraded) {
        let what = format!("the run ends {ending:?}, not {status:?} {exit}, degraded: {degraded}");
        verdicts.add("R-EDGE-5", seq, what);
    }
    let named = ending.failure.as_ref().and_then(|failure| failure.node);
    let expected = match &track.stop {
        Some(StopCause::Cancel { .. } | StopCause::Deadline) => None,
        Some(StopCause::FailFast { node }) => Some(*node),
        // A count may stop a run in which every failure was handled; then the first of them has to do.
        Some(_) => {
            let failed = |node: &NodeIndex| track.of(*node).state == NodeState::Failed;
            let unhandled = first(history, unhandled.into_iter());
            unhandled.or_else(|| first(history, history.definition.graph.nodes().filter(failed)))
        }
        None => first(history, unhandled.into_iter()),
    };
    if named != expected {
        let shown = [named, expected].map(|node| node.map(|node| history.name(node)));
        verdicts.add("R-SCHED-4", seq, format!("the run blames {:?}, not {:?}", shown[0], shown[1]));
    }
}

/// The first of some nodes in canonical order.
fn first(history: &History<'_>, nodes: impl Iterator<Item = NodeIndex>) -> Option<NodeIndex> {
    let depths = depths(history);
    nodes.min_by_key(|node| (history.definition.graph.phase(*node), depths[node.at()], history.name(*node)))
}
