//! The judges can say no to growth as well: histories of a run that grew, tampered with.

use std::sync::Arc;

use serde_json::json;
use sprag_core::definition::{Definition, Inside};
use sprag_core::file::{Duration, Expr, Node};
use sprag_core::graph::NodeIndex;
use sprag_core::hash::Digest;
use sprag_core::run::{Entry, Expansion, Growth, Known, NodeError, Timestamp};
use sprag_sim::check::check_at_rest;
use sprag_sim::{Outcome, World};

use crate::corrupt::Tale;

/// One of everything that grows, in two phases.
const STORY: &str = "
workflow: story
policy: { scheduling: frontier }
phases:
  - name: P
    nodes:
      list: { call: x }
      each: { needs: [list], map: { over: nodes.list.output, node: { call: x }, max_parallel: 3 } }
      sub: { workflow: { nodes: { a: { call: x }, b: { call: x }, c: { call: x, needs: [{ node: b, condition: output.n > 2 }] } } } }
  - name: Q
    timeout: 1h
    nodes:
      again: { loop: { workflow: { nodes: { d: { call: x } } }, until: output.d.n > 2, max: 4 } }
      plan: { generate: { call: x }, timeout: 1h }
";

fn told() -> Tale {
    let mut world = World::of(STORY);
    world.scripted("list", [Outcome::output(json!([1, 2, 3]))]);
    world.scripted("sub/b", [Outcome::output(json!({ "n": 3 }))]);
    world.scripted("again/1/d", [Outcome::output(json!({ "n": 1 }))]);
    world.scripted("again/2/d", [Outcome::output(json!({ "n": 3 }))]);
    let graph = json!({ "nodes": { "e": { "call": "x" }, "f": { "call": "x", "needs": ["e"] } } });
    world.scripted("plan", [Outcome::output(graph)]);
    world.runs();
    assert_eq!(world.end(), "completed 0", "{}", world.picture());
    Tale::of(&world)
}

/// The first of the nodes that a node grew into first.
fn child(tale: &Tale, parent: &str) -> NodeIndex {
    let parent = tale.node(parent);
    let mut next = u32::try_from(tale.definition.graph.len()).unwrap();
    for entry in tale.commits.iter().flat_map(|commit| &commit.entries) {
        if let Entry::Expanded(expansion) = entry {
            if expansion.node == parent {
                return NodeIndex(next);
            }
            next += expansion.children;
        }
    }
    panic!("it did not grow");
}

fn grew(tale: &Tale, parent: &str, round: u32) -> impl Fn(&Entry) -> bool + use<> {
    let parent = tale.node(parent);
    move |entry| matches!(entry, Entry::Expanded(expansion) if expansion.node == parent && expansion.round == round)
}

fn expansion<'tale>(tale: &'tale mut Tale, parent: &str, round: u32) -> &'tale mut Expansion {
    let wanted = grew(tale, parent, round);
    match tale.entry(wanted) {
        Entry::Expanded(expansion) => expansion,
        _ => panic!("it grew"),
    }
}

fn spec<'tale>(tale: &'tale mut Tale, node: &str) -> &'tale mut Node {
    let at = tale.node(node).at();
    Arc::make_mut(&mut tale.definition.nodes[at].spec)
}

fn inside<'tale>(tale: &'tale mut Tale, node: &str) -> &'tale mut Definition {
    let at = tale.node(node).at();
    match &mut tale.definition.nodes[at].inside {
        Inside::Graph(graph) => Arc::make_mut(graph),
        _ => panic!("it has a graph"),
    }
}

fn gathered(tale: &Tale, parent: &str) -> impl Fn(&Entry) -> bool + use<> {
    let parent = tale.node(parent);
    move |entry| matches!(entry, Entry::Gathered { node, .. } if *node == parent)
}

fn completed(wanted: NodeIndex) -> impl Fn(&Entry) -> bool {
    move |entry| matches!(entry, Entry::Completed { node, .. } if *node == wanted)
}

type Case = (&'static str, &'static str, fn(&mut Tale));

