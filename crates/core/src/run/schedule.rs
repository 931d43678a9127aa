//! What may start next, what becomes due, and which waves are done. The single setter keeps all of it true.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::ids::{QuestionId, Timestamp};
use crate::file::Scheduling;
use crate::graph::{Graph, NodeIndex};

/// The order among ready nodes (`R-SCHED-3`): under `waves` the wave first, then priority, depth, id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Turn {
    barrier: (u16, u32),
    priority: Reverse<i32>,
    depth: u32,
    node: NodeIndex,
}

/// Ready nodes in the order in which they start: those that need a slot, and those that only wait.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ReadyQueue {
    working: BTreeSet<Turn>,
    waiting: BTreeSet<Turn>,
}

impl ReadyQueue {
    pub fn insert(&mut self, turn: Turn, needs_slot: bool) {
        self.side(needs_slot).insert(turn);
    }

    pub fn remove(&mut self, turn: Turn, needs_slot: bool) {
        self.side(needs_slot).remove(&turn);
    }

    fn side(&mut self, needs_slot: bool) -> &mut BTreeSet<Turn> {
        if needs_slot { &mut self.working } else { &mut self.waiting }
    }

    /// Nodes that need a slot and may start while the barrier stands at `open`, in order.
    pub fn working(&self, open: (u16, u32)) -> impl Iterator<Item = NodeIndex> {
        self.working.iter().take_while(move |turn| turn.barrier <= open).map(|turn| turn.node)
    }

    /// The first node that only waits and may start while the barrier stands at `open`.
    pub fn waiting(&self, open: (u16, u32)) -> Option<NodeIndex> {
        self.waiting.first().filter(|turn| turn.barrier <= open).map(|turn| turn.node)
    }
}

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
}

/// Everything that becomes due, earliest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Timers {
    due: BTreeSet<(Timestamp, Timer)>,
    /// When the run is to end, while that is watched.
    pub deadline: Option<Timestamp>,
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
            Timer::Signal(_) | Timer::Question(_) => None,
        }
    }

    /// The first timer that is due.
    pub fn due(&self, now: Timestamp) -> Option<Timer> {
        self.due.first().filter(|(at, _)| *at <= now).map(|(_, timer)| *timer)
    }

    /// When something becomes due next, the deadline included.
    pub fn next(&self) -> Option<Timestamp> {
        let first = self.due.first().map(|(at, _)| *at);
        first.into_iter().chain(self.deadline).min()
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
    /// The first wave that is not announced as done, under `waves`.
    open: (u16, u32),
}

impl Waves {
    pub fn new(graph: &Graph, scheduling: Scheduling) -> Self {
        let mut unsettled: Vec<Vec<u32>> = graph.waves().iter().map(|count| vec![0; *count as usize]).collect();
        for node in graph.nodes() {
            unsettled[usize::from(graph.phase(node))][graph.wave(node) as usize] += 1;
        }
        Self { scheduling, unsettled, settled: BTreeSet::new(), open: (0, 0) }
    }

    /// The place of a node in the queue of ready nodes.
    pub fn turn(&self, graph: &Graph, node: NodeIndex, priority: i32) -> Turn {
        let (phase, wave) = (graph.phase(node), graph.wave(node));
        let barrier = match self.scheduling {
            Scheduling::Waves => (phase, wave),
            Scheduling::Frontier => (phase, 0),
        };
        Turn { barrier, priority: Reverse(priority), depth: wave, node }
    }

    /// How far the barrier lets nodes start.
    pub const fn open(&self) -> (u16, u32) {
        self.open
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
        let first = *self.settled.first()?;
        (self.scheduling == Scheduling::Frontier || first == self.open).then_some(first)
    }

    /// A wave is announced as done.
    pub fn announce(&mut self, phase: u16, wave: u32) {
        self.settled.remove(&(phase, wave));
        if self.scheduling == Scheduling::Waves && self.open == (phase, wave) {
            let last = wave as usize + 1 >= self.unsettled[usize::from(phase)].len();
            self.open = if last { (phase + 1, 0) } else { (phase, wave + 1) };
        }
    }
}
