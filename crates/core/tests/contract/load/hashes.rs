//! What changes a hash and what does not, as properties and as locked vectors.

use std::sync::Arc;

use proptest::prelude::*;
use sprag_core::definition::{Definition, Kind};
use sprag_core::file::{Node, NodeId, Noop, Policy, When, WorkflowId};
use sprag_core::graph::{Builder, NewEdge};

use super::support::valid;

const BASE: &str = "\
workflow: w
version: '1'
description: words
params: { p: { type: string, default: x, description: words }, q: { type: integer, default: 1 } }
context: { region: eu, list: [1, { b: 2, a: 1 }] }
policy: { fail_fast: true, max_parallelism: 4 }
secrets: { S: { env: S }, T: { file: t } }
defaults: { timeout: 10m }
nodes:
  a:
    description: words
    run: echo \"{{ params.p }}\" {{ params.q }}
    env: { A: one, B: two }
    inputs: [in.txt, src/**]
    outputs: [out.txt, dir]
    secrets: [S, T]
    retry: { max_attempts: 3, initial_delay: 1s }
    errors: { 75: RATE_LIMITED, 3: MINE }
  b:
    needs: [a, { node: c, when: always, condition: \"error.code != 'X'\" }]
    http: { method: POST, url: 'https://x', headers: { A: a, B: b }, json: { z: [1, null], y: {} } }
  c: { run: [echo, x], fallback: null }
  d: { call: f, with: { k: v } }
edges: [{ from: c, to: d }]
";

fn base() -> String {
    BASE.into()
}

fn hash(definition: &Definition, id: &str) -> String {
    definition.node(definition.graph.find(id).unwrap()).hash.to_string()
}

/// A workflow made in code is the one that its file says.
#[test]
fn making_it_in_code_makes_the_same() {
    let loaded = valid("workflow: w\npolicy: { fail_fast: true }\nnodes: { a: { noop: }, b: { noop:, needs: [a] } }\n");
    let mut builder = Builder::new(["a", "b"].map(|id| (0, NodeId::new(id).unwrap())));
    let [from, to] = ["a", "b"].map(|id| builder.find(id).unwrap());
    builder.edge(NewEdge { from, to, when: When::OnSuccess, condition: None });
    let (graph, cycles) = builder.finish();
    assert!(cycles.is_empty());
    let noop = Arc::new(Node { noop: Some(Noop), ..Node::default() });
    let policy = Policy { fail_fast: Some(true), ..Policy::default() };
    let id = WorkflowId::new("w").unwrap();
    let made = Definition::from_graph(id, policy, graph, |_| (Kind::Noop, Arc::clone(&noop)));
    assert_eq!(made, loaded);
    assert_ne!(made.node(from).hash, made.node(to).hash, "a shared spec is not a shared hash");
}

/// Each edit changes the hashes of exactly the named nodes, and the graph hash.
#[test]
fn what_changes_behaviour_changes_the_hash() {
    let before = valid(&base());
    for (from, to, nodes) in [
        ("run: echo", "run: ls", "a"),
        ("A: one", "A: uno", "a"),
        ("B: two", "C: two", "a"),
        ("in.txt", "in2.txt", "a"),
        ("outputs: [out.txt, dir]", "outputs: [out.txt]", "a"),
        ("outputs: [out.txt, dir]", "outputs: [out.txt, dir, more]", "a"),
        ("secrets: [S, T]", "secrets: [S]", "a"),
        ("max_attempts: 3", "max_attempts: 4", "a"),
        ("initial_delay: 1s", "initial_delay: 2s", "a"),
        ("75: RATE_LIMITED", "76: RATE_LIMITED", "a"),
        ("timeout: 10m", "timeout: 11m", "a b c d"),
        ("when: always", "when: on_failure", "b"),
        ("!= 'X'", "!= 'Y'", "b"),
        ("needs: [a, ", "needs: [", "b"),
        ("method: POST", "method: PUT", "b"),
        ("z: [1, null]", "z: [null, 1]", "b"),
        ("y: {}", "y: []", "b"),
        ("fallback: null", "fallback: 0", "c"),
        (", fallback: null", "", "c"),
        ("[echo, x]", "echo x", "c"),
        ("k: v", "k: w", "d"),
        ("from: c, to: d", "from: c, to: d, when: skip", "d"),
        ("fail_fast: true", "fail_fast: false", ""),
        ("region: eu", "region: us", ""),
        ("default: 1 ", "default: 2 ", ""),
        ("env: S }", "env: S2 }", ""),
        ("workflow: w", "workflow: v", ""),
    ] {
        let text = base();
        assert!(text.contains(from), "{from}");
        let after = valid(&text.replacen(from, to, 1));
        assert_ne!(before.graph_hash, after.graph_hash, "{from} -> {to}");
        for id in ["a", "b", "c", "d"] {
            let expected = nodes.split(' ').any(|changed| changed == id);
            assert_eq!(hash(&before, id) != hash(&after, id), expected, "{from} -> {to}: node {id}");
        }
    }
}

/// Order, words for people, and how fast, how safe and how often saved: none of it changes a hash.
#[test]
fn what_changes_nothing_keeps_the_hash() {
    let before = valid(&base());
    for (from, to) in [
        ("version: '1'", "version: '2'"),
        ("description: words", "description: other words"),
        ("    description: words\n", ""),
        ("max_parallelism: 4", "max_parallelism: 9, durability: relaxed, checkpoints: { keep: 3 }"),
        ("A: one, B: two", "B: two, A: one"),
        ("in.txt, src/**", "src/**, in.txt"),
        ("out.txt, dir", "dir, out.txt"),
        ("[S, T]", "[T, S]"),
        ("75: RATE_LIMITED, 3: MINE", "3: MINE, 75: RATE_LIMITED"),
        ("region: eu, list: [1, { b: 2, a: 1 }]", "list: [1, { a: 1, b: 2 }], region: eu"),
        ("z: [1, null], y: {}", "y: {}, z: [1, null]"),
        ("needs: [a, {", "needs: [a, a, {"),
        ("edges: [{ from: c, to: d }]", "edges: [{ to: d, from: c, when: on_success }]"),
        ("timeout: 10m", "timeout: 600s"),
        ("nodes:\n", "# a comment\nnodes:\n"),
    ] {
        let text = base();
        assert!(text.contains(from), "{from}");
        let after = valid(&text.replacen(from, to, 1));
        assert_eq!(before.graph_hash, after.graph_hash, "{from} -> {to}");
        for id in ["a", "b", "c", "d"] {
            assert_eq!(hash(&before, id), hash(&after, id), "{from} -> {to}: node {id}");
        }
    }
}

/// Hashes are compared with stored ones. If this test fails, results that people paid for would be thrown away:
/// raise the number in the hash's domain only on purpose, and say so in the changelog.
#[test]
fn locked_vectors() {
    let small = valid("workflow: w\nnodes: { a: { run: 'true' } }");
    let full = valid(&base());
    let phased = valid(
        "workflow: w\nphases: [{ name: p, nodes: { a: { noop: } } }, { name: q, timeout: 1h, nodes: { b: { wait: { for: 1s } } } }]",
    );
    let found = [
        small.graph_hash.to_string(),
        hash(&small, "a"),
        full.graph_hash.to_string(),
        hash(&full, "a"),
        hash(&full, "b"),
        hash(&full, "c"),
        hash(&full, "d"),
        phased.graph_hash.to_string(),
    ];
    assert_eq!(
        found.each_ref().map(|hash| &hash[..16]),
        [
            "f886cd2ff4cf62f5",
            "b274ae5db41198f1",
            "756092cfbcb5cf66",
            "d8d7a17b6063cc21",
            "410989aa1bce03b2",
            "9080abb9982e8e22",
            "feddd507500ea6f3",
            "dab3c46618950220"
        ]
    );
}

/// Graphs inside a node follow the same rules as the graph of the file.
#[test]
fn inner_graphs_are_canonical_too() {
    let hash = |inner: &str| valid(&format!("workflow: w\nnodes: {{ a: {{ workflow: {{ {inner} }} }} }}")).graph_hash;
    let base = hash("nodes: { b: { run: x }, c: { run: x }, d: { run: x, needs: [b, c] } }");
    for same in [
        "nodes: { d: { run: x, needs: [c, b] }, c: { run: x }, b: { run: x } }",
        "nodes: { b: { run: x }, c: { run: x }, d: { run: x, needs: [{ node: b }, { node: c, when: on_success }] } }",
        "nodes: { b: { run: x }, c: { run: x, description: words }, d: { run: x, needs: [b, c, b] } }",
        "nodes: { b: { run: x }, c: { run: x }, d: { run: x, needs: [b] } }, edges: [{ from: c, to: d }]",
    ] {
        assert_eq!(hash(same), base, "{same}");
    }
    for other in [
        "nodes: { b: { run: x }, c: { run: x }, d: { run: x, needs: [b] } }",
        "nodes: { b: { run: x }, c: { run: y }, d: { run: x, needs: [b, c] } }",
        "defaults: { timeout: 1s }, nodes: { b: { run: x }, c: { run: x }, d: { run: x, needs: [b, c] } }",
    ] {
        assert_ne!(hash(other), base, "{other}");
    }
}

/// An empty list is not the absence of a list, and `defaults` reach the node of a `map`.
#[test]
fn what_is_there_counts() {
    let hash = |text: &str| valid(&format!("workflow: w\n{text}")).graph_hash;
    assert_ne!(hash("nodes: { a: { run: x, retry: { only: [] } } }"), hash("nodes: { a: { run: x, retry: {} } }"));
    assert_ne!(hash("nodes: { a: { run: x, recovery: {} } }"), hash("nodes: { a: { run: x } }"));
    let map = "nodes: { a: { map: { over: '[1]', node: { run: x } } } }";
    assert_ne!(hash(&format!("defaults: {{ env: {{ A: b }} }}\n{map}")), hash(map));
    let mapped = valid(&format!("workflow: w\ndefaults: {{ retry: {{ max_attempts: 4 }} }}\n{map}"));
    let body = &mapped.nodes[0].spec.map.as_ref().unwrap().node;
    assert_eq!(body.retry.as_ref().unwrap().max_attempts, Some(4));
}

/// Phases are part of the graph: moving a node, or the phases, changes the hash.
#[test]
fn phases_count() {
    let text = |first: &str, second: &str| {
        format!(
            "workflow: w\nphases: [{{ name: {first}, nodes: {{ a: {{ noop: }} }} }}, {{ name: {second}, nodes: {{ b: {{ noop: }} }} }}]"
        )
    };
    assert_ne!(valid(&text("p", "q")).graph_hash, valid(&text("q", "p")).graph_hash);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Any order of nodes and of needs gives the same graph, waves and hashes.
    #[test]
    fn the_order_of_the_file_never_shows(
        edges in prop::collection::vec((0_usize..12, 0_usize..12), 0..30),
        order in Just((0..12).collect::<Vec<usize>>()).prop_shuffle(),
        turn in any::<bool>(),
    ) {
        let write = |order: &[usize], reverse: bool| {
            let mut text = String::from("workflow: w\nnodes:\n");
            for node in order {
                let mut needs: Vec<_> = edges.iter().filter(|(from, to)| from < to && to == node).map(|(from, _)| format!("n{from}")).collect();
                if reverse {
                    needs.reverse();
                }
                text.push_str(&["  n", &node.to_string(), ": { run: work, needs: [", &needs.join(", "), "] }\n"].concat());
            }
            text
        };
        let sorted: Vec<_> = (0..12).collect();
        let (one, two) = (valid(&write(&sorted, false)), valid(&write(&order, turn)));
        prop_assert_eq!(&one.graph, &two.graph);
        prop_assert_eq!(one.graph_hash, two.graph_hash);
    }
}
