//! I10 and the slots: what starts, and what has to wait (`R-SCHED-1`, `R-SCHED-3`, `R-PHASE-1`, `R-GROW-2`).

use std::cmp::Reverse;
use std::collections::BTreeSet;

use sprag_core::graph::NodeIndex;
use sprag_core::run::{Entry, NodeState};

use super::case::Case;
use super::history::{Line, Verdicts};
use super::track::{Track, needs_slot};

pub(super) fn check(history: &Case<'_>, verdicts: &mut Verdicts) {
    let mut track = Track::new(history);
    let mut announced = passed_over(history, &track);
    for line in &history.lines {
        match line.entry {
            Entry::Started { node, .. } => starts(history, &track, line, *node, verdicts),
            Entry::Ready { node, .. } if is_early(history, &track, *node) => {
                verdicts.add("R-PHASE-1", line.seq, format!("`{}` is ready before its phase", history.name(*node)));
            }
            Entry::WaveCompleted { phase, wave } => {
                if !announced.insert((*phase, *wave)) {
                    verdicts.add("I10", line.seq, format!("wave {wave} is completed twice"));
                }
                let its = |node: &NodeIndex| (history.phase(*node), history.depth(*node)) == (*phase, *wave);
                if let Some(open) = history.levels[0].nodes().find(|node| its(node) && !track.of(*node).settled) {
                    verdicts.add("I10", line.seq, format!("wave {wave} is completed without `{}`", history.name(open)));
                }
            }
            Entry::PhaseCompleted { phase } => phase_ends(history, &track, line, *phase, &announced, verdicts),
            _ => {}
        }
        track.read(history, line);
    }
}

/// The waves that an earlier run was done with are not announced again.
fn passed_over(history: &Case<'_>, track: &Track) -> BTreeSet<(u16, u32)> {
    let place = |node: NodeIndex| (history.phase(node), history.depth(node));
    let root = || history.levels[0].nodes();
    let open: BTreeSet<_> = root().filter(|node| !track.of(*node).settled).map(place).collect();
    let frontier = !history.levels[0].rules.waves;
    let reached = |wave: (u16, u32)| {
        // Where no wave waits for another, one may be done before its turn.
        let first = open.first().is_none_or(|open| wave < *open);
        wave.0 <= track.phases && (first || (frontier && !open.contains(&wave)))
    };
    root().filter(|_| history.carried().is_some()).map(place).filter(|wave| reached(*wave)).collect()
}

/// A phase ends after the one before it, with all its waves, and with nothing that nobody handles.
fn phase_ends(
    history: &Case<'_>,
    track: &Track,
    line: &Line<'_>,
    phase: u16,
    announced: &BTreeSet<(u16, u32)>,
    verdicts: &mut Verdicts,
) {
    let root = &history.levels[0];
    if phase != track.phases || usize::from(phase) >= root.body.phases.len() {
        verdicts.add("R-PHASE-1", line.seq, format!("phase {phase} ends where phase {} was due", track.phases));
    }
    for node in root.nodes().filter(|node| history.phase(*node) == phase) {
        if !announced.contains(&(phase, history.depth(node))) {
            verdicts.add(
                "R-PHASE-1",
                line.seq,
                format!("phase {phase} ends before the wave of `{}`", history.name(node)),
            );
        }
    }
    if track.stops[0].is_some() || (!root.rules.fail_open && !track.unhandled(history, 0).is_empty()) {
        verdicts.add("R-PHASE-1", line.seq, format!("phase {phase} is completed although it failed"));
    }
}

/// Whether a node belongs to a phase of the workflow that has not begun.
pub(super) fn is_early(history: &Case<'_>, track: &Track, node: NodeIndex) -> bool {
    history.level_of(node) == 0 && history.phase(node) > track.phases
}

/// Whether the nodes that stand before a node in its graph let it start.
pub(super) fn is_behind_barrier(history: &Case<'_>, track: &Track, node: NodeIndex) -> Option<NodeIndex> {
    let level = history.level(node);
    let place = |node: NodeIndex| (history.phase(node), if level.rules.waves { history.depth(node) } else { 0 });
    level.nodes().find(|other| place(*other) < place(node) && !track.of(*other).settled)
}

