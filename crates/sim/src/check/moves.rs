//! I2 and I3: nodes move as the table says, and what is settled stays (`R-STATE-1`, `R-STATE-4`).

use sprag_core::run::{Entry, NodeState};

use super::case::Case;
use super::history::Verdicts;
use super::track::{Track, moved, staged};

/// The table of the contract, from and to.
const TABLE: &[(NodeState, &[NodeState])] = {
    use NodeState::{Approved, AwaitingApproval, Cancelled, Completed, Failed, Pending, Ready, Running, Skipped};
    &[
        (Pending, &[Ready, Skipped, Cancelled]),
        (Ready, &[Running, Skipped, Cancelled]),
        (Running, &[Completed, Failed, Cancelled, AwaitingApproval]),
        (AwaitingApproval, &[Approved, Cancelled, Failed]),
        (Approved, &[Completed]),
        (Failed, &[Ready]),
    ]
};

pub(super) fn check(history: &Case<'_>, verdicts: &mut Verdicts) {
    let mut track = Track::new(history);
    for line in &history.lines {
        if track.ended {
            verdicts.add("I2", line.seq, "something follows the end of the run");
        }
        let about = match line.entry {
            Entry::Finalised { node } | Entry::SignalTaken { node, .. } => Some(*node),
            entry => moved(entry).map(|(node, _)| node).or_else(|| staged(entry).map(|(node, _)| node)),
        };
        if let Some(node) = about {
            if node.at() >= track.known(history) {
                verdicts.add("I3", line.seq, format!("there is no such node as number {}", node.0));
                return;
            }
            if track.of(node).settled {
                verdicts.add("I2", line.seq, format!("`{}` was settled: {:?}", history.name(node), line.entry));
            }
        }
        if let Some((node, to)) = moved(line.entry) {
            let from = track.of(node).state;
            if !TABLE.iter().any(|(state, next)| *state == from && next.contains(&to)) {
                verdicts.add("I3", line.seq, format!("`{}` moves from {from} to {to}", history.name(node)));
            }
        }
        if let Some((node, _)) = staged(line.entry)
            && track.of(node).state != NodeState::Running
        {
            verdicts.add("I3", line.seq, format!("a stage of `{}`, which is not running", history.name(node)));
        }
        if let Entry::Finalised { node } = line.entry
            && (track.of(*node).state, track.of(*node).due.is_some()) != (NodeState::Failed, true)
        {
            verdicts.add("I3", line.seq, format!("`{}` was not to be retried", history.name(*node)));
        }
        track.read(history, line);
    }
    // An approval is never the last word in a commit: nobody would take the node on from there.
    for node in history.all() {
        if track.of(node).state == NodeState::Approved {
            verdicts.add("I3", sprag_core::run::Seq(0), format!("`{}` is left approved", history.name(node)));
        }
    }
}
