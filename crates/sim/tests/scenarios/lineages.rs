//! Any number of resumes in a row, in any order of completion, from journals alone (`R-RES-2`, `R-RES-7`).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Value, json};
use sprag_core::plan::{Past, ResumeOptions};
use sprag_core::run::{Entry, NodeState, Product, idempotency_key};
use sprag_sim::{Outcome, Rng, World, WorldOptions};

use crate::generated::seeds;

/// A random graph of twelve nodes: plain ones, a map, a sub-workflow, a loop and a generated graph among them.
fn graph(rng: &mut Rng, policy: &str) -> String {
    let mut text = format!("workflow: w\npolicy: {{ {policy} }}\nnodes:\n");
    for node in 0..12_u64 {
        let needs: Vec<_> = (0..node).filter(|_| rng.one_in(4)).map(|need| format!("n{need}")).collect();
        let work = match rng.below(8) {
            0 => "map: { over: \"[1, 2, 3]\", node: { call: x } }",
            1 => "workflow: { nodes: { a: { call: x }, b: { call: x, needs: [a] }, c: { call: x, needs: [a] } } }",
            2 => {
                "loop: { until: \"output.r == 'NAME/2/r'\", max: 3, workflow: { nodes: { q: { call: x }, r: { call: x, needs: [q] } } } }"
            }
            3 => "generate: { call: make }",
            _ => "call: x",
        };
        let work = work.replace("NAME", &format!("n{node}"));
        let _ = writeln!(text, "  n{node}: {{ needs: [{}], {work} }}", needs.join(", "));
    }
    text
}

/// Everything that works, by address.
const WORKERS: [&str; 11] = ["", "/0", "/1", "/2", "/a", "/b", "/c", "/1/q", "/1/r", "/2/q", "/2/r"];

/// What each node does: an output and a patch of its own, after failing so many times.
fn scripted(world: &mut World, text: &str, fails: &BTreeMap<String, usize>) {
    for (node, line) in text.lines().skip(3).enumerate() {
        for worker in WORKERS {
            let name = format!("n{node}{worker}");
            let generates = worker.is_empty() && line.contains("generate:");
            let body = json!({ "nodes": { "a": { "call": "x" }, "b": { "call": "x", "needs": ["a"] } } });
            let output = if generates { body } else { json!(name) };
            let done = Product { patch: Some(json!({ name.clone(): 1 }).into()), ..Product::of(output) };
            let times = fails.get(&name).copied().unwrap_or(0);
            let failing = std::iter::repeat_n(Outcome::fails("MINE"), times);
            world.scripted(&name, failing.chain([Outcome::Produces(done)]));
        }
    }
}

fn failures(rng: &mut Rng, most: u64) -> BTreeMap<String, usize> {
    let names = (0..12).flat_map(|node| WORKERS.map(|worker| format!("n{node}{worker}")));
    names.filter_map(|name| (rng.one_in(6)).then(|| (name, usize::try_from(1 + rng.below(most)).unwrap()))).collect()
}

/// The addresses that completed, inside others too.
fn completed(past: &Past) -> BTreeMap<String, Value> {
    fn walk(prefix: &str, nodes: &BTreeMap<String, sprag_core::plan::PastNode>, found: &mut BTreeMap<String, Value>) {
        for (key, node) in nodes {
            let address = format!("{prefix}{key}");
            if node.state == NodeState::Completed {
                let result = node.result.as_ref().unwrap();
                found.insert(address.clone(), Value::clone(&result.product.output));
            }
            walk(&format!("{address}/"), &node.inside.children, found);
        }
    }
    let mut found = BTreeMap::new();
    walk("", &past.nodes, &mut found);
    found
}

fn worked(world: &World) -> BTreeSet<String> {
    world.order().split_whitespace().map(str::to_owned).collect()
}

fn policy(seed: u64) -> &'static str {
    match seed % 4 {
        0 => "",
        1 => "scheduling: frontier",
        2 => "fail_fast: true",
        _ => "max_node_failures: 2, scheduling: frontier",
    }
}

