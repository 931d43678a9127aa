//! What the judges look at: a history, and the graphs that its nodes grew into (`R-GROW-1`). Those are built anew from
//! what is stored: the definition, what was mapped over, and what generating work produced.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use serde_json::Value;
use sprag_core::definition::{CompiledNode, Definition, Inside};
use sprag_core::file::TextOr;
use sprag_core::graph::{EdgeIndex, EdgeRow, NodeIndex};
use sprag_core::limits::Limits;
use sprag_core::load::{Soil, grown};
use sprag_core::run::{Carried, Entry, Expansion, Growth, KeptEnd, Seq, Usage};

use super::history::{History, Line};
use super::rules::Rules;

/// A history with everything that is needed to read it.
#[derive(Debug)]
pub(super) struct Case<'run> {
    history: History<'run>,
    /// All entries in order.
    pub lines: Vec<Line<'run>>,
    /// The workflow's own graph, and one more for each time that a node grew, in that order.
    pub levels: Vec<Level<'run>>,
    nodes: Vec<Place>,
    /// Growth that makes no sense; nothing after it can be told.
    pub senseless: Option<(Seq, String)>,
}

/// One graph of a run.
#[derive(Debug)]
pub(super) struct Level<'run> {
    pub body: Body<'run>,
    /// The number of its first node.
    pub base: u32,
    /// The node that grew into it.
    pub parent: Option<NodeIndex>,
    /// The graph that node is in.
    pub around: Option<usize>,
    /// The iteration of a loop, from 1.
    pub round: u32,
    /// What a `map` was over.
    pub items: Option<Arc<Vec<Value>>>,
    /// Whether its nodes patch the context around it.
    pub shares_context: bool,
    pub rules: Rules,
    /// How deep it is inside others.
    pub depth: u32,
}

/// A definition, as the file has it or as it was made.
#[derive(Debug, Clone)]
pub(super) enum Body<'run> {
    Written(&'run Definition),
    Made(Arc<Definition>),
}

impl Deref for Body<'_> {
    type Target = Definition;

    fn deref(&self) -> &Definition {
        match self {
            Self::Written(body) => body,
            Self::Made(body) => body,
        }
    }
}

/// Where a node is.
#[derive(Debug)]
struct Place {
    level: usize,
    address: String,
    /// The longest way to it from a node without sources.
    depth: u32,
    /// Its place among the ids of its graph.
    rank: u32,
}

impl<'run> Deref for Case<'run> {
    type Target = History<'run>;

    fn deref(&self) -> &History<'run> {
        &self.history
    }
}

impl Level<'_> {
    /// All its nodes.
    pub fn nodes(&self) -> impl Iterator<Item = NodeIndex> + use<> {
        let base = self.base;
        self.body.graph.nodes().map(move |local| NodeIndex(base + local.0)).collect::<Vec<_>>().into_iter()
    }

    /// The number after its last node.
    pub fn end(&self) -> usize {
        self.base as usize + self.body.graph.len()
    }
}

impl<'run> Case<'run> {
    /// Reads a history through once, and lets it grow on the way.
    pub fn of(history: &History<'run>) -> Self {
        let lines = history.lines().collect();
        let mut case = Self { history: *history, lines, levels: Vec::new(), nodes: Vec::new(), senseless: None };
        let own = &history.definition.policy;
        case.open(Level {
            body: Body::Written(history.definition),
            base: 0,
            parent: None,
            around: None,
            round: 0,
            items: None,
            shares_context: false,
            rules: Rules::of(own),
            depth: 0,
        });
        let mut produced: BTreeMap<NodeIndex, Arc<Value>> = BTreeMap::new();
        for at in 0..case.lines.len() {
            let line = case.lines[at];
            match line.entry {
                Entry::Produced { node, product, .. } => {
                    produced.insert(*node, Arc::clone(&product.output));
                }
                Entry::Expanded(expansion) => {
                    let made = produced.get(&expansion.node).cloned().or_else(|| case.carried_body(expansion.node));
                    if let Err(what) = case.grow(expansion, made.as_ref()) {
                        case.senseless = Some((line.seq, what));
                        break;
                    }
                }
                _ => {}
            }
        }
        case
    }

