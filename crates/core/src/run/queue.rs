//! Ready nodes in the order in which they start. Every graph of a run has its own queue, and hands the first of it to
//! the graph around it, so that the next node of the whole run is found by going down once.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::graph::NodeIndex;

/// The order among ready nodes of one graph (`R-SCHED-3`): under `waves` the wave first, then priority, depth, id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Turn {
    pub barrier: (u16, u32),
    pub rank: Rank,
}

/// The order among ready nodes that may start, of whichever graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rank {
    pub priority: Reverse<i32>,
    pub depth: u32,
    pub node: NodeIndex,
}

/// Whether a ready node needs a slot, or only waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Working,
    Waiting,
}

/// The ready nodes of one graph, and the first ones of the graphs inside it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Queue {
    working: Lane,
    waiting: Lane,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Lane {
    own: BTreeSet<Turn>,
    /// What the graphs inside offer, with their numbers.
    inner: BTreeSet<(Rank, u32)>,
    /// What this graph offers to the one around it.
    offered: Option<Rank>,
}

/// Where the next node to start is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Own(Rank),
    Inside(Rank, u32),
}

impl Next {
    pub const fn rank(self) -> Rank {
        match self {
            Self::Own(rank) | Self::Inside(rank, _) => rank,
        }
    }
}

impl Queue {
    pub fn insert(&mut self, turn: Turn, side: Side) {
        self.lane_mut(side).own.insert(turn);
    }

    pub fn remove(&mut self, turn: Turn, side: Side) {
        self.lane_mut(side).own.remove(&turn);
    }

    /// The next node, here or inside, while the barrier stands at `open`; only inside if `own` is false.
    pub fn next(&self, side: Side, open: (u16, u32), own: bool) -> Option<Next> {
        let lane = self.lane(side);
        let first = lane.own.first().filter(|turn| own && turn.barrier <= open).map(|turn| turn.rank);
        let inner = lane.inner.first().copied();
        match (first, inner) {
            (Some(rank), Some((other, inside))) if other < rank => Some(Next::Inside(other, inside)),
            (Some(rank), _) => Some(Next::Own(rank)),
            (None, Some((rank, inside))) => Some(Next::Inside(rank, inside)),
            (None, None) => None,
        }
    }

    /// Remembers what is offered to the graph around, and says what was before.
    pub fn offer(&mut self, side: Side, rank: Option<Rank>) -> Option<Rank> {
        std::mem::replace(&mut self.lane_mut(side).offered, rank)
    }

    /// A graph inside offers another node than before.
    pub fn offered(&mut self, side: Side, inside: u32, before: Option<Rank>, now: Option<Rank>) {
        let inner = &mut self.lane_mut(side).inner;
        if let Some(rank) = before {
            inner.remove(&(rank, inside));
        }
        if let Some(rank) = now {
            inner.insert((rank, inside));
        }
    }

    /// What it offers to the graph around it; the rest is the ready nodes, and what the graphs inside offer.
    pub const fn stored(&self) -> (Option<Rank>, Option<Rank>) {
        let Self {
            working: Lane { own: _, inner: _, offered: working },
            waiting: Lane { own: _, inner: _, offered: waiting },
        } = self;
        (*working, *waiting)
    }

    const fn lane(&self, side: Side) -> &Lane {
        match side {
            Side::Working => &self.working,
            Side::Waiting => &self.waiting,
        }
    }

    const fn lane_mut(&mut self, side: Side) -> &mut Lane {
        match side {
            Side::Working => &mut self.working,
            Side::Waiting => &mut self.waiting,
        }
    }
}
