//! One graph of a file: the workflow's own, or that of a sub-workflow written inside a node.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::problems::Problems;
use super::trail::Trail;
use crate::codes::Code;
use crate::definition::Kind;
use crate::file::{
    Defaults, Edge, Expr, Node, NodeId, Param, ParamName, Policy, SecretName, SecretSource, TextOr, When,
};
use crate::graph::{Builder, Graph, NewEdge, NodeIndex};
use crate::limits::Limits;
use crate::suggest;

/// What a check writes to.
pub(super) struct Checker<'a, 'tree, 'text> {
    pub problems: Problems<'a, 'tree, 'text>,
    pub limits: &'a Limits,
    /// Nodes seen so far, at every depth.
    pub nodes: usize,
    /// Whether `defaults` make nodes `at_most_once`.
    pub at_most_once: bool,
    /// Secrets that some node receives.
    pub used_secrets: std::collections::BTreeSet<String>,
    /// In a graph that work produced: which sub-workflow files it may name.
    pub grown: Option<&'a dyn Fn(&str) -> bool>,
    /// How many nodes stand around what is being checked.
    depth: usize,
}

/// How deep nodes may stand inside each other. Each keeps all that is inside it, so depth costs memory.
const DEPTH: usize = 16;

impl<'a, 'tree, 'text> Checker<'a, 'tree, 'text> {
    pub fn new(problems: Problems<'a, 'tree, 'text>, limits: &'a Limits) -> Self {
        Self {
            problems,
            limits,
            nodes: 0,
            at_most_once: false,
            used_secrets: std::collections::BTreeSet::new(),
            grown: None,
            depth: 0,
        }
    }
}

impl Checker<'_, '_, '_> {
    /// Counts nodes against the limit (`R-FILE-3`); says so once.
    pub fn count(&mut self, trail: &Trail<'_>, more: usize) {
        let before = self.nodes;
        self.nodes += more;
        if before <= self.limits.nodes && self.nodes > self.limits.nodes {
            let message = format!("the workflow has more than {} nodes", self.limits.nodes);
            let help = "use a `map` or sub-workflows; `limits.nodes` in `sprag.toml` raises the limit";
            self.problems.at_key(Code::TOO_LARGE, trail, message, help);
        }
    }
}

impl Checker<'_, '_, '_> {
    /// Goes into a node, unless it is too deep, which is then said.
    pub fn enter(&mut self, trail: &Trail<'_>) -> bool {
        if self.depth == DEPTH {
            let message = format!("nodes stand more than {DEPTH} deep inside each other here");
            self.problems.at_key(Code::TOO_DEEP, trail, message, "put some of them into a file of their own");
            return false;
        }
        self.depth += 1;
        true
    }

    /// Comes back out of it.
    pub const fn leave(&mut self) {
        self.depth -= 1;
    }
}

/// The nodes of one phase, or of a graph without phases.
#[derive(Clone, Copy)]
pub(super) struct Part<'w> {
    /// The index in `phases`, if there are any.
    pub phase: Option<usize>,
    /// Whether its one node stands for the phase's `generate`.
    pub generating: bool,
    pub nodes: &'w IndexMap<NodeId, Box<Node>>,
}

/// A graph to check.
pub(super) struct Source<'w> {
    pub parts: Vec<Part<'w>>,
    pub edges: &'w [Edge],
    pub params: &'w IndexMap<ParamName, Param>,
    pub secrets: &'w BTreeMap<SecretName, SecretSource>,
    pub defaults: &'w Defaults,
    pub policy: &'w Policy,
    /// Whether this graph stands inside a node of another one.
    pub inner: bool,
}

/// A node in its level.
#[derive(Clone, Copy)]
pub(super) struct LevelNode<'w> {
    pub id: &'w NodeId,
    pub spec: &'w Node,
    pub phase: Option<usize>,
    /// Whether it stands for the phase's `generate`.
    pub generating: bool,
    /// Whether an edge into it could not be read, so that its ancestors are not all known.
    pub incomplete: bool,
}

/// A graph and its nodes, by index.
pub(super) struct Level<'w> {
    pub source: Source<'w>,
    pub nodes: Vec<LevelNode<'w>>,
    /// What each node does, if it says so clearly.
    pub kinds: Vec<Option<Kind>>,
    pub graph: Graph,
    pub cyclic: bool,
}

