//! The graphs of a run: the workflow's own, and those that nodes grew into (`R-GROW-1`). Nodes are numbered through the
//! whole run, each graph after those before it, so that a number is a place in one array.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::cause::{StopCause, StopLevel};
use super::context::Context;
use super::fold::{Run, count};
use super::ids::Timestamp;
use super::queue::{Queue, Side};
use super::recovery::Purse;
use super::schedule::Waves;
use crate::definition::{CompiledNode, Definition};
use crate::file::Policy;
use crate::graph::{EdgeIndex, EdgeRow, NodeIndex};

/// How often a node may be interrupted by dying owners, unless the policy says otherwise (`R-CLAIM-4`).
pub(super) const MAX_INTERRUPTIONS: u32 = 3;

/// One graph of a run.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Level {
    pub body: Arc<Definition>,
    /// Its own policy, narrowed by that of the graph around it.
    pub policy: Policy,
    /// The number of its first node.
    pub base: u32,
    /// The node that it belongs to; none for the workflow's own.
    pub parent: Option<NodeIndex>,
    /// The graph that node is in.
    pub around: Option<u32>,
    pub depth: u32,
    pub origin: Origin,

    pub unsettled: u32,
    pub waves: Waves,
    pub queue: Queue,
    /// Slots that its nodes hold, those inside them included.
    pub occupied: u32,
    /// Its own nodes that are running.
    pub running: u32,

    pub handlers: BTreeMap<NodeIndex, u32>,
    pub unhandled: BTreeSet<NodeIndex>,
    /// Those of them that failed in this run: what is kept of an earlier one is no reason to stop at once.
    pub unhandled_here: BTreeSet<NodeIndex>,
    pub node_failures: u32,
    pub retries_exhausted: u32,
    pub tainted: bool,
    pub stop: Option<StopCause>,
    /// Whether a stop kept some of its nodes from running to their end.
    pub cut: bool,
    /// Whether its node has taken its results, or does without them.
    pub closed: bool,
    /// Whether its node goes on with its results.
    pub gathered: bool,

    pub context: Context,
    /// The money of its own budget.
    pub purse: Option<Box<Purse<NodeIndex>>>,
    /// When it is to be over, where its policy says so.
    pub deadline: Option<Timestamp>,
    /// When the phase under way is to be over.
    pub phase_deadline: Option<Timestamp>,
}

/// What a graph was made of.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Origin {
    /// The workflow itself.
    Workflow,
    /// The items of a `map`: one copy of its node each.
    Items(Arc<Vec<Value>>),
    /// The graph inside a `workflow` (round 0) or of one iteration of a `loop`, with its parameters.
    Graph { round: u32, params: BTreeMap<String, Value> },
    /// What a node's work produced.
    Grown(Arc<Value>),
}

impl Origin {
    /// Whether its nodes see the context around them, and patch it.
    pub const fn shares_context(&self) -> bool {
        matches!(self, Self::Items(_) | Self::Grown(_))
    }
}

impl Level {
    pub fn new(body: Arc<Definition>, policy: Policy, origin: Origin) -> Self {
        let waves = Waves::new(&body.graph, policy.scheduling.unwrap_or_default());
        let base = body.context.iter().map(|(key, value)| (key.clone(), value.0.clone())).collect();
        Self {
            policy,
            base: 0,
            parent: None,
            around: None,
            depth: 0,
            unsettled: count(body.graph.len()),
            waves,
            queue: Queue::default(),
            occupied: 0,
            running: 0,
            handlers: BTreeMap::new(),
            unhandled: BTreeSet::new(),
            unhandled_here: BTreeSet::new(),
            node_failures: 0,
            retries_exhausted: 0,
            tainted: false,
            stop: None,
            cut: false,
            closed: false,
            gathered: false,
            context: Context::new(base),
            purse: None,
            deadline: None,
            phase_deadline: None,
            origin,
            body,
        }
    }

    /// The number of one of its nodes within the graph.
    pub const fn local(&self, node: NodeIndex) -> NodeIndex {
        NodeIndex(node.0 - self.base)
    }

    /// The number in the run of one of its nodes.
    pub const fn global(&self, local: NodeIndex) -> NodeIndex {
        NodeIndex(self.base + local.0)
    }

    /// All its nodes.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = NodeIndex> + use<> {
        (self.base..self.base + count(self.body.graph.len())).map(NodeIndex)
    }

    /// Nobody handles a failure; it may be kept from an earlier run.
    pub fn opened(&mut self, node: NodeIndex, kept: bool) {
        self.unhandled.insert(node);
        if !kept {
            self.unhandled_here.insert(node);
        }
    }

    pub fn fails_open(&self) -> bool {
        self.policy.fail_open.unwrap_or(false)
    }

    /// Whether as many copies of a `map` run as may.
    fn has_all_copies(&self, parent: Option<&CompiledNode>) -> bool {
        let most = match &self.origin {
            Origin::Items(_) => parent.and_then(|parent| parent.spec.map.as_ref()).and_then(|map| map.max_parallel),
            Origin::Workflow | Origin::Graph { .. } | Origin::Grown(_) => None,
        };
        most.is_some_and(|most| self.running >= most)
    }

    /// Whether a rule of its policy stops it now.
    pub fn has_cause_to_stop(&self) -> bool {
        let phase_failed = !self.body.phases.is_empty()
            && self.parent.is_some()
            && self.waves.phase_done()
            && !self.unhandled.is_empty()
            && !self.fails_open()
            && self.unsettled > 0;
        (self.policy.fail_fast.unwrap_or(false) && !self.unhandled_here.is_empty())
            || self.policy.max_node_failures.is_some_and(|limit| self.node_failures >= limit)
            || self.policy.max_retries_exhausted.is_some_and(|limit| self.retries_exhausted >= limit)
            || phase_failed
    }
}

