//! What definitions carry of the graphs inside nodes, and of phases that generate theirs.

use std::collections::BTreeMap;
use std::sync::Arc;

use sprag_core::definition::{CompiledNode, Definition, Inside, Kind};
use sprag_core::graph::NodeIndex;

use super::support::{diagnostics, problems, valid};

fn node<'d>(definition: &'d Definition, id: &str) -> &'d CompiledNode {
    definition.node(definition.graph.find(id).unwrap())
}

fn graph(node: &CompiledNode) -> &Arc<Definition> {
    match &node.inside {
        Inside::Graph(graph) => graph,
        other => panic!("no graph: {other:?}"),
    }
}

fn copy(node: &CompiledNode) -> &Arc<CompiledNode> {
    match &node.inside {
        Inside::Copy(copy) => copy,
        other => panic!("no copy: {other:?}"),
    }
}

const NESTED: &str = "\
workflow: outer
secrets: { S: { env: S } }
defaults: { timeout: 1m }
nodes:
  plain: { run: echo, secrets: [S] }
  file: { workflow: other.yaml }
  files: { loop: { workflow: other.yaml, until: output.done, max: 2 } }
  made: { generate: { run: echo } }
  sub:
    params: { p: x }
    workflow:
      params: { p: { type: string } }
      context: { c: 1 }
      policy: { fail_fast: true }
      defaults: { timeout: 5m }
      nodes:
        b: { run: 'echo {{ nodes.a.output }} {{ params.p }}', needs: [m] }
        a: { run: echo }
        m: { noop: }
      edges: [{ from: a, to: m }]
  again:
    loop: { workflow: { nodes: { step: { run: echo } } }, until: output.step, max: 3 }
  each:
    map:
      over: '[[1], [2]]'
      node:
        map: { over: item, node: { workflow: { nodes: { leaf: { run: echo } } } } }
";

/// R-GROW-1: inner graphs are full definitions, with their own `defaults`, edges and reads.
#[test]
fn graphs_inside_nodes_are_kept() {
    let definition = valid(NESTED);
    for id in ["plain", "file", "files", "made"] {
        assert_eq!(node(&definition, id).inside, Inside::Nothing, "{id}");
    }
    let sub = graph(node(&definition, "sub"));
    assert_eq!((sub.id.as_str(), sub.secrets.len(), sub.params.len(), sub.context.len()), ("outer", 1, 1, 1));
    assert_eq!((sub.policy.fail_fast, sub.phases.len(), sub.files.len()), (Some(true), 0, 0));
    let [a, b, m] = ["a", "b", "m"].map(|id| sub.graph.find(id).unwrap());
    let edges: Vec<_> = sub.graph.edges().iter().map(|edge| (edge.from, edge.to)).collect();
    assert_eq!(edges, [(m, b), (a, m)]);
    assert_eq!(sub.reads, [(b, a)]);
    assert_eq!((sub.node(a).kind, sub.node(m).kind), (Kind::Run, Kind::Noop));
    for inner in [a, b] {
        assert_eq!(sub.node(inner).spec.timeout.unwrap().to_string(), "5m", "the defaults are its own");
        assert!(sub.node(inner).spec.needs.is_empty());
    }
    let again = graph(node(&definition, "again"));
    assert_eq!(again.graph.len(), 1);
    assert_eq!(again.nodes[0].spec.timeout, None, "defaults do not reach into a sub-workflow");
    let each = copy(node(&definition, "each"));
    assert_eq!((each.kind, each.spec.timeout.is_some()), (Kind::Map, true));
    let inner = copy(each);
    assert_eq!((inner.kind, graph(inner).graph.len()), (Kind::Workflow, 1));
}

/// R-FILE-4: all of it survives being stored.
#[test]
fn inner_graphs_are_stored_with_the_rest() {
    let definition = valid(NESTED);
    assert_eq!(Definition::from_bytes(&definition.to_bytes().unwrap()).unwrap(), definition);
}

