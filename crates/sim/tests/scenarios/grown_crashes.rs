//! Owners that die around every store operation of runs that grow (`R-GROW-1`, `R-GROW-2`, `R-PHASE-1`, `R-CLAIM-4`).

use serde_json::{Value, json};
use sprag_core::run::{Entry, Stage};
use sprag_sim::generate::{Features, Scenario};
use sprag_sim::{Crash, Faults, Outcome};
use sprag_store::Memory;

use crate::crashes::{crashed_in, world};
use crate::generated::played;

fn of(text: &str) -> Scenario {
    Scenario::of(format!("workflow: w\n{text}"))
}

fn gives(output: Value) -> [Outcome; 1] {
    [Outcome::output(output)]
}

fn fails() -> [Outcome; 1] {
    [Outcome::fails("MINE")]
}

/// Shapes by hand, each with what it is about.
fn shapes() -> Vec<(&'static str, Scenario)> {
    let each = "nodes:\n  list: { call: x }\n  each: { needs: [list], map: { over: nodes.list.output, node: { call: x } } }\n  end: { needs: [{ node: each, when: always }], call: x }\n";
    let nested = "nodes:\n  each: { map: { over: \"[1, 2, 3]\", max_parallel: 2, node: { workflow: { params: { n: { type: integer } }, nodes: { a: { call: x }, b: { needs: [a], map: { over: \"[1, 2]\", node: { call: x } } } } }, params: { n: \"{{ item }}\" } } } }\n  end: { needs: [each], call: x }\n";
    let again = "nodes:\n  again: { loop: { workflow: { nodes: { a: { call: x }, b: { needs: [a], call: x } } }, until: output.b.done, max: 5 } }\n  end: { needs: [again], call: x }\n";
    let phased = "phases:\n  - { name: P, nodes: { a: { call: x }, b: { needs: [a], call: x } } }\n  - { name: gP, generate: { call: x } }\n  - { name: Q, nodes: { c: { call: x } } }\n";
    let fast = "policy: { fail_fast: true }\nnodes:\n  each: { map: { over: \"[1, 2]\", node: { workflow: { nodes: { a: { call: x }, b: { needs: [a], call: x } } } } } }\n  end: { needs: [each], call: x }\n";
    let graph =
        json!({ "nodes": { "a": { "call": "x" }, "b": { "call": "x", "needs": ["a"] }, "c": { "call": "x" } } });
    let done = |done: bool| gives(json!({ "done": done }));
    vec![
        ("a map of eight", of(each).scripted("list", gives(json!([0, 1, 2, 3, 4, 5, 6, 7])))),
        (
            "a map of eight with an item that fails",
            of(each).scripted("list", gives(json!([0, 1, 2, 3, 4, 5, 6, 7]))).scripted("each/3", fails()),
        ),
        ("a map of nothing", of(each).scripted("list", gives(json!([])))),
        ("a map of what is no list", of(each).scripted("list", gives(json!(7)))),
        ("a map of workflows of maps", of(nested)),
        ("a map of workflows of maps that fails inside", of(nested).scripted("each/1/b/0", fails())),
        (
            "a loop of three rounds",
            of(again)
                .scripted("again/1/b", done(false))
                .scripted("again/2/b", done(false))
                .scripted("again/3/b", done(true)),
        ),
        ("a loop that fails in its second round", of(again).scripted("again/1/b", done(false)).scripted("again/2/a", fails())),
        ("a loop whose condition has no value", of(again)),
        ("a generated phase", of(phased).scripted("gP", gives(graph.clone()))),
        ("a generated phase that fails", of(phased).scripted("gP", gives(graph)).scripted("gP/a", fails())),
        ("a phase that generates nothing that could run", of(phased).scripted("gP", gives(json!({ "nodes": {} })))),
        (
            "a child that is tried again",
            of("nodes:\n  each: { map: { over: \"[1, 2]\", node: { call: x, retry: { max_attempts: 2, initial_delay: 5ms, max_delay: 5ms } } } }\n")
                .scripted("each/0", [Outcome::fails("NETWORK"), Outcome::output(json!(1))]),
        ),
        ("fail_fast across levels", of(fast)),
        (
            "patches from inside",
            of("nodes:\n  each: { map: { over: \"[1, 2]\", node: { call: x } }, output_schema: {} }\n  end: { needs: [each], call: x }\n")
                .scripted("each/0", [Outcome::patch(json!({ "a": 1 }))])
                .scripted("each/1", [Outcome::patch(json!({ "a": 2 }))]),
        ),
    ]
}

