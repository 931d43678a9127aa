//! What becomes due, and which waves and phases are done. The single setter keeps all of it true.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::ids::{QuestionId, Timestamp};
use super::queue::{Rank, Turn};
use crate::file::{Duration, Scheduling};
use crate::graph::{Graph, NodeIndex};

/// What becomes due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    /// The retry of a failed node.
    Retry(NodeIndex),
    /// The end of a wait for time.
    Wait(NodeIndex),
    /// The end of a wait for a signal, which only a person could have sent.
    Signal(NodeIndex),
    /// The end of a question.
    Question(QuestionId),
    /// The end of the patience with a node's children.
    Children(NodeIndex),
}

/// What has to be over by a certain time. These clocks stand still while only a person could move the run (`R-TIME-1`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Limit {
    /// The run.
    Run,
    /// A phase of a graph.
    Phase(u32),
    /// A graph inside the run.
    Graph(u32),
}

/// Everything that becomes due, earliest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Timers {
    due: BTreeSet<(Timestamp, Timer)>,
    limits: BTreeSet<(Timestamp, Limit)>,
    /// Whether the limits stand still.
    stopped: bool,
    retries: usize,
    waits: usize,
}

impl Timers {
    pub fn insert(&mut self, at: Timestamp, timer: Timer) {
        if self.due.insert((at, timer))
            && let Some(count) = self.counted(timer)
        {
            *count += 1;
        }
    }

    pub fn remove(&mut self, at: Timestamp, timer: Timer) {
        if self.due.remove(&(at, timer))
            && let Some(count) = self.counted(timer)
        {
            *count -= 1;
        }
    }

    /// The count of timers that move a run by themselves. Where a person is waited for, the end of patience does not
    /// count (`R-GATE-2`).
    const fn counted(&mut self, timer: Timer) -> Option<&mut usize> {
        match timer {
            Timer::Retry(_) => Some(&mut self.retries),
            Timer::Wait(_) => Some(&mut self.waits),
            Timer::Signal(_) | Timer::Question(_) | Timer::Children(_) => None,
        }
    }

    /// The first timer that is due.
    pub fn due(&self, now: Timestamp) -> Option<Timer> {
        self.due.first().filter(|(at, _)| *at <= now).map(|(_, timer)| *timer)
    }

    /// When something becomes due next, limits included.
    pub fn next(&self) -> Option<Timestamp> {
        let first = self.due.first().map(|(at, _)| *at);
        let limit = self.limits.first().filter(|_| !self.stopped).map(|(at, _)| *at);
        first.into_iter().chain(limit).min()
    }

    /// Sets a limit, in place of an earlier one of the same thing.
    pub fn limit(&mut self, limit: Limit, before: Option<Timestamp>, at: Option<Timestamp>) {
        if let Some(before) = before {
            self.limits.remove(&(before, limit));
        }
        if let Some(at) = at {
            self.limits.insert((at, limit));
        }
    }

    /// The first limit that has passed.
    pub fn overdue(&self, now: Timestamp) -> Option<Limit> {
        self.limits.first().filter(|(at, _)| !self.stopped && *at <= now).map(|(_, limit)| *limit)
    }

    /// The limits stand still from now on.
    pub const fn stop_limits(&mut self) {
        self.stopped = true;
    }

    /// The limits go on, each so much later.
    pub fn move_limits(&mut self, by: Duration) {
        self.stopped = false;
        self.limits = std::mem::take(&mut self.limits).into_iter().map(|(at, limit)| (at.plus(by), limit)).collect();
    }

    /// Whether the limits stand still, and whether the run itself has one that counts.
    pub fn stored(&self, deadline: Option<Timestamp>) -> (bool, bool) {
        // Everything else is read off the nodes, the questions and the graphs.
        let Self { due: _, limits, stopped, retries: _, waits: _ } = self;
        (*stopped, deadline.is_some_and(|deadline| limits.contains(&(deadline, Limit::Run))))
    }

    /// Whether time alone will move the run; a retry of a held run only makes a node ready.
    pub const fn will_move(&self, held: bool) -> bool {
        self.waits > 0 || (self.retries > 0 && !held)
    }
}