/// R-GROW-2: hashes of inner nodes follow what they do and nothing else, so a linked resume can keep them.
#[test]
fn inner_hashes_follow_the_inner_nodes() {
    let (before, leaf_hash) = (valid(NESTED), |definition: &Definition| {
        let leaf = copy(copy(node(definition, "each")));
        (copy(node(definition, "each")).hash, leaf.hash, graph(leaf).nodes[0].hash)
    });
    let elsewhere = valid(&NESTED.replace("step: { run: echo }", "step: { run: other }"));
    assert_eq!(leaf_hash(&elsewhere), leaf_hash(&before));
    assert_ne!(graph(node(&elsewhere, "again")).graph_hash, graph(node(&before, "again")).graph_hash);
    let changed = leaf_hash(&valid(&NESTED.replace("leaf: { run: echo }", "leaf: { run: other }")));
    let unchanged = leaf_hash(&before);
    assert!(changed.0 != unchanged.0 && changed.1 != unchanged.1 && changed.2 != unchanged.2);
    let described = NESTED.replace("leaf: { run: echo }", "leaf: { run: echo, description: words }");
    assert_eq!(leaf_hash(&valid(&described)).2, unchanged.2);
}

/// R-GROW-1: files that are named anywhere, also inside, are linked once and hashed wherever they are named.
#[test]
fn linked_files_reach_the_hashes_of_inner_nodes() {
    let text = "workflow: w\nnodes:\n  a: { workflow: { nodes: { i: { workflow: f.yaml }, j: { noop: } } } }\n  b: { map: { over: '[1]', node: { workflow: f.yaml } } }\n  c: { noop: }\n";
    let linked = |file: &str| {
        let mut definition = valid(text);
        definition.link(BTreeMap::from([("f.yaml".to_owned(), Arc::new(valid(file)))]));
        definition
    };
    let one = linked("workflow: f\nnodes: { x: { run: one } }\n");
    let two = linked("workflow: f\nnodes: { x: { run: two } }\n");
    let inner = |definition: &Definition, id: &str| node(graph(node(definition, "a")), id).hash;
    assert_ne!(inner(&one, "i"), inner(&two, "i"));
    assert_eq!(inner(&one, "j"), inner(&two, "j"));
    assert_ne!(copy(node(&one, "b")).hash, copy(node(&two, "b")).hash);
    assert_ne!(node(&one, "a").hash, node(&two, "a").hash);
    assert_eq!(node(&one, "c").hash, node(&two, "c").hash);
    assert_eq!(one.files["f.yaml"].nodes.len(), 1);
    assert!(graph(node(&one, "a")).files.is_empty());
}

/// R-GROW-1: copies share what they say, and a million of them are quick.
#[test]
fn copies_of_a_map_share_their_node() {
    let definition = valid(NESTED);
    let each = definition.graph.find("each").unwrap();
    let copies = definition.copies(each, 12).unwrap();
    assert_eq!((copies.nodes.len(), copies.secrets.len(), copies.id.as_str()), (12, 1, "outer"));
    for at in 0..12 {
        let index = copies.graph.find(&at.to_string()).unwrap();
        assert_eq!(index, NodeIndex(at));
        assert!(Arc::ptr_eq(&copies.node(index).spec, &copy(node(&definition, "each")).spec));
        assert!(matches!(copies.node(index).inside, Inside::Copy(_)));
    }
    assert_eq!(copies, definition.copies(each, 12).unwrap());
    assert_ne!(copies.graph_hash, definition.copies(each, 11).unwrap().graph_hash);
    assert_eq!(definition.copies(each, 0).unwrap().graph.len(), 0);
    assert!(definition.copies(definition.graph.find("plain").unwrap(), 1).is_none());
    let started = std::time::Instant::now();
    let many = definition.copies(each, 1_000_000).unwrap();
    assert_eq!(many.graph.find("999999"), Some(NodeIndex(999_999)));
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
}

fn phases(first: &str, second: &str) -> String {
    format!("workflow: w\ndefaults: {{ timeout: 3m, retry: {{ max_attempts: 2 }} }}\nphases:\n- {first}\n- {second}\n")
}

const GENERATED: &str = "{ name: BUILD, timeout: 1h, generate: { run: 'make {{ phase.name }}' } }";

