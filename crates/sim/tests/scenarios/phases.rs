//! Phases: one after the other, each with its own waves, some of them generated (`R-PHASE-1`).

use serde_json::json;
use sprag_core::file::Duration;
use sprag_core::run::Entry;
use sprag_sim::{Outcome, World};

const PLAN: &str = "workflow: w\nphases:\n  - { name: RESEARCH, nodes: { read: { call: x }, note: { needs: [read], call: x } } }\n  \
                    - { name: PLAN, nodes: { outline: { call: x } } }\n  - { name: BUILD, generate: { call: x } }\n  \
                    - { name: RELEASE, nodes: { ship: { call: x } } }\n";

fn build() -> serde_json::Value {
    json!({ "nodes": { "compile": { "call": "x" }, "test": { "call": "x", "needs": ["compile"] } } })
}

fn boundaries(world: &World) -> Vec<String> {
    let told = world.entries().into_iter().filter_map(|entry| match entry {
        Entry::WaveCompleted { phase, wave } => Some(format!("{phase}.{wave}")),
        Entry::PhaseCompleted { phase } => Some(format!("phase {phase}")),
        _ => None,
    });
    told.collect()
}

#[test]
fn phases_run_in_order_and_are_announced() {
    // R-PHASE-1, R-SCHED-1
    for policy in ["", "policy: { scheduling: frontier }\n"] {
        let mut world = World::of(&PLAN.replace("phases:", &format!("{policy}phases:")));
        world.scripted("BUILD", [Outcome::output(build())]);
        world.runs();
        assert_eq!(world.order(), "read note outline BUILD BUILD/compile BUILD/test ship", "{}", world.picture());
        assert_eq!(boundaries(&world), ["0.0", "0.1", "phase 0", "1.0", "phase 1", "2.0", "phase 2", "3.0", "phase 3"]);
        assert_eq!(world.end(), "completed 0");
    }
}

#[test]
fn a_failed_phase_is_the_last_one() {
    // R-PHASE-1, R-EDGE-5
    let mut world = World::of(PLAN);
    world.scripted("BUILD", [Outcome::output(build())]);
    world.scripted("BUILD/compile", [Outcome::fails("MINE")]);
    world.runs();
    assert_eq!(
        world.states(),
        "note completed, read completed, outline completed, BUILD failed, BUILD/compile failed, BUILD/test skipped, ship skipped",
        "{}",
        world.picture()
    );
    assert_eq!(world.end(), "failed 1");
    assert_eq!(boundaries(&world), ["0.0", "0.1", "phase 0", "1.0", "phase 1", "2.0"]);
    let mut world = World::of(&PLAN.replace("phases:", "policy: { fail_open: true }\nphases:"));
    world.scripted("BUILD", [Outcome::output(build())]);
    world.scripted("BUILD/compile", [Outcome::fails("MINE")]);
    world.runs();
    assert_eq!((world.state("ship").as_str(), world.end().as_str()), ("completed", "completed 0 degraded"));
}

#[test]
fn a_handled_failure_does_not_end_a_phase() {
    // R-EDGE-3
    let text = "workflow: w\nphases:\n  - { name: P, nodes: { a: { call: x }, h: { needs: [{ node: a, when: on_failure }], call: x } } }\n  - { name: Q, nodes: { b: { call: x } } }\n";
    let mut world = World::of(text);
    world.scripted("a", [Outcome::fails("MINE")]);
    world.runs();
    assert_eq!((world.states().as_str(), world.end().as_str()), ("a failed, h completed, b completed", "completed 0"));
}

#[test]
fn a_phase_has_its_time() {
    // R-PHASE-1, R-EDGE-5: a phase timeout is the deadline row inside the phase, code TIMEOUT, exit 1.
    let text = "workflow: w\nphases:\n  - { name: P, nodes: { a: { call: x } } }\n  \
                - { name: Q, timeout: 20ms, nodes: { b: { call: x }, c: { needs: [b], call: x } } }\n  - { name: R, nodes: { d: { call: x } } }\n";
    let mut world = World::of(text);
    world.script().length("a", Duration::from_millis(100));
    world.scripted("b", [Outcome::Hangs]);
    world.runs();
    assert_eq!(
        (world.states().as_str(), world.end().as_str()),
        ("a completed, b failed, c skipped, d skipped", "failed 1"),
        "{}",
        world.picture()
    );
    assert_eq!((world.code("b").as_str(), world.aborted().as_str()), ("TIMEOUT", "b 1"));
    let mut world = World::of(text);
    world.script().length("b", Duration::from_millis(15));
    world.runs();
    assert_eq!(world.code("c"), "", "its clock starts with the phase");
    assert_eq!(world.end(), "completed 0");
}

#[test]
fn a_later_phase_sees_earlier_outputs_and_patches() {
    // R-PHASE-1
    let text = "workflow: w\nphases:\n  - { name: P, nodes: { a: { call: x } } }\n  - { name: Q, nodes: { b: { call: x }, c: { needs: [{ node: b, condition: \"nodes.a.output == 1 and phase.name == 'Q'\" }], call: x } } }\n";
    let mut world = World::of(text);
    world.scripted("a", [Outcome::output(json!(1))]);
    world.runs();
    assert_eq!(world.states(), "a completed, b completed, c completed");
}

#[test]
fn the_clock_of_a_phase_starts_with_it_although_a_person_took_long() {
    // R-PHASE-1, R-TIME-1
    let text = "workflow: w\nphases:\n  - { name: P, nodes: { gate: { approve: { message: go? } } } }\n  \
                - { name: Q, timeout: 20ms, nodes: { b: { call: x } } }\n";
    let mut world = World::of(text);
    world.scripted("b", [Outcome::Hangs]);
    world.starts().passes(Duration::from_millis(3_600_000)).approves("gate");
    world.passes(Duration::from_millis(19));
    assert_eq!(world.states(), "gate completed, b running");
    world.passes(Duration::from_millis(1));
    assert_eq!((world.states().as_str(), world.end().as_str()), ("gate completed, b failed", "failed 1"));
}