/// How many nodes of each wave are not settled, and where the barrier stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Waves {
    scheduling: Scheduling,
    unsettled: Vec<Vec<u32>>,
    /// Waves that are settled and not yet announced.
    settled: BTreeSet<(u16, u32)>,
    /// The phase that is under way.
    phase: u16,
    /// How many of its waves are announced as done. Under `waves` that is the number of the one that is under way.
    announced: u32,
}

impl Waves {
    pub fn new(graph: &Graph, scheduling: Scheduling) -> Self {
        let mut unsettled: Vec<Vec<u32>> = graph.waves().iter().map(|count| vec![0; *count as usize]).collect();
        for node in graph.nodes() {
            unsettled[usize::from(graph.phase(node))][graph.wave(node) as usize] += 1;
        }
        Self { scheduling, unsettled, settled: BTreeSet::new(), phase: 0, announced: 0 }
    }

    /// How far the barrier has come: the phase, how many waves of it are announced, and which are settled before that.
    pub fn stored(&self) -> (u16, u32, Vec<(u16, u32)>) {
        // The rest is counted again.
        let Self { scheduling: _, unsettled: _, settled, phase, announced } = self;
        (*phase, *announced, settled.iter().copied().collect())
    }

    /// Takes the barrier to where it was, once every settled node is. False if it cannot have been there.
    pub fn restore(&mut self, phase: u16, announced: u32, settled: &[(u16, u32)]) -> bool {
        let waves = |phase: u16| self.unsettled.get(usize::from(phase));
        let over = |(phase, wave): &(u16, u32)| waves(*phase).and_then(|waves| waves.get(*wave as usize)) == Some(&0);
        let reached = usize::from(phase) <= self.unsettled.len()
            && announced as usize <= waves(phase).map_or(0, Vec::len)
            && settled.iter().all(over);
        self.settled = settled.iter().copied().collect();
        self.phase = phase;
        self.announced = announced;
        reached
    }

    /// The phase that is under way, or the last one, and how many of its waves are announced as done.
    pub fn progress(&self) -> (u16, u32) {
        match self.unsettled.last() {
            Some(last) if usize::from(self.phase) >= self.unsettled.len() => {
                (self.phase - 1, super::fold::count(last.len()))
            }
            _ => (self.phase, self.announced),
        }
    }

    /// The place of a node in the queue of ready nodes. `local` is its number in the graph.
    pub fn turn(&self, graph: &Graph, local: NodeIndex, node: NodeIndex, priority: i32) -> Turn {
        let (phase, wave) = (graph.phase(local), graph.wave(local));
        let barrier = match self.scheduling {
            Scheduling::Waves => (phase, wave),
            Scheduling::Frontier => (phase, 0),
        };
        Turn { barrier, rank: Rank { priority: Reverse(priority), depth: wave, node } }
    }

    /// How far the barrier lets nodes start.
    pub const fn open(&self) -> (u16, u32) {
        match self.scheduling {
            Scheduling::Waves => (self.phase, self.announced),
            Scheduling::Frontier => (self.phase, 0),
        }
    }

    /// The phase that is under way.
    pub const fn phase(&self) -> u16 {
        self.phase
    }

    /// A node of a wave is settled.
    pub fn settle(&mut self, phase: u16, wave: u32) {
        let left = &mut self.unsettled[usize::from(phase)][wave as usize];
        *left -= 1;
        if *left == 0 {
            self.settled.insert((phase, wave));
        }
    }

    /// The next wave to announce as done. Under `waves` they end in order; skips may settle a later one early.
    pub fn completed(&self) -> Option<(u16, u32)> {
        let (phase, wave) = *self.settled.first()?;
        let its_turn = self.scheduling == Scheduling::Frontier || wave == self.announced;
        (phase == self.phase && its_turn).then_some((phase, wave))
    }

    /// A wave is announced as done.
    pub fn announce(&mut self, phase: u16, wave: u32) {
        if self.settled.remove(&(phase, wave)) {
            self.announced += 1;
        }
    }

    /// Whether all waves of the phase under way are announced as done.
    pub fn phase_done(&self) -> bool {
        self.unsettled.get(usize::from(self.phase)).is_none_or(|waves| waves.len() == self.announced as usize)
    }

    /// The next phase is under way.
    pub const fn next_phase(&mut self) {
        self.phase += 1;
        self.announced = 0;
    }
}