/// R-PHASE-1: a phase that generates its nodes is a phase of one node that does, named like the phase.
#[test]
fn a_generating_phase_is_one_node() {
    let reader = "{ name: LAST, nodes: { b: { run: 'echo {{ nodes.BUILD.output.compile }}' } } }";
    let definition = valid(&phases(GENERATED, reader));
    let index = definition.graph.find("BUILD").unwrap();
    let build = definition.node(index);
    assert_eq!((build.kind, definition.graph.phase(index), definition.nodes.len()), (Kind::Generate, 0, 2));
    assert!(build.spec.generate.is_some() && build.spec.retry.is_none(), "defaults are those of `generate`");
    assert_eq!(build.spec.timeout.unwrap().to_string(), "3m");
    assert_eq!(definition.phases[0].timeout.unwrap().to_string(), "1h");
    assert_eq!(definition.reads, [(definition.graph.find("b").unwrap(), index)]);
}

/// R-PHASE-1: names in later phases are checked like any others.
#[test]
fn names_of_generated_phases_are_checked() {
    let reader = |name: &str| format!("{{ name: LAST, nodes: {{ b: {{ run: 'echo {{{{ {name} }}}}' }} }} }}");
    let unknown = diagnostics(&phases(GENERATED, &reader("nodes.compile.output")));
    assert_eq!(unknown[0].code.as_str(), "UNDEFINED_NAME");
    let help = unknown[0].help.as_deref().unwrap();
    assert!(
        help.starts_with("what the phase `BUILD` generates is read as `nodes['BUILD'].output['compile']`"),
        "{help}"
    );
    assert_eq!(diagnostics(&phases(&reader("nodes.BUILD.output"), GENERATED))[0].code.as_str(), "NOT_AN_ANCESTOR");
    let itself = GENERATED.replace("phase.name", "nodes.BUILD.output");
    assert_eq!(problems(&phases("{ name: A, nodes: { a: { noop: } } }", &itself)), ["5:57 NOT_AN_ANCESTOR"]);
    let source = GENERATED.replace("phase.name", "output");
    assert_eq!(problems(&phases("{ name: A, nodes: { a: { noop: } } }", &source)), ["5:57 NOT_AVAILABLE_HERE"]);
    // A `generate` that cannot be read is one problem, not two.
    let broken = "{ name: BUILD, generate: 7 }";
    assert_eq!(problems(&phases(broken, &reader("nodes.BUILD.output"))), ["4:28 WRONG_TYPE"]);
}

/// R-GROW-2: ids are unique across phases, those of generated phases included.
#[test]
fn a_node_named_like_a_generated_phase_is_refused() {
    let plain = "{ name: A, nodes: { BUILD: { noop: } } }";
    for (first, second, place) in [(plain, GENERATED, "5:11"), (GENERATED, plain, "5:23")] {
        let found = diagnostics(&phases(first, second));
        assert_eq!(problems(&phases(first, second)), [format!("{place} DUPLICATE_KEY")]);
        assert!(found[0].message.contains("a phase that generates its nodes"), "{}", found[0].message);
        assert_eq!(found[0].labels.len(), 1);
    }
    let twice = problems(&phases(GENERATED, GENERATED));
    assert_eq!(twice, ["5:11 DUPLICATE_KEY"]);
    // A phase may have the name of a node as long as it does not generate.
    valid(&phases("{ name: a, nodes: { a: { noop: } } }", "{ name: b, nodes: { b: { noop: } } }"));
    let both = "{ name: B, nodes: { x: { noop: } }, generate: { run: x } }";
    assert_eq!(problems(&phases(both, plain)), ["4:39 INVALID_VALUE"]);
}

/// R-FILE-3: each node keeps all that stands inside it, so depth is limited.
#[test]
fn nodes_nest_16_deep() {
    let nested = |depth: usize| {
        let open = "{ map: { over: '[1]', node: ".repeat(depth);
        format!("workflow: w\nnodes:\n  a: {open}{{ noop: }}{}\n", " } }".repeat(depth))
    };
    valid(&nested(16));
    let found = diagnostics(&nested(17));
    assert_eq!(found.iter().map(|problem| problem.code.as_str()).collect::<Vec<_>>(), ["TOO_DEEP"]);
}
