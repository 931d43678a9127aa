//! The cases that break others, each a story.

use serde_json::json;
use sprag_core::file::Duration;
use sprag_core::run::{Choice, NodeState, RunStatus};
use sprag_sim::{Outcome, World, WorldOptions};

const DAY: Duration = Duration::from_millis(86_400_000);

#[test]
fn a_chain_runs_to_its_end() {
    let mut world = World::dag("a -> b -> c, a -> d");
    world.runs();
    assert_eq!(world.states(), "a completed, b completed, c completed, d completed");
    assert_eq!(world.end(), "completed 0");
    assert_eq!(world.trace(), "TaskExecuted a\nTaskExecuted b\nTaskExecuted d\nTaskExecuted c\n");
}

#[test]
fn dependents_of_a_flaky_node_that_succeeds_on_retry_do_run() {
    // R-STATE-4
    let mut world = World::of(
        "workflow: w\nnodes:\n  flaky: { call: x, retry: { max_attempts: 3 } }\n  after: { call: x, needs: [flaky] }\n",
    );
    world.scripted("flaky", [Outcome::fails("NETWORK"), Outcome::fails("TIMEOUT"), Outcome::output(json!(1))]);
    world.runs();
    assert_eq!(world.states(), "after completed, flaky completed");
    assert_eq!(world.executions("flaky"), 3);
    assert_eq!(world.end(), "completed 0");
}

#[test]
fn fail_fast_ignores_recovered_attempts() {
    // R-STATE-4, R-EDGE-5
    let mut world = World::of(
        "workflow: w\npolicy: { fail_fast: true }\nnodes:\n  flaky: { call: x, retry: { max_attempts: 2 } }\n  other: { call: x }\n  after: { call: x, needs: [flaky, other] }\n",
    );
    world.scripted("flaky", [Outcome::fails("NETWORK"), Outcome::output(json!(1))]);
    world.runs();
    assert_eq!(world.end(), "completed 0");
}

#[test]
fn skips_cascade_when_nodes_are_declared_in_reverse() {
    // R-STATE-5
    let mut world = World::of(
        "workflow: w\nnodes:\n  d: { call: x, needs: [c] }\n  c: { call: x, needs: [b] }\n  b: { call: x, needs: [a] }\n  a: { call: x }\n",
    );
    world.scripted("a", [Outcome::fails("TOOL_ERROR")]);
    world.runs();
    assert_eq!(world.states(), "a failed, b skipped, c skipped, d skipped");
    assert_eq!(
        world.trace(),
        "TaskFailed a TOOL_ERROR\nTaskSkipped b dependency_failed a\nTaskSkipped c dependency_skipped b\nTaskSkipped d dependency_skipped c\n"
    );
    assert_eq!(world.end(), "failed 1");
}

#[test]
fn a_gate_waiting_does_not_consume_a_slot() {
    // R-SCHED-3, R-STATE-10
    let mut world = World::with(
        "workflow: w\npolicy: { max_parallelism: 1, scheduling: frontier }\nnodes:\n  gate: { approve: { message: go? } }\n  work: { call: x }\n",
        WorldOptions { slots: 1, ..WorldOptions::default() },
    );
    world.starts().settles();
    assert_eq!(world.states(), "gate awaiting_approval, work completed");
    assert!(matches!(world.run().status(), RunStatus::Paused(_)));
    world.approves("gate").settles();
    assert_eq!(world.end(), "completed 0");
}

#[test]
fn a_wait_of_three_days_survives_ten_crashes_unchanged() {
    // R-STATE-10, R-RETRY-2
    let mut world =
        World::of("workflow: w\nnodes:\n  nap: { wait: { for: 3d } }\n  after: { call: x, needs: [nap] }\n");
    world.starts();
    let due = world.run().due(world.node("nap")).unwrap();
    for _ in 0..10 {
        world.crashes().passes(Duration::from_millis(DAY.millis / 5)).starts();
        assert_eq!(world.state("nap"), NodeState::Running);
        assert_eq!(world.run().due(world.node("nap")), Some(due));
        assert_eq!(world.run().attempt(world.node("nap")), 1);
    }
    world.settles();
    assert_eq!(world.end(), "completed 0");
    assert!(world.now() >= due);
}

