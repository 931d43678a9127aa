//! A random workflow file: its graph and its policy.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::growing::{self, Phase};
use super::node::{self, Node, Source};
use super::options::Features;
use crate::rng::Rng;

/// A workflow before it is text.
#[derive(Debug, Clone)]
pub(super) struct Drawn {
    pub features: Features,
    pub policy: Vec<String>,
    /// In the order in which they are declared, which has nothing to do with the order of their edges.
    pub nodes: Vec<Node>,
    /// Phases, instead of nodes.
    pub phases: Vec<Phase>,
    /// Whether some work never ends, because a deadline will end it.
    pub hangs: bool,
}

impl Drawn {
    pub fn yaml(&self) -> String {
        let mut text = String::from("workflow: generated\ncontext: { x: 1, y: { in: 2 } }\n");
        if !self.policy.is_empty() {
            let _ = writeln!(text, "policy: {{ {} }}", self.policy.join(", "));
        }
        if !self.phases.is_empty() {
            text += "phases:\n";
            for phase in &self.phases {
                let _ = writeln!(text, "  - {{ {} }}", phase.text);
            }
        }
        if self.nodes.is_empty() {
            return text;
        }
        text += "nodes:\n";
        for node in &self.nodes {
            let _ = writeln!(text, "  {}: {{ {} }}", node.id, node.keys.join(", "));
        }
        text
    }

    /// All nodes that the file names at the top.
    pub fn all(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().chain(self.phases.iter().flat_map(|phase| &phase.nodes))
    }
}

pub(super) fn draw(rng: &mut Rng, features: &Features) -> Drawn {
    if features.growth {
        let policy = policy(rng, features);
        let hangs = policy.iter().any(|key| key.starts_with("deadline")) && rng.one_in(3);
        let (nodes, phases) = if rng.one_in(3) {
            (Vec::new(), growing::phases(rng, features))
        } else {
            (growing::nodes(rng, features, ("", 0, features.nodes.min(24)), &[]), Vec::new())
        };
        return Drawn { features: *features, policy, nodes, phases, hangs };
    }
    let count = 1 + rng.below(features.nodes);
    let mut ids: Vec<_> = (0..count).map(|number| format!("n{:02}", number * 3)).collect();
    shuffle(rng, &mut ids);
    let policy = policy(rng, features);
    let mut nodes: Vec<Node> = Vec::new();
    let mut ancestors: Vec<BTreeSet<usize>> = Vec::new();
    // Some graphs are wide, some are deep.
    let reach = 1 + rng.below(6);
    for (at, id) in ids.into_iter().enumerate() {
        let sources = sources(rng, at, reach);
        let seen: BTreeSet<_> =
            sources.iter().flat_map(|source| ancestors[*source].iter().copied().chain([*source])).collect();
        let sources: Vec<_> = sources.into_iter().map(|source| Source { node: &nodes[source] }).collect();
        let visible: Vec<_> = seen.iter().map(|source| &nodes[*source]).collect();
        let drawn = node::draw(rng, features, id, &sources, &visible);
        nodes.push(drawn);
        ancestors.push(seen);
    }
    shuffle(rng, &mut nodes);
    let hangs = policy.iter().any(|key| key.starts_with("deadline")) && rng.one_in(3);
    Drawn { features: *features, policy, nodes, phases: Vec::new(), hangs }
}

/// Some of the nodes before this one, mostly near ones.
pub(super) fn sources(rng: &mut Rng, at: usize, reach: u64) -> Vec<usize> {
    let wanted = match rng.below(8) {
        0 => 0,
        1..=3 => 1,
        4..=5 => 2,
        6 => 3,
        _ => 4,
    };
    let mut sources = BTreeSet::new();
    for _ in 0..wanted.min(at) {
        let back = 1 + rng.below(reach.min(at as u64));
        sources.insert(at - usize::try_from(back).unwrap_or(1));
    }
    sources.into_iter().collect()
}

pub(super) fn policy(rng: &mut Rng, features: &Features) -> Vec<String> {
    let mut keys = Vec::new();
    if rng.one_in(2) {
        keys.push("scheduling: frontier".to_owned());
    }
    if rng.one_in(2) {
        keys.push(format!("max_parallelism: {}", 1 + rng.below(4)));
    }
    match rng.below(8) {
        0 => keys.push("fail_open: true".to_owned()),
        1 if features.stop_rules => keys.push("fail_fast: true".to_owned()),
        _ => {}
    }
    if features.stop_rules {
        if rng.one_in(8) {
            keys.push(format!("max_node_failures: {}", 1 + rng.below(3)));
        }
        if rng.one_in(4) {
            keys.push(format!("max_retries_exhausted: {}", 1 + rng.below(2)));
        }
    }
    if features.clock && rng.one_in(6) {
        keys.push(format!("deadline: {}ms", 5 + rng.below(200)));
    }
    if features.recovery && rng.one_in(2) {
        keys.push(super::recovering::budget(rng));
    }
    if features.unknown && rng.one_in(4) {
        keys.push(format!("max_interruptions: {}", rng.below(3)));
    }
    keys
}

pub(super) fn shuffle<T>(rng: &mut Rng, items: &mut [T]) {
    for at in (1..items.len()).rev() {
        let other = usize::try_from(rng.below(at as u64 + 1)).unwrap_or(0);
        items.swap(at, other);
    }
}
