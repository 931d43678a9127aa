//! A stored run is the run: from any point of any journal, what is restored goes on as what was folded.

use std::sync::Arc;

use serde_json::json;
use sprag_core::checkpoint::{About, CHECKPOINT_VERSION, Checkpoint, StateFold, decode_record, encode_record};
use sprag_core::definition::Definition;
use sprag_core::file::Duration;
use sprag_core::run::{Commit, Run};
use sprag_sim::generate::{Features, Scenario};
use sprag_sim::{Outcome, World, WorldOptions};

use super::generated::{faults, options, played, seeds};

/// Stores and restores the run after every entry, and goes on from there with the rest of the journal now and then.
fn every_prefix(definition: &Arc<Definition>, journal: &[Arc<Commit>], told: &dyn Fn() -> String) -> usize {
    let entries: Vec<_> =
        journal.iter().flat_map(|commit| commit.entries.iter().map(|entry| (commit.at, entry))).collect();
    let whole = Run::fold(Arc::clone(definition), entries.iter().copied()).unwrap();
    let mut run = Run::new(Arc::clone(definition));
    for at in 0..=entries.len() {
        let machine = run.snapshot();
        let restored = Run::restore(Arc::clone(definition), &machine);
        let text = || String::from_utf8_lossy(&machine.bytes).into_owned();
        let mut restored = restored.unwrap_or_else(|refused| panic!("{refused} after {at}\n{}\n{}", text(), told()));
        assert!(restored == run, "after {at}: {:?}\n{}\n{}", entries[at - 1].1, difference(&restored, &run), told());
        if at % 7 == 3 || entries.len() < 60 {
            for (moment, entry) in &entries[at..] {
                restored.apply(*moment, entry).unwrap();
            }
            assert!(restored == whole, "from {at}\n{}\n{}", difference(&restored, &whole), told());
        }
        if let Some((moment, entry)) = entries.get(at) {
            run.apply(*moment, entry).unwrap();
        }
    }
    entries.len()
}

/// Makes a checkpoint after every commit, and goes on from it with the rest of the journal.
fn every_checkpoint(definition: &Arc<Definition>, journal: &[Arc<Commit>], told: &dyn Fn() -> String) {
    let about = About::default();
    let mut run = Run::new(Arc::clone(definition));
    let mut fold = StateFold::new(definition);
    let mut checkpoints = Vec::new();
    for commit in journal {
        for entry in &commit.entries {
            run.apply(commit.at, entry).unwrap();
        }
        // The fold may come after the whole commit.
        commit.entries.iter().for_each(|entry| fold.apply(&run, commit.at, entry));
        checkpoints.push(Checkpoint::of(&run, &fold, commit.at, &about).unwrap());
    }
    let mut stepwise = (Run::new(Arc::clone(definition)), StateFold::new(definition));
    for (commit, checkpoint) in journal.iter().zip(&checkpoints) {
        follow(&mut stepwise, commit);
        assert_eq!(stepwise.1.state(&stepwise.0), checkpoint.state, "{}", told());
    }
    for (at, checkpoint) in checkpoints.iter().enumerate() {
        let text = encode_record(checkpoint.clone()).unwrap().0;
        let mut read = decode_record(CHECKPOINT_VERSION, &text, &checkpoint.id).unwrap();
        assert_eq!(read, Checkpoint { machine: None, ..checkpoint.clone() });
        read.machine.clone_from(&checkpoint.machine);
        let mut restored = read.restore(Arc::clone(definition)).unwrap();
        assert_eq!(restored.1.state(&restored.0), checkpoint.state, "{}", told());
        let most = if journal.len() > 40 && at % 5 > 0 { 1 } else { journal.len() };
        for (commit, later) in journal[at + 1..].iter().zip(&checkpoints[at + 1..]).take(most) {
            follow(&mut restored, commit);
            let now = Checkpoint::of(&restored.0, &restored.1, commit.at, &about).unwrap();
            assert!(now == *later, "from {at}: {now:#?}\n{later:#?}\n{}", told());
        }
    }
}

fn follow((run, fold): &mut (Run, StateFold), commit: &Commit) {
    for entry in &commit.entries {
        run.apply(commit.at, entry).unwrap();
        fold.apply(run, commit.at, entry);
    }
}

/// The lines in which two runs differ.
fn difference(left: &Run, right: &Run) -> String {
    let (left, right) = (format!("{left:#?}"), format!("{right:#?}"));
    let differing = left.lines().zip(right.lines()).filter(|(left, right)| left != right).take(12);
    differing.map(|(left, right)| format!("{left} / {right}")).collect::<Vec<_>>().join("\n")
}