/// The policy of a graph inside another one: it narrows, and never widens (`R-GROW-2`).
pub(super) fn narrowed(own: &Policy, around: &Policy) -> Policy {
    let open = around.fail_open.unwrap_or(false) && own.fail_open.unwrap_or(true);
    let fast = around.fail_fast.unwrap_or(false) || own.fail_fast.unwrap_or(false);
    Policy {
        scheduling: own.scheduling.or(around.scheduling),
        fail_open: Some(open),
        fail_fast: Some(fast),
        max_interruptions: own
            .max_interruptions
            .map(|own| own.min(around.max_interruptions.unwrap_or(MAX_INTERRUPTIONS)))
            .or(around.max_interruptions),
        ..own.clone()
    }
}

impl Run {
    /// The number of the graph that a node is in.
    pub(super) fn level_at(&self, node: NodeIndex) -> usize {
        if self.levels.len() == 1 {
            return 0;
        }
        self.levels.partition_point(|level| level.base <= node.0) - 1
    }

    /// The graph that a node is in.
    pub(super) fn level(&self, node: NodeIndex) -> &Level {
        &self.levels[self.level_at(node)]
    }

    pub(super) fn level_mut(&mut self, node: NodeIndex) -> &mut Level {
        let at = self.level_at(node);
        &mut self.levels[at]
    }

    /// The workflow's own graph.
    pub(super) fn root(&self) -> &Level {
        &self.levels[0]
    }

    /// The numbers of a graph and of those around it, from the inside out.
    pub(super) fn chain(&self, level: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(level), |at| self.levels[*at].around.map(|around| around as usize))
    }

    /// The numbers of a graph and of all inside it, smallest first: what is inside comes after what it is in.
    pub(super) fn within(&self, level: usize) -> Vec<usize> {
        let mut found = vec![level];
        let mut next = 0;
        while let Some(at) = found.get(next).map(|at| &self.levels[*at]) {
            let nodes = NodeIndex(at.base)..NodeIndex(at.base + count(at.body.graph.len()));
            found.extend(self.grown.range(nodes).flat_map(|(_, inside)| inside).map(|inside| *inside as usize));
            next += 1;
        }
        found.sort_unstable();
        found
    }

    /// What a node does.
    pub fn compiled(&self, node: NodeIndex) -> &CompiledNode {
        let level = self.level(node);
        level.body.node(level.local(node))
    }

    /// The edges into a node, with where they come from.
    pub(super) fn edges_into(&self, node: NodeIndex) -> impl Iterator<Item = (EdgeIndex, &EdgeRow, NodeIndex)> {
        let level = self.level(node);
        let edges = level.body.graph.edges_into_with_index(level.local(node));
        edges.map(|(index, edge)| (index, edge, level.global(edge.from)))
    }

    /// The strictest stop that reaches a node: of its own graph, or of one around it.
    pub(super) fn stop_level(&self, node: NodeIndex) -> Option<StopLevel> {
        let at = self.level_at(node);
        self.chain(at).filter_map(|at| self.levels[at].stop.as_ref().map(StopCause::level)).max()
    }

    pub(super) fn is_stopping(&self, node: NodeIndex) -> bool {
        self.stop_level(node).is_some()
    }

    /// The newest graph that a node grew into.
    pub(crate) fn inside(&self, node: NodeIndex) -> Option<usize> {
        self.grown.get(&node).and_then(|levels| levels.last()).map(|level| *level as usize)
    }

    /// The next node that may start, here or inside.
    pub(super) fn next_in(&self, level: usize, side: Side) -> Option<super::queue::Next> {
        let at = &self.levels[level];
        let full =
            level > 0 && side == Side::Working && at.policy.max_parallelism.is_some_and(|limit| at.occupied >= limit);
        if full {
            return None;
        }
        let parent = at.parent.map(|parent| self.compiled(parent));
        at.queue.next(side, at.waves.open(), !at.has_all_copies(parent))
    }

    /// The next node of the whole run that may start.
    pub(super) fn next_ready(&self, side: Side) -> Option<NodeIndex> {
        use super::queue::Next;
        let mut level = 0;
        loop {
            match self.next_in(level, side)? {
                Next::Own(rank) => return Some(rank.node),
                Next::Inside(_, inside) => level = inside as usize,
            }
        }
    }

    /// Tells the graphs around what a graph has to offer now.
    pub(super) fn offer(&mut self, level: usize) {
        let mut at = level;
        while let Some(around) = self.levels[at].around {
            for side in [Side::Working, Side::Waiting] {
                let now = self.next_in(at, side).map(super::queue::Next::rank);
                let before = self.levels[at].queue.offer(side, now);
                if before != now {
                    self.levels[around as usize].queue.offered(side, count(at), before, now);
                }
            }
            at = around as usize;
        }
    }
}