impl LevelNode<'_> {
    /// Hands the way to this node to `act`; the way is borrowed piece by piece.
    pub fn with_trail<R>(&self, base: &Trail<'_>, act: impl FnOnce(&Trail<'_>) -> R) -> R {
        match self.phase {
            None => act(&base.key("nodes").key(self.id.as_str())),
            // It is not written as a node: its `generate` stands in the phase itself.
            Some(phase) if self.generating => act(&base.key("phases").index(phase)),
            Some(phase) => act(&base.key("phases").index(phase).key("nodes").key(self.id.as_str())),
        }
    }

    /// The way to its name.
    fn named<R>(&self, base: &Trail<'_>, act: impl FnOnce(&Trail<'_>) -> R) -> R {
        self.with_trail(base, |trail| if self.generating { act(&trail.key("name")) } else { act(trail) })
    }
}

impl<'w> Level<'w> {
    /// Numbers the nodes, draws the edges and names the cycles.
    pub fn build(checker: &mut Checker<'_, '_, '_>, base: &Trail<'_>, source: Source<'w>) -> Self {
        let mut nodes: Vec<LevelNode<'w>> = Vec::new();
        for part in &source.parts {
            nodes.extend(part.nodes.iter().map(|(id, spec)| LevelNode {
                id,
                spec,
                phase: part.phase,
                generating: part.generating,
                incomplete: false,
            }));
        }
        nodes.sort_by_key(|node| (node.phase, node.id));
        report_shared_ids(checker, base, &mut nodes);
        let phase = |node: &LevelNode<'_>| u16::try_from(node.phase.unwrap_or(0)).unwrap_or(u16::MAX);
        let builder = Builder::new(nodes.iter().map(|node| (phase(node), node.id.clone())));
        let mut wiring = Wiring { checker, base, source: &source, builder, nodes };
        wiring.unread();
        wiring.needs();
        wiring.edges();
        let Wiring { builder, nodes, .. } = wiring;
        let (graph, cycles) = builder.finish();
        let kinds = vec![None; nodes.len()];
        let level = Self { source, kinds, nodes, graph, cyclic: !cycles.is_empty() };
        for cycle in &cycles {
            level.report_cycle(checker, base, cycle);
        }
        level
    }

    pub fn node(&self, index: NodeIndex) -> &LevelNode<'w> {
        &self.nodes[index.at()]
    }

    /// Points at the place where the first node of the cycle waits for the last.
    fn report_cycle(&self, checker: &mut Checker<'_, '_, '_>, base: &Trail<'_>, cycle: &crate::graph::Cycle) {
        let (Some(first), Some(last)) = (cycle.nodes.first(), cycle.nodes.last()) else { return };
        let (first, last) = (self.node(*first), self.node(*last));
        let message = format!("these nodes wait for each other: {}", cycle.text(&self.graph));
        let help = format!("remove one of these edges, for example the one from `{}` to `{}`", last.id, first.id);
        let at = first.spec.needs.iter().position(|need| source_of(need) == last.id.as_str());
        if let Some(at) = at {
            first.with_trail(base, |trail| {
                checker.problems.at(Code::CYCLE, &trail.key("needs").index(at), message, help);
            });
        } else {
            let is_closing = |edge: &Edge| edge.from == last.id.as_str() && edge.to == first.id.as_str();
            let at = self.source.edges.iter().position(is_closing).unwrap_or(0);
            checker.problems.at(Code::CYCLE, &base.key("edges").index(at), message, help);
        }
    }
}

/// The id that a dependency names.
pub(super) fn source_of(need: &crate::file::Need) -> &str {
    match need {
        TextOr::Text(id) => id,
        TextOr::Long(edge) => &edge.node,
    }
}

/// Ids are unique across phases; inside one mapping the reader has already seen to it.
fn report_shared_ids(checker: &mut Checker<'_, '_, '_>, base: &Trail<'_>, nodes: &mut Vec<LevelNode<'_>>) {
    let mut first: BTreeMap<&str, usize> = BTreeMap::new();
    let mut doubled = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        if let Some(earlier) = first.get(node.id.as_str()) {
            doubled.push((at, *earlier));
        } else if node.phase.is_some() {
            first.insert(node.id.as_str(), at);
        }
    }
    for (at, earlier) in &doubled {
        let (later, earlier) = (nodes[*at], nodes[*earlier]);
        let (message, help) = match (earlier.generating, later.generating) {
            // That two phases have one name has been said.
            (true, true) => continue,
            (false, false) => (
                format!("the id `{}` is used in two phases", later.id),
                "rename one of the two; ids are unique in a run",
            ),
            _ => (
                format!("`{}` is a node and a phase that generates its nodes, which is a node of that name", later.id),
                "rename the node or the phase; ids are unique in a run",
            ),
        };
        later.named(base, |trail| {
            if later.generating {
                checker.problems.at(Code::DUPLICATE_KEY, trail, message, help);
            } else {
                checker.problems.at_key(Code::DUPLICATE_KEY, trail, message, help);
            }
        });
        earlier.named(base, |trail| checker.problems.label(trail, "first here"));
    }
    for (at, _) in doubled.into_iter().rev() {
        nodes.remove(at);
    }
}

