//! Random nodes that grow, with what is inside them, and random phases (`R-GROW-1`, `R-PHASE-1`).

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::node::{self, Node, Source};
use super::options::Features;
use super::workflow::{policy, shuffle, sources};
use crate::rng::Rng;

/// A graph inside a node, as flow YAML.
struct Graph {
    nodes: Vec<Node>,
    text: String,
}

impl Graph {
    fn signals(&self) -> Vec<String> {
        self.nodes.iter().flat_map(Node::all_signals).collect()
    }

    /// A node that leads nowhere and has an output to look at.
    fn last(&self) -> Option<&Node> {
        let named = |id: &str| {
            self.nodes.iter().any(|node| node.keys.iter().any(|key| key.starts_with("needs") && key.contains(id)))
        };
        self.nodes.iter().find(|node| node.works && !named(&node.id))
    }
}

/// Draws the nodes of one graph or phase. Each may grow, as far as `room` allows: so many nodes there may be in the end.
pub(super) fn nodes(
    rng: &mut Rng,
    features: &Features,
    (prefix, depth, room): (&str, u32, u64),
    earlier: &[Node],
) -> Vec<Node> {
    let count = 1 + rng.below(room.clamp(1, 5));
    let mut left = room.saturating_sub(count);
    let mut ids: Vec<_> = (0..count).map(|number| format!("{prefix}{number}")).collect();
    shuffle(rng, &mut ids);
    let mut nodes: Vec<Node> = Vec::new();
    let mut ancestors: Vec<BTreeSet<usize>> = Vec::new();
    for (at, id) in ids.into_iter().enumerate() {
        let reach = 1 + rng.below(3);
        let sources = sources(rng, at, reach);
        let seen: BTreeSet<_> =
            sources.iter().flat_map(|source| ancestors[*source].iter().copied().chain([*source])).collect();
        let sources: Vec<_> = sources.into_iter().map(|source| Source { node: &nodes[source] }).collect();
        let visible: Vec<_> = seen.iter().map(|source| &nodes[*source]).chain(earlier).collect();
        let drawn = if depth < 3 && left > 0 && rng.one_in(2) {
            let given = 1 + rng.below(left);
            left -= given;
            let mut grown = grown(rng, features, (id, depth, given), &visible);
            node::around(rng, &mut grown, &sources, &visible);
            grown
        } else {
            node::draw(rng, features, format!("n{id}"), &sources, &visible)
        };
        nodes.push(drawn);
        ancestors.push(seen);
    }
    shuffle(rng, &mut nodes);
    nodes
}

/// A node that grows into at most so many.
fn grown(rng: &mut Rng, features: &Features, (id, depth, room): (String, u32, u64), visible: &[&Node]) -> Node {
    let mut grown = match rng.below(8) {
        0..=3 => map(rng, features, (&id, depth, room), visible),
        4 => repeat(rng, features, (&id, depth, room)),
        5 | 6 => sub_workflow(rng, features, (&id, depth, room), visible),
        _ => {
            let mut node = Node::named(format!("g{id}"));
            node.keys.push("generate: { call: world }".into());
            node
        }
    };
    if features.clock && rng.one_in(6) {
        grown.keys.push(format!("timeout: {}ms", 1 + rng.below(60)));
    }
    if rng.one_in(10) {
        grown.keys.push("output_schema: {}".into());
    }
    if features.people && rng.one_in(12) {
        node::gate(rng, features, &mut grown);
    }
    grown
}

fn map(rng: &mut Rng, features: &Features, (id, depth, room): (&str, u32, u64), visible: &[&Node]) -> Node {
    let from = rng.pick(visible).copied().filter(|_| rng.one_in(2) && room >= 3);
    let (over, most) = match from {
        Some(node) if node.works => (format!("nodes.{}.output.items", node.id), 3),
        Some(node) if node.list && room >= 6 => (format!("nodes.{}.output", node.id), 6),
        _ => {
            let count = rng.below(room.min(6) + 1);
            let items = (0..count).map(|at| at.to_string()).collect::<Vec<_>>().join(", ");
            (format!("[{items}]"), count)
        }
    };
    let each = room.checked_div(most).unwrap_or(room);
    let (name, copy) = match rng.below(8) {
        0 | 1 if each > 1 && depth < 2 => ("m", sub_workflow(rng, features, ("0", depth + 1, each - 1), visible)),
        2 if each > 1 && depth < 2 => {
            let inner = map(rng, features, ("0", depth + 1, each - 1), &[]);
            (if inner.id.starts_with("mg") { "mg" } else { "m" }, inner)
        }
        3 if each > 3 => {
            let mut node = Node::named(String::new());
            node.keys.push("generate: { call: world }".into());
            ("mg", node)
        }
        _ => {
            let mut node = node::draw(rng, features, String::new(), &[], visible);
            node.keys.retain(|key| !key.starts_with("join") && !key.starts_with("priority"));
            ("m", node)
        }
    };
    let mut node = Node::named(format!("{name}{id}"));
    let limit = if rng.one_in(2) { format!(", max_parallel: {}", 1 + rng.below(3)) } else { String::new() };
    node.keys.push(format!("map: {{ over: \"{over}\", node: {{ {} }}{limit} }}", copy.keys.join(", ")));
    node.signals = copy.all_signals().collect();
    node.list = true;
    node
}

