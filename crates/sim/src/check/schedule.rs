//! I10 and the slots: what starts, and what has to wait (`R-SCHED-1`, `R-SCHED-3`).

use std::cmp::Reverse;
use std::collections::BTreeSet;

use sprag_core::file::Scheduling;
use sprag_core::graph::NodeIndex;
use sprag_core::run::{Entry, NodeState};

use super::history::{History, Line, Verdicts};
use super::track::{Track, depths, needs_slot};

pub(super) fn check(history: &History<'_>, verdicts: &mut Verdicts) {
    let depths = depths(history);
    let mut track = Track::new(history);
    let mut announced = BTreeSet::new();
    for line in history.lines() {
        match line.entry {
            Entry::Started { node, .. } => starts(history, &track, &depths, &line, *node, verdicts),
            Entry::WaveCompleted { phase, wave } => {
                if !announced.insert((*phase, *wave)) {
                    verdicts.add("I10", line.seq, format!("wave {wave} is completed twice"));
                }
                let open = history.definition.graph.nodes().find(|node| {
                    history.definition.graph.phase(*node) == *phase
                        && depths[node.at()] == *wave
                        && !track.of(*node).settled
                });
                if let Some(open) = open {
                    verdicts.add("I10", line.seq, format!("wave {wave} is completed without `{}`", history.name(open)));
                }
            }
            _ => {}
        }
        track.read(history, &line);
    }
}

fn starts(
    history: &History<'_>,
    track: &Track,
    depths: &[u32],
    line: &Line<'_>,
    node: NodeIndex,
    verdicts: &mut Verdicts,
) {
    let graph = &history.definition.graph;
    let policy = &history.definition.policy;
    let name = history.name(node);
    if track.held || track.stop.is_some() {
        verdicts.add("R-EDGE-5", line.seq, format!("`{name}` starts in a run that is held or stops"));
    }
    let place = |node: NodeIndex| (graph.phase(node), depths[node.at()]);
    let waves = policy.scheduling.unwrap_or(Scheduling::Waves) == Scheduling::Waves;
    let earlier = |other: &NodeIndex| if waves { place(*other) < place(node) } else { place(*other).0 < place(node).0 };
    if let Some(open) = graph.nodes().find(|other| earlier(other) && !track.of(*other).settled) {
        verdicts.add("I10", line.seq, format!("`{name}` starts before `{}` is settled", history.name(open)));
    }
    if !needs_slot(history, node) {
        return;
    }
    let running =
        graph.nodes().filter(|other| needs_slot(history, *other) && track.of(*other).state == NodeState::Running);
    let limit = policy.max_parallelism.map_or(history.slots, |limit| limit.min(history.slots)) as usize;
    if running.count() + 1 > limit {
        verdicts.add("slots", line.seq, format!("`{name}` starts while all {limit} slots are taken"));
    }
    // Whoever has to wait has no better claim: priority, depth, id.
    let claim = |node: NodeIndex| {
        let priority = history.definition.nodes[node.at()].spec.priority.unwrap_or(0);
        (waves.then(|| place(node)), Reverse(priority), depths[node.at()], history.name(node))
    };
    let passed = graph.nodes().find(|other| {
        track.of(*other).state == NodeState::Ready && needs_slot(history, *other) && claim(*other) < claim(node)
    });
    if let Some(passed) = passed {
        verdicts.add("R-SCHED-3", line.seq, format!("`{name}` starts before `{}`", history.name(passed)));
    }
}