/// Draws edges, from both ways of writing them.
struct Wiring<'c, 'w, 'a, 'tree, 'text> {
    checker: &'c mut Checker<'a, 'tree, 'text>,
    base: &'c Trail<'c>,
    source: &'c Source<'w>,
    builder: Builder,
    nodes: Vec<LevelNode<'w>>,
}

impl Wiring<'_, '_, '_, '_, '_> {
    /// Marks nodes whose edges could not all be read.
    fn unread(&mut self) {
        let phases = self.base.key("phases");
        for part in &self.source.parts {
            let unread = match part.phase {
                None => self.checker.problems.nodes_with_unread_needs(&self.base.key("nodes")),
                Some(phase) => self.checker.problems.nodes_with_unread_needs(&phases.index(phase).key("nodes")),
            };
            for node in self.nodes.iter_mut().filter(|node| node.phase == part.phase) {
                node.incomplete |= unread.contains(node.id.as_str());
            }
        }
    }

    fn needs(&mut self) {
        for at in 0..self.nodes.len() {
            let node = self.nodes[at];
            let to = NodeIndex(u32::try_from(at).unwrap_or(u32::MAX));
            for (index, need) in node.spec.needs.iter().enumerate() {
                let (when, condition) = match need {
                    TextOr::Text(_) => (None, None),
                    TextOr::Long(edge) => (edge.when, edge.condition.as_ref()),
                };
                let base = self.base;
                node.with_trail(base, |trail| {
                    let needs = trail.key("needs");
                    let item = needs.index(index);
                    let named = item.key("node");
                    let trail = if matches!(need, TextOr::Long(_)) { &named } else { &item };
                    if let Some(from) = self.resolve(source_of(need), trail) {
                        self.draw(from, to, when, condition, trail);
                    } else {
                        self.nodes[at].incomplete = true;
                    }
                });
            }
        }
    }

    fn edges(&mut self) {
        for (index, edge) in self.source.edges.iter().enumerate() {
            let edges = self.base.key("edges");
            let item = edges.index(index);
            let to = self.resolve(&edge.to, &item.key("to"));
            let from = self.resolve(&edge.from, &item.key("from"));
            match (from, to) {
                (Some(from), Some(to)) => self.draw(from, to, edge.when, edge.condition.as_ref(), &item.key("from")),
                (None, Some(to)) => self.nodes[to.at()].incomplete = true,
                _ => {}
            }
        }
    }

    fn draw(
        &mut self,
        from: NodeIndex,
        to: NodeIndex,
        when: Option<When>,
        condition: Option<&Expr>,
        trail: &Trail<'_>,
    ) {
        let problems = &mut self.checker.problems;
        if from == to {
            let message = format!("`{}` depends on itself", self.nodes[to.at()].id);
            problems.at(
                Code::SELF_DEPENDENCY,
                trail,
                message,
                "remove this edge; use `retry` or a `loop` to repeat work",
            );
            return;
        }
        if self.builder.phase(from) != self.builder.phase(to) {
            let message = format!("`{}` is in another phase", self.nodes[from.at()].id);
            let help = "remove this edge: phases run in order, and outputs of earlier phases can be read without one";
            problems.at(Code::CROSS_PHASE_EDGE, trail, message, help);
            return;
        }
        let condition = condition.map(|condition| condition.0.as_str().into());
        self.builder.edge(NewEdge { from, to, when: when.unwrap_or_default(), condition });
    }

    fn resolve(&mut self, id: &str, trail: &Trail<'_>) -> Option<NodeIndex> {
        if let Some(found) = self.builder.find(id) {
            return Some(found);
        }
        if self.checker.problems.is_full() {
            return None;
        }
        let nodes = self.base.key("nodes");
        let written = !self.checker.problems.is_whole()
            && if self.source.inner {
                self.checker.problems.has_raw_key(&nodes, id)
            } else {
                self.checker.problems.is_written_node(id)
            };
        // A node that is there but could not be read has its own report.
        if !written {
            let known = self.nodes.iter().map(|node| node.id.as_str());
            let near = self.checker.problems.did_you_mean(id, known.clone());
            let help = near.unwrap_or_else(|| match self.nodes.len() {
                0 => "there are no nodes here".into(),
                _ if self.source.inner => format!("a sub-workflow sees only its own nodes: {}", suggest::listed(known)),
                _ => format!("the nodes are {}", suggest::listed(known)),
            });
            self.checker.problems.at(Code::UNKNOWN_NODE, trail, format!("there is no node `{id}`"), help);
        }
        None
    }
}