    /// What the run began with of an earlier one.
    pub fn carried(&self) -> Option<&'run Carried> {
        match self.lines.first()?.entry {
            Entry::Created(created) => created.carried.as_deref(),
            _ => None,
        }
    }

    /// What the work of a node made in an earlier run, so that it is not done again.
    pub fn carried_body(&self, node: NodeIndex) -> Option<Arc<Value>> {
        let grown = self.carried()?.grown.get(self.name(node))?;
        grown.body.as_ref().map(|body| Arc::clone(&body.output))
    }

    /// Whether a node goes on with what an earlier run asked about it, instead of with its work.
    pub fn asks_again(&self, node: NodeIndex) -> bool {
        let kept = self.carried().and_then(|carried| carried.nodes.get(self.name(node)));
        kept.is_some_and(|kept| matches!(kept.end, KeptEnd::AwaitingApproval { .. }))
    }

    /// Whether the children of a node begin as they ended in an earlier run: they are made of the same.
    pub fn keeps_children(&self, expansion: &Expansion) -> bool {
        let grown = self.carried().and_then(|carried| carried.grown.get(self.name(expansion.node)));
        let made_of = grown.and_then(|grown| grown.made_of);
        expansion.attempt == 1 && made_of.is_some_and(|made_of| made_of == expansion.of.digest())
    }

    /// What an earlier run spent of the budget that a graph brings along, where its children are those of then.
    pub fn spent_before(&self, expansion: &Expansion) -> Option<Usage> {
        let grown = self.carried()?.grown.get(self.name(expansion.node))?;
        grown.spent.get(&expansion.round).copied().filter(|_| self.keeps_children(expansion))
    }

    fn grow(&mut self, expansion: &Expansion, produced: Option<&Arc<Value>>) -> Result<(), String> {
        let parent = expansion.node;
        if parent.at() >= self.nodes.len() {
            return Err(format!("there is no such node as number {}, which grows", parent.0));
        }
        let name = self.name(parent).to_owned();
        let around = self.level_of(parent);
        let level = &self.levels[around];
        let compiled = self.compiled(parent);
        let body = match &expansion.of {
            Growth::Items(items) => {
                let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
                level.body.copies(self.local(parent), count).map(Arc::new)
            }
            Growth::Params(_) => match &compiled.inside {
                Inside::Graph(body) => Some(Arc::clone(body)),
                Inside::Nothing | Inside::Copy(_) => self.file(parent),
            },
            Growth::Body(_) => {
                let known = |_: &str| true;
                let Definition { id, params, secrets, .. } = &*level.body;
                let soil = Soil { id, params, secrets, files: &known };
                produced.and_then(|body| grown(body, &soil, &Limits::none()).ok()).map(Arc::new)
            }
        };
        let Some(body) = body else { return Err(format!("`{name}` grows into what cannot run")) };
        if body.graph.len() != expansion.children as usize {
            return Err(format!("`{name}` grows into {}, not {} nodes", expansion.children, body.graph.len()));
        }
        let items = match &expansion.of {
            Growth::Items(items) => Some(Arc::clone(items)),
            Growth::Params(_) | Growth::Body(_) => None,
        };
        let rules = if items.is_some() { level.rules.inherited() } else { level.rules.narrowed(&body.policy) };
        let level = Level {
            body: Body::Made(body),
            base: u32::try_from(self.nodes.len()).unwrap_or(u32::MAX),
            parent: Some(parent),
            around: Some(around),
            round: expansion.round,
            items,
            shares_context: !matches!(expansion.of, Growth::Params(_)),
            rules,
            depth: level.depth + 1,
        };
        self.open(level);
        Ok(())
    }

    /// A sub-workflow file that a node names, as the nearest graph around it has it.
    fn file(&self, node: NodeIndex) -> Option<Arc<Definition>> {
        let spec = &self.compiled(node).spec;
        let named = spec.workflow.as_ref().or(spec.repeat.as_ref().map(|repeat| &repeat.workflow))?;
        let TextOr::Text(file) = named else { return None };
        let mut at = Some(self.level_of(node));
        while let Some(level) = at {
            if let Some(body) = self.levels[level].body.files.get(file) {
                return Some(Arc::clone(body));
            }
            at = self.levels[level].around;
        }
        None
    }

    fn open(&mut self, level: Level<'run>) {
        let number = self.levels.len();
        let graph = &level.body.graph;
        let before = level.parent.map(|parent| match level.round {
            0 => format!("{}/", self.name(parent)),
            round => format!("{}/{round}/", self.name(parent)),
        });
        let before = before.unwrap_or_default();
        let depths = depths(&level.body);
        let mut order: Vec<_> = graph.nodes().collect();
        if level.items.is_none() {
            order.sort_by_key(|local| graph.id(*local).as_str());
        }
        let mut ranks = vec![0; graph.len()];
        for (rank, local) in (0..).zip(order) {
            ranks[local.at()] = rank;
        }
        self.nodes.extend(graph.nodes().map(|local| Place {
            level: number,
            address: format!("{before}{}", graph.id(local)),
            depth: depths[local.at()],
            rank: ranks[local.at()],
        }));
        self.levels.push(level);
    }

    /// All nodes that there ever are.
    pub fn all(&self) -> impl Iterator<Item = NodeIndex> + use<> {
        (0..u32::try_from(self.nodes.len()).unwrap_or(u32::MAX)).map(NodeIndex)
    }

    /// How many there ever are.
    pub const fn count(&self) -> usize {
        self.nodes.len()
    }

    /// The address of a node, for a verdict.
    pub fn name(&self, node: NodeIndex) -> &str {
        self.nodes.get(node.at()).map_or("?", |place| place.address.as_str())
    }

    /// The number of the graph that a node is in.
    pub fn level_of(&self, node: NodeIndex) -> usize {
        self.nodes[node.at()].level
    }

    /// The graph that a node is in.
    pub fn level(&self, node: NodeIndex) -> &Level<'run> {
        &self.levels[self.level_of(node)]
    }

    /// A graph and those around it, from the inside out.
    pub fn chain(&self, level: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(level), |at| self.levels[*at].around)
    }

    fn local(&self, node: NodeIndex) -> NodeIndex {
        NodeIndex(node.0 - self.level(node).base)
    }

    /// What a node does.
    pub fn compiled(&self, node: NodeIndex) -> &CompiledNode {
        &self.level(node).body.nodes[self.local(node).at()]
    }

    /// The phase of a node in its graph.
    pub fn phase(&self, node: NodeIndex) -> u16 {
        self.level(node).body.graph.phase(self.local(node))
    }

    /// The depth of a node in its graph.
    pub fn depth(&self, node: NodeIndex) -> u32 {
        self.nodes[node.at()].depth
    }

    /// The place of a node among the ids of its graph.
    pub fn rank(&self, node: NodeIndex) -> u32 {
        self.nodes[node.at()].rank
    }

    /// The place of a node in the canonical order of its graph.
    pub fn place(&self, node: NodeIndex) -> (u16, u32, u32) {
        (self.phase(node), self.depth(node), self.rank(node))
    }

    /// The edges into a node, with where they come from.
    pub fn edges_into(&self, node: NodeIndex) -> impl Iterator<Item = (EdgeIndex, &EdgeRow, NodeIndex)> {
        let level = self.level(node);
        let edges = level.body.graph.edges_into_with_index(self.local(node));
        edges.map(|(index, edge)| (index, edge, NodeIndex(level.base + edge.from.0)))
    }

    /// The edges from a node, with where they lead.
    pub fn edges_from(&self, node: NodeIndex) -> impl Iterator<Item = (EdgeIndex, &EdgeRow, NodeIndex)> {
        let level = self.level(node);
        let edges = level.body.graph.edges_from(self.local(node));
        edges.map(|(index, edge)| (index, edge, NodeIndex(level.base + edge.to.0)))
    }

    /// The node with an id in a graph.
    pub fn find(&self, level: usize, id: &str) -> Option<NodeIndex> {
        let level = &self.levels[level];
        level
            .body
            .graph
            .nodes()
            .find(|local| level.body.graph.id(*local).as_str() == id)
            .map(|local| NodeIndex(level.base + local.0))
    }

    /// The id of a node in its graph.
    pub fn id(&self, node: NodeIndex) -> &str {
        self.level(node).body.graph.id(self.local(node)).as_str()
    }
}

/// The depth of each node: the longest way from a node without sources.
fn depths(body: &Definition) -> Vec<u32> {
    let graph = &body.graph;
    let mut depths = vec![0_u32; graph.len()];
    // A longest path has at most as many edges as there are nodes, so this many rounds settle every depth.
    for _ in 0..graph.len() {
        let mut changed = false;
        for edge in graph.edges() {
            let least = depths[edge.from.at()] + 1;
            if depths[edge.to.at()] < least {
                depths[edge.to.at()] = least;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    depths
}
