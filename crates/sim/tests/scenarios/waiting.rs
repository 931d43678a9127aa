//! Signals and deadlines: what waits, for how long, and when time stands still.

use serde_json::json;
use sprag_core::file::Duration;
use sprag_core::run::{Entry, NodeState, Taking};
use sprag_sim::{Outcome, World};

const MINUTE: Duration = Duration::from_millis(60_000);
const HOUR: Duration = Duration::from_millis(3_600_000);

fn of(nodes: &str) -> World {
    World::of(&format!("workflow: w\nnodes:\n{nodes}"))
}

#[test]
fn a_signal_is_kept_until_somebody_waits_for_it_first_in_first_out() {
    // R-NODE-1, R-GATE-2
    let mut world = of("  w: { call: x }
  a: { needs: [w], wait: { signal: go } }
  b: { needs: [{ node: a, condition: output == 1 }], wait: { signal: go } }
  c: { needs: [{ node: b, condition: output == 2 }], wait: { signal: go } }
  e: { needs: [c], wait: { signal: other } }
");
    world.starts().signals("go", json!(1)).signals("other", json!(9)).signals("go", json!(2));
    world.crashes().starts().finishes("w");
    assert_eq!(world.states(), "a completed, b completed, c running, e pending, w completed");
    world.signals("other", json!(3)).settles();
    assert_eq!(world.state("c"), NodeState::Running);
    assert_eq!(world.signals("go", json!(3)).end(), "completed 0");
    assert_eq!(world.run().output(world.node("e")), Some(&json!(9)), "the older one");
}

#[test]
fn a_signal_reaches_everybody_who_waits_and_is_then_used_up() {
    // R-NODE-1
    let mut world = of("  a: { wait: { signal: go } }
  b: { wait: { signal: go } }
  c: { wait: { signal: stay } }
  d: { needs: [{ node: a, condition: output == 1 }, { node: b, condition: output == 1 }], wait: { signal: go } }
");
    world.starts().signals("go", json!(1));
    assert_eq!(world.states(), "a completed, b completed, c running, d ready");
    world.signals("stay", json!(0));
    assert_eq!(world.state("d"), NodeState::Running);
    assert_eq!(world.signals("go", json!(2)).end(), "completed 0");
}

#[test]
fn a_kept_signal_is_taken_once() {
    // R-NODE-1, R-SCHED-3: by the first in the order of starts.
    let mut world = of(
        "  w: { call: x }\n  a: { needs: [w], wait: { signal: go } }\n  b: { needs: [w], priority: 1, wait: { signal: go } }\n",
    );
    world.starts().signals("go", json!(1)).finishes("w");
    assert_eq!(world.states(), "a running, b completed, w completed");
}

#[test]
fn a_wait_for_a_signal_ends_at_its_timeout() {
    // R-STATE-10
    let text = "  a: { wait: { signal: go }, timeout: 1h }\n  b: { call: x, needs: [{ node: a, when: on_failure, condition: \"error.code == 'TIMEOUT'\" }] }\n";
    let mut world = of(text);
    world.starts().passes(Duration::from_millis(HOUR.millis - 1));
    assert_eq!(world.state("a"), NodeState::Running);
    world.crashes().passes(Duration::from_millis(1)).starts();
    assert_eq!((world.state("a"), world.code("a").as_str()), (NodeState::Failed, "TIMEOUT"));
    world.settles();
    assert_eq!(world.end(), "completed 0");
    let mut world = of(text);
    world.starts().passes(MINUTE).signals("go", json!(1));
    assert_eq!(world.states(), "a completed, b skipped");
    assert_eq!(world.run().next_wake(), None);
}

/// A run of `work` after something, with an hour to do it.
fn hurried(before: &str) -> World {
    let mut world = World::of(&format!(
        "workflow: w\npolicy: {{ deadline: 1h, scheduling: frontier }}\nnodes:\n  first: {{ {before} }}\n  work: {{ call: x, needs: [first] }}\n"
    ));
    world.scripted("work", [Outcome::Hangs]);
    world
}

/// `work` runs, and has exactly so much time left.
fn has_left(world: &mut World, left: Duration) {
    assert_eq!(world.state("work"), NodeState::Running, "{}", world.picture());
    world.passes(Duration::from_millis(left.millis - 1));
    assert_eq!(world.state("work"), NodeState::Running, "{}", world.picture());
    world.passes(Duration::from_millis(1));
    assert_eq!((world.end().as_str(), world.code("work").as_str()), ("failed 6", "DEADLINE_EXCEEDED"));
}

#[test]
fn the_deadline_stands_still_while_only_a_person_can_move_the_run() {
    // R-TIME-1, R-GATE-2
    let half = Duration::from_millis(HOUR.millis / 2);
    let mut world = hurried("approve: { message: go? }");
    world.starts().passes(Duration::from_millis(HOUR.millis * 100)).approves("first");
    has_left(&mut world, HOUR);
    // Also while nobody owns it.
    let mut world = hurried("approve: { message: go? }");
    world.starts().passes(HOUR).crashes().passes(Duration::from_millis(HOUR.millis * 9)).starts();
    has_left(world.passes(HOUR).approves("first"), HOUR);
    // The work before the question counts.
    let mut world = hurried("call: x, approve: { message: go? }");
    world.scripted("first", [Outcome::Hangs]).starts().passes(half).finishes("first");
    world.passes(Duration::from_millis(HOUR.millis * 9)).approves("first");
    has_left(&mut world, half);
    // A signal that was not sent counts as a person, and so does one who does not unpause.
    let mut world = hurried("wait: { signal: go }");
    world.starts().passes(Duration::from_millis(HOUR.millis * 9)).signals("go", json!(1));
    has_left(&mut world, HOUR);
    let mut world = hurried("call: x");
    world.scripted("first", [Outcome::Hangs]).starts().pauses().passes(half).finishes("first");
    world.passes(Duration::from_millis(HOUR.millis * 9)).unpauses();
    has_left(&mut world, half);
    // Twice is added up.
    let mut world = hurried("approve: { message: go? }");
    world.starts().passes(HOUR).approves("first").passes(half).pauses();
    has_left(world.unpauses(), half);
}

#[test]
fn the_deadline_runs_on_while_anything_else_can_move_the_run() {
    // R-TIME-1, R-GATE-2
    for (other, left) in [
        ("call: x", "failed"),
        ("wait: { for: 2h }", "failed"),
        ("call: x, retry: { max_attempts: 2, initial_delay: 2h }", "failed"),
    ] {
        let mut world = World::of(&format!(
            "workflow: w\npolicy: {{ deadline: 1h }}\nnodes:\n  gate: {{ approve: {{ message: go? }} }}\n  other: {{ {other} }}\n"
        ));
        world.scripted("other", [Outcome::Hangs]).starts();
        if other.contains("retry") {
            world.fails("other", "NETWORK");
        }
        world.passes(HOUR);
        assert_eq!(world.states(), format!("gate failed, other {left}"), "{other}");
        assert_eq!(world.end(), "failed 6");
    }
}

#[test]
fn the_expiry_of_a_question_is_no_mover() {
    // R-GATE-2
    let mut world = hurried("approve: { message: go?, timeout: 5h }");
    world.starts().passes(Duration::from_millis(HOUR.millis * 5));
    assert_eq!((world.end().as_str(), world.code("first").as_str()), ("failed 1", "APPROVAL_TIMEOUT"));
}

#[test]
fn the_deadline_runs_on_while_interrupted() {
    // R-TIME-1, R-EDGE-5
    let mut world = hurried("call: x");
    world.starts().finishes("first").crashes().passes(Duration::from_millis(HOUR.millis - 1)).starts();
    has_left(&mut world, Duration::from_millis(1));
    for person in [false, true] {
        let mut world = hurried("call: x");
        world.starts().finishes("first").crashes().passes(HOUR);
        if person {
            world.resumes()
        } else {
            world.starts()
        };
        assert_eq!((world.end().as_str(), world.executions("work")), ("failed 6", 1));
    }
}

#[test]
fn a_person_who_resumes_may_give_more_time() {
    // R-TIME-1: journaled first.
    let mut world = hurried("call: x");
    world.starts().finishes("first").crashes().passes(Duration::from_millis(HOUR.millis * 3));
    world.takes(Taking::Person { deadline: Some(MINUTE) });
    let entries = world.entries();
    let owned = entries.iter().rposition(|entry| matches!(entry, Entry::Owned { .. })).unwrap();
    assert!(matches!(entries[owned + 1], Entry::DeadlineMoved { .. }), "{}", world.picture());
    has_left(&mut world, MINUTE);
}

#[test]
fn time_given_while_a_person_is_waited_for_stands_still_too() {
    // R-TIME-1: only the wait after the new deadline is added to it.
    let mut world = hurried("approve: { message: go? }");
    world.starts().passes(Duration::from_millis(HOUR.millis * 9)).crashes();
    world.takes(Taking::Person { deadline: Some(MINUTE) }).passes(HOUR).approves("first");
    has_left(&mut world, MINUTE);
}