/// Plays a scenario with a crash around each of its operations, and says how many those were.
fn crash_everywhere(about: &str, scenario: &Scenario) -> u64 {
    let undisturbed = played(scenario, world(), Faults::default());
    let summary = undisturbed.summary();
    assert_eq!(undisturbed.world.trace(), summary.trace, "{about}");
    assert_eq!(undisturbed.world.run().context(), summary.context, "{about}");
    let operations = undisturbed.world.operations();
    for operation in 1..=operations {
        for after in [false, true] {
            let player = crashed_in(Box::new(Memory::new()), scenario, &[Crash { operation, after }], &summary);
            assert_eq!(player.world.run().context(), summary.context, "{about}");
            assert_eq!(player.world.trace(), summary.trace, "{about}");
        }
    }
    2 * operations
}

#[test]
fn a_crash_around_any_store_operation_of_a_growing_run_changes_nothing() {
    // R-GROW-1, R-GROW-2, R-PHASE-1, R-CLAIM-4
    let points: u64 = shapes().iter().map(|(about, scenario)| crash_everywhere(about, scenario)).sum();
    println!("{points} points");
    assert!(points > 150, "{points}");
}

#[test]
fn a_crash_anywhere_in_generated_growth_changes_nothing() {
    // R-GROW-1, R-GROW-2, R-PHASE-1, R-CLAIM-4
    let features = Features { people: true, growth: true, nodes: 16, ..Features::DETERMINISTIC };
    let drawn = (180_000..180_100).map(|seed| Scenario::new(seed, features));
    let points: u64 = drawn.map(|scenario| crash_everywhere("drawn", &scenario)).sum();
    println!("{points} points");
    assert!(points > 1_000, "{points}");
}

#[test]
fn two_crashes_change_growth_no_more_than_one() {
    // R-GROW-2, R-CLAIM-4
    for (_, scenario) in shapes().iter().skip(4).step_by(5) {
        let undisturbed = played(scenario, world(), Faults::default());
        let summary = undisturbed.summary();
        let operations = undisturbed.world.operations();
        for first in 1..=operations {
            for second in first + 1..=operations + 2 {
                let crashes =
                    [Crash { operation: first, after: true }, Crash { operation: second, after: second % 2 == 0 }];
                crashed_in(Box::new(Memory::new()), scenario, &crashes, &summary);
            }
        }
    }
}

#[test]
fn fail_fast_and_timeouts_end_in_order_wherever_the_owner_dies() {
    // R-EDGE-5, R-STATE-10: who still runs hangs on the clock, so only the promises are looked at.
    let each = "each: { map: { over: \"[1, 2, 3]\", max_parallel: 2, node: { workflow: { nodes: { a: { call: x }, b: { needs: [a], call: x } } } } } }";
    let scenarios = [
        of(&format!("policy: {{ fail_fast: true }}\nnodes:\n  {each}\n  end: {{ needs: [each], call: x }}\n")).scripted("each/1/a", fails()),
        of(&format!("policy: {{ max_node_failures: 1 }}\nnodes:\n  {each}\n")).scripted("each/0/b", fails()),
        of(&format!("nodes:\n  {}\n  end: {{ needs: [each], call: x }}\n", each.replace("each: {", "each: { timeout: 9ms,")))
            .scripted("each/1/b", [Outcome::Hangs]),
        of(&format!("phases:\n  - {{ name: P, timeout: 12ms, nodes: {{ {each} }} }}\n  - {{ name: Q, nodes: {{ z: {{ call: x }} }} }}\n"))
            .scripted("each/0/b", [Outcome::Hangs]),
        of(&format!("policy: {{ deadline: 12ms }}\nnodes:\n  {each}\n")).scripted("each/2/b", [Outcome::Hangs]),
    ];
    for scenario in scenarios {
        let undisturbed = played(&scenario, world(), Faults::default());
        assert_ne!(undisturbed.world.ending().exit, 0, "{scenario}");
        for operation in 1..=undisturbed.world.operations() {
            for after in [false, true] {
                played(&scenario, world(), Faults { crashes: vec![Crash { operation, after }], ..Faults::default() });
            }
        }
    }
}

#[test]
fn what_waits_for_its_children_is_not_interrupted() {
    // R-GROW-2, R-STATE-10
    let (_, scenario) = shapes().swap_remove(4);
    let undisturbed = played(&scenario, world(), Faults::default());
    for operation in 1..=undisturbed.world.operations() {
        let crashes = vec![Crash { operation, after: true }];
        let player = played(&scenario, world(), Faults { crashes, ..Faults::default() });
        let run = player.world.run();
        for node in run.all_nodes() {
            let grown = run.children(node).next().is_some();
            let expanded = player.world.entries().into_iter();
            let times = expanded.filter(|entry| matches!(entry, Entry::Expanded(of) if of.node == node)).count();
            assert_eq!(times, usize::from(grown), "{}", run.address(node));
            assert!(!grown || run.attempt(node) == 1, "{}", run.address(node));
            // What is completed is never executed again.
            let ran = player.world.ledger.iter().filter(|done| done.node == node && done.stage == Stage::Work);
            assert!(ran.count() <= 2);
        }
    }
}
