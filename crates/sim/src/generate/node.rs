//! A random node: its kind, its edges and what surrounds it.

use super::options::Features;
use super::recovering;
use crate::rng::Rng;

/// A node before it is text.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each says whether a key is there")]
pub(super) struct Node {
    pub id: String,
    /// Its keys as flow YAML.
    pub keys: Vec<String>,
    /// Whether it calls the scripted world, and so has an output with `ok` and `n`.
    pub works: bool,
    pub gate: bool,
    pub checked: bool,
    /// Whether somebody outside grades it.
    pub graded: bool,
    pub probed: bool,
    pub signal: Option<String>,
    /// The signals that are waited for inside it.
    pub signals: Vec<String>,
    /// Whether its output is a list.
    pub list: bool,
    /// What is a number in its output, if it grows.
    pub seen: Option<String>,
}

impl Node {
    /// A node without keys.
    pub const fn named(id: String) -> Self {
        Self {
            id,
            keys: Vec::new(),
            works: false,
            gate: false,
            checked: false,
            graded: false,
            probed: false,
            signal: None,
            signals: Vec::new(),
            list: false,
            seen: None,
        }
    }

    /// The signals that it waits for, or something inside it.
    pub fn all_signals(&self) -> impl Iterator<Item = String> {
        self.signal.iter().chain(&self.signals).cloned()
    }
}

/// A node that another depends on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'nodes> {
    pub node: &'nodes Node,
}

pub(super) fn draw(rng: &mut Rng, features: &Features, id: String, sources: &[Source<'_>], visible: &[&Node]) -> Node {
    let mut node = Node::named(id);
    match rng.below(14) {
        0 => node.keys.push("noop: true".into()),
        1 => node.keys.push(format!("wait: {{ for: {}ms }}", rng.below(30))),
        2 if features.people => {
            let signal = format!("s{}", rng.below(3));
            node.keys.push(format!("wait: {{ signal: {signal} }}"));
            if features.clock && rng.one_in(2) {
                node.keys.push(format!("timeout: {}ms", 1 + rng.below(60)));
            }
            node.signal = Some(signal);
        }
        3 if features.people => gate(rng, features, &mut node),
        _ => work(rng, features, &mut node),
    }
    around(rng, &mut node, sources, visible);
    node
}

/// What surrounds a node, whatever it does.
pub(super) fn around(rng: &mut Rng, node: &mut Node, sources: &[Source<'_>], visible: &[&Node]) {
    if rng.one_in(6) {
        node.keys.push("continue_on_error: true".into());
    }
    if rng.one_in(8) {
        node.keys.push("fallback: { ok: true, n: 4 }".into());
    }
    if rng.one_in(4) {
        node.keys.push(format!("priority: {}", rng.below(5)));
    }
    if !sources.is_empty() {
        let needs: Vec<_> = sources.iter().map(|source| need(rng, source.node, visible)).collect();
        node.keys.push(format!("needs: [{}]", needs.join(", ")));
        // Somebody checks the source's output, whatever it is: a wait has stages, too.
        if rng.one_in(8)
            && let Some(source) = rng.pick(sources)
        {
            node.keys.push(format!("input_schema: {{ {}: {{}} }}", source.node.id));
        }
    }
    match rng.below(5) {
        0 => node.keys.push("join: any".into()),
        1 => node.keys.push("join: none_failed".into()),
        _ => {}
    }
}

pub(super) fn gate(rng: &mut Rng, features: &Features, node: &mut Node) {
    let shown = if node.works && rng.one_in(3) { "\"is {{ output.n }} right?\"" } else { "\"go on?\"" };
    let timeout =
        if features.clock && rng.one_in(2) { format!(", timeout: {}ms", 1 + rng.below(60)) } else { String::new() };
    node.keys.push(format!("approve: {{ message: {shown}{timeout} }}"));
    node.gate = true;
}

fn work(rng: &mut Rng, features: &Features, node: &mut Node) {
    node.works = true;
    if features.recovery {
        recovering::work(rng, &mut node.keys);
    } else {
        node.keys.push("call: world".into());
    }
    if rng.below(5) < 2 {
        node.keys.push(retry(rng));
    }
    if rng.one_in(8) {
        node.checked = true;
        node.keys.push("output_schema: { type: object }".into());
    }
    match rng.below(12) {
        0 => node.keys.push("evaluate: \"output.n > 1\"".into()),
        1 => node.keys.push("evaluate: \"'C' if output.ok else 'D'\"".into()),
        2 => {
            node.graded = true;
            node.keys.push("evaluate: { call: grader }".into());
        }
        _ => {}
    }
    if rng.one_in(4) {
        let probed = rng.one_in(2);
        if probed || features.unknown {
            node.keys.push("semantics: at_most_once".into());
        }
        if probed {
            node.probed = true;
            node.keys.push("probe: { run: look }".into());
        }
    }
    if features.people && rng.one_in(8) {
        gate(rng, features, node);
    }
}

fn retry(rng: &mut Rng) -> String {
    let initial = rng.below(20);
    let max = initial + rng.below(40);
    let backoff = ["fixed", "linear", "exponential"];
    let backoff = rng.pick(&backoff).copied().unwrap_or("fixed");
    let list = match rng.below(8) {
        0 => ", only: [transient, MINE]",
        1 => ", never: [NETWORK, complexity]",
        2 => ", only: [PERMISSION_DENIED, TOOL_ERROR]",
        _ => "",
    };
    format!(
        "retry: {{ max_attempts: {}, initial_delay: {initial}ms, max_delay: {max}ms, backoff: {backoff}, jitter: 0.{}{list} }}",
        1 + rng.below(4),
        rng.below(10)
    )
}

/// An edge from a source.
fn need(rng: &mut Rng, source: &Node, visible: &[&Node]) -> String {
    let when = match rng.below(14) {
        0..=8 => "on_success",
        9 => "on_failure",
        10..=12 => "always",
        _ => "skip",
    };
    let condition = match rng.below(16) {
        0 | 1 if source.works && when == "on_success" => Some("output.ok".to_owned()),
        2 if when == "on_failure" => Some("error.code == 'NETWORK' or error.class == 'transient'".to_owned()),
        3 => {
            let of = rng.pick(visible).filter(|node| node.works);
            of.map(|node| format!("nodes.{}.output.n > 2", node.id))
        }
        4 => {
            let of = rng.pick(visible);
            of.map(|node| format!("nodes.{}.state in ['completed', 'failed']", node.id))
        }
        0..=2 if when == "on_success" => source.seen.as_ref().map(|seen| format!("output.{seen} > 2")),
        5 if rng.one_in(4) => Some("output.missing.deeply".to_owned()),
        6 if rng.one_in(2) => Some("context.x == 1".to_owned()),
        _ => None,
    };
    match condition {
        Some(condition) => format!("{{ node: {}, when: {when}, condition: \"{condition}\" }}", source.id),
        None if when == "on_success" => source.id.clone(),
        None => format!("{{ node: {}, when: {when} }}", source.id),
    }
}