fn checked(world: &World) {
    let definition = Arc::new(world.definition().clone());
    every_prefix(&definition, &world.journal(), &|| world.picture());
    every_checkpoint(&definition, &world.journal(), &|| world.picture());
}

#[test]
fn random_runs_are_restored_from_every_point() {
    // R-JRN-2, R-CP-6
    let mut entries = 0;
    for seed in seeds(50_000, 120) {
        let scenario = Scenario::new(seed, Features::ALL);
        let player = played(&scenario, options(seed), faults(seed));
        entries +=
            every_prefix(&scenario.definition(), &player.world.journal(), &|| format!("seed {seed}\n{scenario}"));
    }
    println!("{entries} points");
}

#[test]
fn checkpoints_of_random_runs_lead_to_the_same_state() {
    // R-CP-1, R-RES-4
    for seed in seeds(51_000, 60) {
        let scenario = Scenario::new(seed, Features::ALL);
        let player = played(&scenario, options(seed), faults(seed));
        every_checkpoint(&scenario.definition(), &player.world.journal(), &|| format!("seed {seed}\n{scenario}"));
    }
}

#[test]
fn grown_graphs_are_made_again() {
    // R-GROW-1, R-JRN-2
    let nodes = "  list: { call: x }\n  each: { needs: [list], map: { over: nodes.list.output, max_parallel: 2, node: { workflow: { params: { n: { type: integer } }, nodes: { a: { call: x }, b: { needs: [a], call: x } } }, params: { n: \"{{ item.n }}\" } } } }\n  \
                 again: { loop: { workflow: { nodes: { a: { call: x }, b: { needs: [a], call: x } } }, until: output.b.done, max: 5 } }\n  \
                 made: { generate: { call: x }, timeout: 1m }\n  end: { needs: [each, again, made], call: x }\n";
    for slots in [1, 3] {
        let text = format!("workflow: w\nnodes:\n{nodes}");
        let mut world = World::with(&text, WorldOptions { slots, ..WorldOptions::default() });
        world.scripted("list", [Outcome::output(json!([{ "n": 1 }, { "n": 2 }, { "n": 3 }]))]);
        world.scripted("again/1/b", [Outcome::output(json!({ "done": false }))]);
        world.scripted("again/2/b", [Outcome::output(json!({ "done": true }))]);
        let body = json!({ "nodes": { "x": { "call": "x" }, "y": { "call": "x", "needs": ["x"], "continue_on_error": true } } });
        world.scripted("made", [Outcome::output(body)]);
        world.scripted("made/y", [Outcome::fails("MINE")]);
        world.runs();
        assert_eq!(world.end(), "completed 0 degraded", "{}", world.picture());
        checked(&world);
    }
}

#[test]
fn phases_limits_and_failures_are_where_they_were() {
    // R-PHASE-1, R-JRN-2
    let text = "workflow: w\npolicy: { deadline: 1h }\nphases:\n  - { name: P, timeout: 30m, nodes: { a: { call: x }, h: { needs: [{ node: a, when: on_failure }], call: x }, z: { call: x } } }\n  \
                - { name: Q, generate: { call: x } }\n  - { name: R, timeout: 20ms, nodes: { b: { call: x }, c: { needs: [b], call: x }, d: { needs: [c], call: x } } }\n";
    for scheduling in ["waves", "frontier"] {
        let text = text.replace("deadline: 1h", &format!("deadline: 1h, scheduling: {scheduling}"));
        let mut world = World::of(&text);
        world.scripted("a", [Outcome::fails("MINE")]);
        world.script().length("z", Duration::from_millis(100));
        world.scripted(
            "Q",
            [Outcome::output(json!({ "nodes": { "x": { "call": "x" }, "y": { "needs": ["x"], "call": "x" } } }))],
        );
        world.scripted("b", [Outcome::Hangs]);
        world.runs();
        assert_eq!(world.end(), "failed 1", "{}", world.picture());
        checked(&world);
    }
}

#[test]
fn a_failing_map_and_what_it_leaves() {
    // R-GROW-2, R-JRN-2
    let mut world = World::of(
        "workflow: w\nnodes:\n  each: { map: { over: \"[1, 2, 3]\", node: { call: x, retry: { max_attempts: 2 } } } }\n  none: { map: { over: \"[]\", node: { call: x } } }\n  end: { needs: [each, none], call: x }\n  other: { needs: [{ node: each, when: on_failure }], call: x }\n",
    );
    world.scripted("each/1", [Outcome::fails("NETWORK"), Outcome::fails("MINE")]);
    world.runs();
    checked(&world);
}
