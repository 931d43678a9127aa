//! Deadlines and timeouts: nothing is ended before its time, and nothing goes on after it (`R-TIME-1`, `R-PHASE-1`,
//! `R-STATE-10`).

use std::collections::BTreeMap;

use sprag_core::graph::NodeIndex;
use sprag_core::run::{Entry, StopCause, Timestamp};

use super::case::Case;
use super::history::{Line, Verdicts};
use super::track::{Track, moved, strictness};

/// What has to be over: a graph, or the phase of one that is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Graph(usize),
    Phase(usize),
}

impl What {
    const fn level(self) -> usize {
        match self {
            Self::Graph(level) | Self::Phase(level) => level,
        }
    }
}

/// A moment, and since when it counts.
#[derive(Debug, Clone, Copy)]
struct Limit {
    due: Timestamp,
    since: Timestamp,
}

/// All clocks of a run. They stand still while only a person could move it.
#[derive(Debug, Default)]
struct Clocks {
    limits: BTreeMap<What, Limit>,
    people_since: Option<Timestamp>,
}

pub(super) fn check(history: &Case<'_>, verdicts: &mut Verdicts) {
    let mut track = Track::new(history);
    let mut clocks = Clocks::default();
    for (at, line) in history.lines.iter().enumerate() {
        if let Entry::Stopping { inside, cause } = line.entry {
            let level = inside.map_or(Some(0), |node| track.of(node).inside);
            let due = level.and_then(|level| clocks.due(&track, *inside, level, cause));
            let timed = strictness(cause) == 1;
            if timed && due.is_none_or(|due| due > line.at) {
                verdicts.add("R-TIME-1", line.seq, format!("{cause:?} comes before its time: {due:?}"));
            }
            if let Some(level) = level.filter(|_| strictness(cause) > 0) {
                clocks.forget(level);
            }
        }
        if let Entry::Started { node, .. } = line.entry {
            late(history, &clocks, line, *node, verdicts);
        }
        clocks.read(history, &track, line);
        track.read(history, line);
        let last = history.lines.get(at + 1).is_none_or(|next| next.commit != line.commit);
        if last && !track.ended {
            overdue(history, &track, &clocks, line, verdicts);
        }
    }
}

impl Clocks {
    fn due(&self, track: &Track, inside: Option<NodeIndex>, level: usize, cause: &StopCause) -> Option<Timestamp> {
        let limit = |what| self.limits.get(&what).filter(|_| self.people_since.is_none()).map(|limit| limit.due);
        match cause {
            StopCause::Deadline => limit(What::Graph(level)),
            StopCause::PhaseTimeout { .. } => limit(What::Phase(level)),
            StopCause::Timeout => inside.and_then(|node| track.of(node).waits_until),
            _ => None,
        }
    }

    fn read(&mut self, history: &Case<'_>, track: &Track, line: &Line<'_>) {
        match line.entry {
            Entry::Created(_) => {
                self.open(history, 0, line.at);
                // Phases that an earlier run was done with are over.
                self.open_phase(history, 0, usize::from(track.phases), line.at);
            }
            Entry::Expanded(expansion) => {
                if let Some(before) = track.of(expansion.node).inside {
                    self.forget(before);
                }
                self.open(history, track.opened, line.at);
            }
            Entry::Gathered { node, .. } => self.leave(track, *node),
            Entry::PhaseCompleted { phase } => self.open_phase(history, 0, usize::from(*phase) + 1, line.at),
            Entry::DeadlineMoved { deadline } => {
                self.limits.insert(What::Graph(0), Limit { due: *deadline, since: line.at });
            }
            Entry::PeopleOnly { on: true } => self.people_since = Some(line.at),
            Entry::PeopleOnly { on: false } => {
                if let Some(since) = self.people_since.take() {
                    for limit in self.limits.values_mut() {
                        limit.due = limit.due.plus(line.at.since(since.max(limit.since)));
                    }
                }
            }
            entry => {
                if let Some((node, _)) = moved(entry) {
                    self.leave(track, node);
                }
            }
        }
    }

    fn open(&mut self, history: &Case<'_>, level: usize, at: Timestamp) {
        if let Some(length) = history.levels.get(level).and_then(|level| level.rules.deadline) {
            self.limits.insert(What::Graph(level), Limit { due: at.plus(length), since: at });
        }
        self.open_phase(history, level, 0, at);
    }

    fn open_phase(&mut self, history: &Case<'_>, level: usize, phase: usize, at: Timestamp) {
        self.limits.remove(&What::Phase(level));
        let phase = history.levels.get(level).and_then(|level| level.body.phases.get(phase));
        if let Some(length) = phase.and_then(|phase| phase.timeout) {
            self.limits.insert(What::Phase(level), Limit { due: at.plus(length), since: at });
        }
    }

    /// A node needs its children no longer.
    fn leave(&mut self, track: &Track, node: NodeIndex) {
        if let Some(inside) = track.of(node).inside {
            self.forget(inside);
        }
    }

    fn forget(&mut self, level: usize) {
        self.limits.retain(|what, _| what.level() != level);
    }
}

/// Nothing starts where it is too late.
fn late(history: &Case<'_>, clocks: &Clocks, line: &Line<'_>, node: NodeIndex, verdicts: &mut Verdicts) {
    if clocks.people_since.is_some() {
        return;
    }
    for level in history.chain(history.level_of(node)) {
        for what in [What::Graph(level), What::Phase(level)] {
            if clocks.limits.get(&what).is_some_and(|limit| limit.due <= line.at) {
                verdicts.add("R-TIME-1", line.seq, format!("`{}` starts after its time: {what:?}", history.name(node)));
            }
        }
    }
}

/// Whoever writes anything has seen what time it is.
fn overdue(history: &Case<'_>, track: &Track, clocks: &Clocks, line: &Line<'_>, verdicts: &mut Verdicts) {
    if clocks.people_since.is_none()
        && let Some((what, limit)) = clocks.limits.iter().find(|(_, limit)| limit.due <= line.at)
    {
        verdicts.add("R-TIME-1", line.seq, format!("{what:?} goes on after {}", limit.due));
    }
    let parents = history.all().filter(|node| history.compiled(*node).kind.grows());
    let mut late = parents.filter(|node| {
        let known = track.of(*node);
        !known.settled && !known.gathered && known.waits_until.is_some_and(|due| due <= line.at)
    });
    if let Some(parent) = late.next() {
        verdicts.add("R-STATE-10", line.seq, format!("`{}` goes on after its timeout", history.name(parent)));
    }
}