const CASES: &[Case] = &[
    ("R-GROW-1", "`each` grows into 4, not 3 nodes", |tale| expansion(tale, "each", 0).children = 4),
    ("R-GROW-1", "`each` is not over", |tale| expansion(tale, "each", 0).of = Growth::Items(vec![json!(9); 3].into())),
    ("R-GROW-1", "`each` grows into what it is not", |tale| {
        let at = tale.node("each").at();
        tale.definition.nodes[at].kind = sprag_core::definition::Kind::Generate;
    }),
    ("R-GROW-1", "`again` grows for the 3. time, not the 2.", |tale| expansion(tale, "again", 2).round = 3),
    ("R-GROW-1", "`again` grows for the 2. time", |tale| spec(tale, "again").repeat.as_mut().unwrap().max = 1),
    ("R-GROW-1", "`again` goes on after its `until` held", |tale| {
        spec(tale, "again").repeat.as_mut().unwrap().until = Expr("output.d.n > 0".into());
    }),
    ("R-GROW-1", "`again` ends before its `until` holds", |tale| {
        spec(tale, "again").repeat.as_mut().unwrap().until = Expr("output.d.n > 5".into());
    }),
    ("R-GROW-1", "`plan` grows into another graph", |tale| {
        expansion(tale, "plan", 0).of = Growth::Body(Digest::of(b"another"));
    }),
    ("R-GROW-1", "`plan` grows into what cannot run", |tale| {
        let produced = |entry: &Entry| matches!(entry, Entry::Produced { .. });
        if let Entry::Produced { product, .. } = tale.entry(produced) {
            product.output = Arc::new(json!({ "nodes": {} }));
        }
    }),
    ("R-GROW-1", "`each` completes without its children", |tale| {
        let wanted = gathered(tale, "each");
        tale.remove(wanted);
    }),
    ("R-GROW-1", "grows further than it may", |tale| {
        if let Entry::Created(created) = tale.entry(|entry| matches!(entry, Entry::Created(_))) {
            created.growth.nodes = 7;
        }
    }),
    ("R-GROW-1", "grows further than it may", |tale| {
        if let Entry::Created(created) = tale.entry(|entry| matches!(entry, Entry::Created(_))) {
            created.growth.depth = 0;
        }
    }),
    ("R-GROW-2", "`sub` goes on although a child failed", |tale| {
        let node = child(tale, "sub");
        let error = Box::new(NodeError::new(Known::INTERNAL, ""));
        *tale.entry(completed(node)) = Entry::Failed { node, attempt: 1, error, due: None };
    }),
    ("R-GROW-2", "goes on before `each/0` is settled", |tale| {
        let node = child(tale, "each");
        tale.remove(completed(node));
    }),
    ("R-GROW-2", "`each/0` moves, and the node around it does not wait for it", |tale| {
        let entry = tale.remove(completed(child(tale, "each")));
        let wanted = gathered(tale, "each");
        tale.after(wanted, entry);
    }),
    ("R-GROW-2", "`again` fails with INTERNAL", |tale| {
        let (node, wanted) = (tale.node("again"), gathered(tale, "again"));
        let error = Box::new(NodeError::new(Known::INTERNAL, ""));
        *tale.entry(wanted) = Entry::Failed { node, attempt: 1, error, due: None };
    }),
    ("R-GROW-2", "`sub` ends before its children", |tale| {
        let (node, wanted) = (tale.node("sub"), grew(tale, "sub", 0));
        tale.after(wanted, Entry::Completed { node, attempt: 1, product: None, taint: None });
    }),
    ("I3", "no such node", |tale| {
        let wanted = grew(tale, "plan", 0);
        tale.remove(wanted);
    }),
    ("R-PHASE-1", "`again` is ready before its phase", |tale| {
        tale.remove(|entry| matches!(entry, Entry::PhaseCompleted { phase: 0 }));
    }),
    ("R-PHASE-1", "phase 1 ends where phase 0 was due", |tale| {
        *tale.entry(|entry| matches!(entry, Entry::PhaseCompleted { phase: 0 })) = Entry::PhaseCompleted { phase: 1 };
    }),
    ("R-PHASE-1", "phase 0 ends before the wave of", |tale| {
        tale.remove(|entry| matches!(entry, Entry::WaveCompleted { phase: 0, wave: 0 }));
    }),
    ("slots", "as many copies run as may", |tale| spec(tale, "each").map.as_mut().unwrap().max_parallel = Some(1)),
    ("slots", "all 1 slots are taken, inside: Some(\"sub\")", |tale| {
        inside(tale, "sub").policy.max_parallelism = Some(1);
    }),
    ("slots", "all 1 slots are taken, inside: None", |tale| tale.slots = 1),
    ("I10", "`sub/c` starts before", |tale| {
        let c = NodeIndex(child(tale, "sub").0 + 2);
        let wanted = completed(NodeIndex(c.0 - 1));
        let started = tale.remove(move |entry| matches!(entry, Entry::Started { node, .. } if *node == c));
        inside(tale, "sub").policy.scheduling = Some(sprag_core::file::Scheduling::Waves);
        let (commit, at) = tale.find(wanted);
        tale.commits[commit].entries.insert(at, started);
        tale.renumber();
    }),
    ("R-EDGE-1", "`sub/c` is ready, and `output.n > 2` is", |tale| {
        let b = NodeIndex(child(tale, "sub").0 + 1);
        if let Entry::Completed { product, .. } = tale.entry(completed(b)) {
            product.as_mut().unwrap().output = Arc::new(json!({ "n": 1 }));
        }
    }),
    ("R-EDGE-5", "a rule should have stopped the run, inside: Some(\"sub\")", |tale| {
        inside(tale, "sub").policy.max_node_failures = Some(0);
    }),
    ("R-TIME-1", "Graph(1) goes on after", |tale| {
        inside(tale, "sub").policy.deadline = Some(Duration::from_millis(0));
    }),
    ("R-TIME-1", "Phase(0) goes on after", |tale| tale.definition.phases[1].timeout = Some(Duration::from_millis(0))),
    ("R-STATE-10", "`plan` goes on after its timeout", |tale| {
        let wanted = tale.started("plan");
        if let Entry::Started { due, .. } = tale.entry(wanted) {
            *due = Some(Timestamp::from_millis(0));
        }
    }),
];

#[test]
fn every_promise_about_growth_can_be_seen_broken() {
    // R-GROW-1, R-GROW-2, R-PHASE-1
    assert_eq!(told().judged(check_at_rest), []);
    let mut missed = Vec::new();
    for (invariant, part, tamper) in CASES {
        let mut tale = told();
        tamper(&mut tale);
        let verdicts = tale.judged(check_at_rest);
        let caught = verdicts.iter().any(|verdict| verdict.invariant == *invariant && verdict.what.contains(part));
        if !caught {
            missed.push(format!("{invariant} `{part}` is not among {verdicts:?}"));
        }
    }
    assert_eq!(missed, Vec::<String>::new());
}