/// Whether so many copies of a `map` run that no other may start.
pub(super) fn has_all_copies(history: &Case<'_>, track: &Track, node: NodeIndex) -> bool {
    let level = history.level(node);
    let map = level.parent.and_then(|parent| history.compiled(parent).spec.map.as_ref());
    let Some(most) = map.filter(|_| level.items.is_some()).and_then(|map| map.max_parallel) else { return false };
    level.nodes().filter(|copy| track.of(*copy).state == NodeState::Running).count() >= most as usize
}

/// The graph around a node, if there is one, whose slots are all taken, and how many those are.
fn full(history: &Case<'_>, taken: &[usize], node: NodeIndex) -> Option<(usize, usize)> {
    history.chain(history.level_of(node)).find_map(|level| {
        let own = history.levels[level].rules.max_parallelism.map(|limit| limit as usize);
        let limit = if level == 0 {
            Some(own.map_or(history.slots as usize, |limit| limit.min(history.slots as usize)))
        } else {
            own
        };
        limit.filter(|limit| taken[level] >= *limit).map(|limit| (level, limit))
    })
}

fn starts(history: &Case<'_>, track: &Track, line: &Line<'_>, node: NodeIndex, verdicts: &mut Verdicts) {
    let name = history.name(node);
    if track.held || track.stopped(history, node).is_some() {
        verdicts.add("R-EDGE-5", line.seq, format!("`{name}` starts in a run that is held or stops"));
    }
    if is_early(history, track, node) {
        verdicts.add("R-PHASE-1", line.seq, format!("`{name}` starts before its phase"));
    }
    if let Some(open) = is_behind_barrier(history, track, node) {
        verdicts.add("I10", line.seq, format!("`{name}` starts before `{}` is settled", history.name(open)));
    }
    if has_all_copies(history, track, node) {
        verdicts.add("slots", line.seq, format!("`{name}` starts while as many copies run as may"));
    }
    if !needs_slot(history, node) {
        return;
    }
    let mut taken = vec![0; history.levels.len()];
    for other in history.all().filter(|other| track.holds_slot(history, *other)) {
        for level in history.chain(history.level_of(other)) {
            taken[level] += 1;
        }
    }
    if let Some((level, limit)) = full(history, &taken, node) {
        let around = history.levels[level].parent.map(|parent| history.name(parent));
        verdicts.add(
            "slots",
            line.seq,
            format!("`{name}` starts while all {limit} slots are taken, inside: {around:?}"),
        );
    }
    passed(history, track, &taken, line, node, verdicts);
}

/// Whoever could start as well and has to wait has no better claim: priority, depth, and in the same graph the id.
fn passed(
    history: &Case<'_>,
    track: &Track,
    taken: &[usize],
    line: &Line<'_>,
    node: NodeIndex,
    verdicts: &mut Verdicts,
) {
    let claim = |node: NodeIndex| {
        let priority = history.compiled(node).spec.priority.unwrap_or(0);
        (Reverse(priority), history.depth(node))
    };
    let before = |other: NodeIndex| {
        let siblings = history.level_of(other) == history.level_of(node);
        claim(other) < claim(node)
            || (siblings && claim(other) == claim(node) && history.rank(other) < history.rank(node))
    };
    let passed = history.all().take(track.known(history)).find(|other| {
        track.of(*other).state == NodeState::Ready
            && !track.of(*other).withheld
            && needs_slot(history, *other)
            && before(*other)
            && is_behind_barrier(history, track, *other).is_none()
            && !has_all_copies(history, track, *other)
            && full(history, taken, *other).is_none()
            && track.stopped(history, *other).is_none()
    });
    if let Some(passed) = passed {
        verdicts.add(
            "R-SCHED-3",
            line.seq,
            format!("`{}` starts before `{}`", history.name(node), history.name(passed)),
        );
    }
}