#[test]
fn resumes_in_a_row_keep_everything_and_end_as_if_nothing_had_failed() {
    // R-RES-2, R-RES-7, R-GROW-2, R-CLAIM-6, R-SCHED-4
    let mut resumes = 0;
    for seed in seeds(70_000, 60) {
        let mut rng = Rng::new(seed);
        let text = graph(&mut rng, policy(seed));
        let fails = failures(&mut rng, 3);
        let options =
            |seed| WorldOptions { seed, slots: 1 + u32::try_from(seed % 4).unwrap(), longest_ms: 9, crash: None };
        let mut world = World::with(&text, options(seed));
        scripted(&mut world, &text, &fails);
        world.runs();
        let first = world.run().id().unwrap();
        let mut keys = BTreeMap::new();
        let mut link = 0;
        while world.run().ended().unwrap().exit != 0 {
            link += 1;
            assert!(link < 80, "seed {seed}: it never completes\n{text}\n{}", world.picture());
            let before = completed(&world.past());
            let mut next = world.linked(&ResumeOptions::default());
            next.folds(seed % 8 == 0).runs();
            let after = completed(&next.past());
            for (node, output) in &before {
                assert_eq!(
                    after.get(node),
                    Some(output),
                    "seed {seed}, link {link}: {node}\n{text}\n{}",
                    next.picture()
                );
            }
            let again: Vec<_> = worked(&next).into_iter().filter(|node| before.contains_key(node)).collect();
            assert!(again.is_empty(), "seed {seed}, link {link}: {again:?} ran again\n{text}\n{}", next.picture());
            let run = next.run();
            for node in run.all_nodes() {
                let (address, generation) = (run.address(node), run.generation(node));
                let key = idempotency_key(run.created().unwrap().first_run, &address, generation);
                assert_eq!(*keys.entry(address).or_insert(key), key, "seed {seed}");
            }
            assert_eq!(run.created().unwrap().first_run, first);
            drop(run);
            world = next;
        }
        resumes += link;
        let mut other = World::with(&text, options(seed + 1));
        scripted(&mut other, &text, &BTreeMap::new());
        other.runs();
        assert_eq!(completed(&other.past()), completed(&world.past()), "seed {seed}\n{text}");
        assert_eq!(other.run().context(), world.run().context(), "seed {seed}\n{text}");
        assert_eq!(other.end(), world.end(), "seed {seed}");
        let tops = |world: &World| -> Vec<_> {
            world.definition().graph.nodes().map(|node| world.run().state(node)).collect()
        };
        assert_eq!(tops(&other), tops(&world), "seed {seed}");
        let outputs = |world: &World| -> Vec<_> {
            world.definition().graph.nodes().map(|node| world.run().output(node).cloned()).collect()
        };
        assert_eq!(outputs(&other), outputs(&world), "seed {seed}");
    }
    assert!(resumes > 80, "{resumes}");
}

#[test]
fn the_stored_first_entry_says_it_all() {
    // R-RES-7, R-JRN-1: a linked run is folded from its own journal, in its stored form, with nothing else at hand.
    for seed in seeds(71_000, 20) {
        let mut rng = Rng::new(seed);
        let text = graph(&mut rng, policy(seed));
        let mut world = World::with(&text, WorldOptions { seed, ..WorldOptions::default() });
        scripted(&mut world, &text, &failures(&mut rng, 1));
        world.runs();
        let mut next = world.linked(&ResumeOptions::default());
        next.starts().settles();
        for commit in next.journal() {
            let text = commit.entries_to_json().unwrap();
            assert_eq!(sprag_core::run::entries_from_json(&text).as_ref(), Ok(&commit.entries), "seed {seed}");
        }
        assert_eq!(next.folded().unwrap(), *next.run(), "seed {seed}");
        assert!(matches!(next.entries().first(), Some(Entry::Created(_))));
    }
}

#[test]
fn a_run_that_is_stopped_at_any_point_hands_on_what_it_was_handed() {
    // R-RES-7: cancelled in the middle, again and again, nothing that completed is lost or repeated.
    for seed in seeds(72_000, 40) {
        let mut rng = Rng::new(seed);
        let text = graph(&mut rng, policy(seed));
        let mut world = World::with(&text, WorldOptions { seed, longest_ms: 9, ..WorldOptions::default() });
        scripted(&mut world, &text, &failures(&mut rng, 2));
        world.starts();
        let mut kept: BTreeMap<String, Value> = BTreeMap::new();
        for link in 0..60 {
            for _ in 0..rng.below(6) {
                world.advance();
            }
            while world.drain() {}
            if world.run().ended().is_none() {
                world.cancels();
            }
            let now = completed(&world.past());
            for (node, output) in &kept {
                assert_eq!(
                    now.get(node),
                    Some(output),
                    "seed {seed}, link {link}: {node}\n{text}\n{}",
                    world.picture()
                );
            }
            let again: Vec<_> = worked(&world).into_iter().filter(|node| kept.contains_key(node)).collect();
            assert!(again.is_empty(), "seed {seed}, link {link}: {again:?} ran again\n{text}");
            kept = now;
            if world.run().ended().unwrap().exit == 0 {
                break;
            }
            world = world.linked(&ResumeOptions::default());
            world.folds(seed % 8 == 0).starts();
        }
    }
}