#[test]
fn a_rejection_leads_where_the_edges_say() {
    // R-EDGE-1, R-GATE-1
    let mut world = World::of(
        "workflow: w\nnodes:\n  gate: { approve: { message: go? } }\n  ship: { call: x, needs: [gate] }\n  undo: { call: x, needs: [{ node: gate, when: on_failure }] }\n",
    );
    world.starts().rejects("gate").settles();
    assert_eq!(world.states(), "gate cancelled, ship skipped, undo completed");
    assert_eq!(world.end(), "completed 0");
}

#[test]
fn a_cancelled_dependency_settles_its_dependents() {
    // R-STATE-5, R-EDGE-1
    let mut world = World::of(
        "workflow: w\nnodes:\n  d: { call: x, needs: [c] }\n  c: { call: x, needs: [a, b] }\n  b: { call: x, semantics: at_most_once }\n  a: { call: x }\n",
    );
    world.scripted("b", [Outcome::fails("TIMEOUT")]).will_answer("b", Choice::Skip).runs();
    assert_eq!(world.states(), "a completed, b cancelled, c skipped, d skipped");
    assert_eq!(
        world.trace(),
        "TaskExecuted a\nTaskSkipped c dependency_cancelled b\nTaskSkipped d dependency_skipped c\n"
    );
    assert_eq!(world.end(), "completed 0");
}

#[test]
fn an_always_clean_up_does_not_turn_a_failed_run_green() {
    // R-EDGE-3, R-EDGE-5
    let mut world = World::of(
        "workflow: w\nnodes:\n  work: { call: x }\n  clean: { call: x, needs: [{ node: work, when: always }] }\n  after: { call: x, needs: [clean] }\n",
    );
    world.scripted("work", [Outcome::fails("TOOL_ERROR")]).runs();
    assert_eq!(world.states(), "after completed, clean completed, work failed");
    assert_eq!(world.end(), "failed 1");
}

#[test]
fn a_handler_that_is_itself_skipped_handles_nothing() {
    // R-EDGE-3
    let mut world = World::of(
        "workflow: w\nnodes:\n  work: { call: x }\n  other: { call: x }\n  handler: { call: x, needs: [{ node: work, when: on_failure }, { node: other, condition: 'false' }] }\n",
    );
    world.scripted("work", [Outcome::fails("TOOL_ERROR")]).runs();
    assert_eq!(world.states(), "handler skipped, other completed, work failed");
    assert_eq!(world.end(), "failed 1");
}

#[test]
fn with_max_parallelism_1_nothing_deadlocks() {
    // R-SCHED-3: every kind of waiting at once, and one slot.
    for scheduling in ["waves", "frontier"] {
        let mut world = World::with(
            &format!(
                "workflow: w
policy: {{ max_parallelism: 1, scheduling: {scheduling} }}
nodes:
  gate: {{ approve: {{ message: go? }} }}
  nap: {{ wait: {{ for: 1h }} }}
  signal: {{ wait: {{ signal: go }} }}
  flaky: {{ call: x, retry: {{ max_attempts: 3 }} }}
  held: {{ call: x, approve: {{ message: go? }} }}
  maybe: {{ call: x, semantics: at_most_once }}
  work: {{ call: x, needs: [gate, nap] }}
  last: {{ call: x, needs: [work, signal, flaky, held, maybe] }}
"
            ),
            WorldOptions { slots: 1, ..WorldOptions::default() },
        );
        world.scripted("flaky", [Outcome::fails("NETWORK"), Outcome::fails("NETWORK"), Outcome::output(json!(1))]);
        world.scripted("maybe", [Outcome::fails("TIMEOUT"), Outcome::output(json!(1))]);
        world.will_answer("gate", Choice::Approve).will_answer("held", Choice::Approve);
        world.will_answer("maybe", Choice::Retry).starts().settles().signals("go", json!(1)).settles();
        assert_eq!(world.end(), "completed 0", "{scheduling}");
        assert_eq!(world.executions("last"), 1);
    }
}