fn repeat(rng: &mut Rng, features: &Features, (id, depth, room): (&str, u32, u64)) -> Node {
    let most = 1 + rng.below(room.min(3));
    let graph = graph(rng, features, (depth + 1, room / most), "");
    let until = match graph.last() {
        Some(last) if !rng.one_in(6) => format!("output.{}.n > {}", last.id, rng.below(5)),
        _ => rng.pick(&["true", "false"]).copied().unwrap_or("true").to_owned(),
    };
    let mut node = Node::named(format!("k{id}"));
    node.keys.push(format!("loop: {{ workflow: {{ {} }}, until: \"{until}\", max: {most} }}", graph.text));
    node.signals = graph.signals();
    node
}

fn sub_workflow(rng: &mut Rng, features: &Features, (id, depth, room): (&str, u32, u64), visible: &[&Node]) -> Node {
    let handed = rng.pick(visible).copied().filter(|node| node.works && rng.one_in(2));
    let params = if handed.is_some() { "params: { n: { type: integer, default: 3 } }, " } else { "" };
    let graph = graph(rng, features, (depth + 1, room), params);
    let mut node = Node::named(format!("w{id}"));
    node.keys.push(format!("workflow: {{ {} }}", graph.text));
    if let Some(handed) = handed {
        node.keys.push(format!("params: {{ n: \"{{{{ nodes.{}.output.n }}}}\" }}", handed.id));
    }
    node.seen = graph.last().map(|last| format!("{}.n", last.id));
    node.signals = graph.signals();
    node
}

/// A graph inside a node: its own nodes, which see nothing of those around.
fn graph(rng: &mut Rng, features: &Features, (depth, room): (u32, u64), params: &str) -> Graph {
    let nodes = nodes(rng, features, ("", depth, room.max(1)), &[]);
    let mut text = params.to_owned();
    if rng.one_in(3) {
        text += "context: { x: 5 }, ";
    }
    let policy = if rng.one_in(2) { policy(rng, features) } else { Vec::new() };
    if !policy.is_empty() {
        let _ = write!(text, "policy: {{ {} }}, ", policy.join(", "));
    }
    let _ = write!(text, "nodes: {{ {} }}", flow(&nodes));
    Graph { nodes, text }
}

/// Nodes as flow YAML.
fn flow(nodes: &[Node]) -> String {
    let written: Vec<_> = nodes.iter().map(|node| format!("{}: {{ {} }}", node.id, node.keys.join(", "))).collect();
    written.join(", ")
}

/// One phase of a workflow.
#[derive(Debug, Clone)]
pub(super) struct Phase {
    /// The whole, as flow YAML.
    pub text: String,
    pub nodes: Vec<Node>,
}

/// Phases, of which later ones see the nodes of earlier ones.
pub(super) fn phases(rng: &mut Rng, features: &Features) -> Vec<Phase> {
    let count = 1 + rng.below(4);
    let room = features.nodes.min(24) / count;
    let mut phases: Vec<Phase> = Vec::new();
    for number in 0..count {
        let timeout =
            if features.clock && rng.one_in(4) { format!("timeout: {}ms, ", 5 + rng.below(80)) } else { String::new() };
        let earlier: Vec<_> = phases.iter().flat_map(|phase| phase.nodes.clone()).collect();
        let phase = if rng.one_in(4) {
            let generate = format!("name: gP{number}, {timeout}generate: {{ call: world }}");
            Phase { text: generate, nodes: Vec::new() }
        } else {
            let prefix = ["a", "b", "c", "d"].get(usize::try_from(number).unwrap_or(0)).copied().unwrap_or("e");
            let nodes = nodes(rng, features, (prefix, 0, room), &earlier);
            Phase { text: format!("name: P{number}, {timeout}nodes: {{ {} }}", flow(&nodes)), nodes }
        };
        phases.push(phase);
    }
    phases
}
