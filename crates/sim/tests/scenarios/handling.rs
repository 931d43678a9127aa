//! Which failures are handled, and which of them count.

use sprag_core::run::{Choice, SkipReason, StopCause};
use sprag_sim::{Outcome, World};

fn broken(text: &str, failing: &[&str]) -> World {
    let mut world = World::of(&format!("workflow: w\n{text}"));
    for node in failing {
        world.scripted(node, [Outcome::fails("TOOL_ERROR")]);
    }
    world
}

/// Who is left alone with a failure, by id.
fn unhandled(world: &World) -> String {
    let run = world.run();
    run.unhandled().map(|node| run.definition().graph.id(node).to_string()).collect::<Vec<_>>().join(" ")
}

const LATE: &str = "nodes:
  a: { call: x }
  b: { call: x }
  c: { call: x, needs: [b] }
  free: { call: x, needs: [c] }
  h: { call: x, needs: [{ node: a, when: on_failure }, { node: c, condition: 'false' }] }
";

#[test]
fn a_failure_is_unhandled_from_the_moment_its_handler_is_skipped() {
    // R-EDGE-3
    let mut world = broken(LATE, &[]);
    world.starts().fails("a", "TOOL_ERROR").finishes("b");
    assert_eq!(unhandled(&world), "");
    world.finishes("c");
    assert_eq!(unhandled(&world), "a");
    let cause = Some(world.node("c"));
    assert_eq!(world.run().skipped(world.node("h")), Some((SkipReason::ConditionNotMet, cause)));
    world.settles();
    assert_eq!(world.states(), "a failed, b completed, c completed, free completed, h skipped");
    assert_eq!(world.end(), "failed 1");
}

#[test]
fn fail_fast_fires_when_the_handler_is_skipped_and_not_before() {
    // R-EDGE-3, R-EDGE-5
    let mut world = broken(&format!("policy: {{ fail_fast: true }}\n{LATE}"), &[]);
    world.starts().fails("a", "TOOL_ERROR").finishes("b");
    assert_eq!(world.run().stopping(), None);
    world.finishes("c");
    let node = world.node("a");
    assert_eq!(world.run().stopping(), Some(&StopCause::FailFast { node }));
    assert_eq!(world.states(), "a failed, b completed, c completed, free skipped, h skipped");
    assert_eq!(world.end(), "failed 1");
}

#[test]
fn a_handler_that_is_itself_skipped_by_a_cascade_handles_nothing() {
    // R-EDGE-3, R-STATE-5
    let mut world = broken(
        "nodes:
  h: { call: x, needs: [{ node: a, when: on_failure }, s3] }
  s3: { call: x, needs: [s2] }
  s2: { call: x, needs: [s1] }
  s1: { call: x, needs: [{ node: r, condition: 'false' }] }
  r: { call: x }
  a: { call: x }
",
        &["a"],
    );
    world.runs();
    assert_eq!(world.states(), "a failed, h skipped, r completed, s1 skipped, s2 skipped, s3 skipped");
    assert_eq!(world.end(), "failed 1");
}

#[test]
fn handlers_decide_how_a_failure_ends() {
    // R-EDGE-3, R-EDGE-5
    for (nodes, failing, ending) in [
        // One handler that runs is enough.
        ("h: { call: x, needs: [{ node: a, when: on_failure }] }", &["a"][..], "completed 0"),
        // It fails itself: `a` is handled, the handler is not.
        ("h: { call: x, needs: [{ node: a, when: on_failure }] }", &["a", "h"], "failed 1 h"),
        // The handler of the handler runs.
        (
            "h: { call: x, needs: [{ node: a, when: on_failure }] }\n  i: { call: x, needs: [{ node: h, when: on_failure }] }",
            &["a", "h"],
            "completed 0",
        ),
        // A handler that may fail.
        (
            "h: { call: x, continue_on_error: true, needs: [{ node: a, when: on_failure }] }",
            &["a", "h"],
            "completed 0 degraded",
        ),
        // Two handlers, one skipped.
        (
            "h: { call: x, needs: [{ node: a, when: on_failure, condition: 'false' }] }\n  i: { call: x, needs: [{ node: a, when: on_failure }] }",
            &["a"],
            "completed 0",
        ),
        // Two handlers, both skipped.
        (
            "h: { call: x, needs: [{ node: a, when: on_failure, condition: 'false' }] }\n  i: { call: x, needs: [{ node: a, when: on_failure }, { node: r, condition: 'false' }] }",
            &["a"],
            "failed 1 a",
        ),
        // `join: any` runs the handler for another reason, and its edge from `a` does not hold.
        (
            "h: { call: x, join: any, needs: [r, { node: a, when: on_failure, condition: \"error.code == 'NEVER'\" }] }",
            &["a"],
            "failed 1 a",
        ),
        ("h: { call: x, join: any, needs: [r, { node: a, when: on_failure }] }", &["a"], "completed 0"),
        // These edges handle nothing, whatever runs because of them.
        ("h: { call: x, needs: [{ node: a, when: always }] }", &["a"], "failed 1 a"),
        ("s: { call: x, needs: [a] }\n  h: { call: x, needs: [{ node: s, when: skip }] }", &["a"], "failed 1 a"),
        // A handler of the dependent that was skipped because of `a` is none of `a`.
        ("s: { call: x, needs: [a] }\n  h: { call: x, needs: [{ node: s, when: on_failure }] }", &["a"], "failed 1 a"),
        // One handler for two failures.
        (
            "b: { call: x }\n  h: { call: x, needs: [{ node: a, when: on_failure }, { node: b, when: on_failure }] }",
            &["a", "b"],
            "completed 0",
        ),
        // The second did not fail, so the handler of the first does not run.
        (
            "b: { call: x }\n  h: { call: x, needs: [{ node: a, when: on_failure }, { node: b, when: on_failure }] }",
            &["a"],
            "failed 1 a",
        ),
    ] {
        for policy in ["", "policy: { fail_fast: true }\n"] {
            let mut world =
                broken(&format!("{policy}nodes:\n  a: {{ call: x }}\n  r: {{ call: x }}\n  {nodes}\n"), failing);
            world.runs();
            let failure = world.ending().failure.and_then(|failure| failure.node);
            let blamed = failure.map(|node| format!(" {}", world.run().definition().graph.id(node)));
            assert_eq!(format!("{}{}", world.end(), blamed.unwrap_or_default()), ending, "{policy}{nodes}");
        }
    }
}

#[test]
fn a_handler_that_a_person_skips_has_handled_it() {
    // R-EDGE-3: cancelled is not skipped. R-EDGE-1: a person's `skip` is no failure.
    let mut world = broken(
        "nodes:\n  a: { call: x }\n  h: { call: x, semantics: at_most_once, needs: [{ node: a, when: on_failure }] }\n",
        &["a"],
    );
    world.scripted("h", [Outcome::fails("NETWORK")]).will_answer("h", Choice::Skip).runs();
    assert_eq!(world.states(), "a failed, h cancelled");
    assert_eq!(world.end(), "completed 0");
}

#[test]
fn rejections_and_gate_timeouts_are_handled_like_failures() {
    // R-EDGE-3, R-GATE-1
    for (gate, code) in [("message: go?", "REJECTED"), ("message: go?, timeout: 1h", "APPROVAL_TIMEOUT")] {
        for (needs, ending) in [
            (format!("[{{ node: a, when: on_failure, condition: \"error.code == '{code}'\" }}]"), "completed 0"),
            ("[{ node: a, when: on_failure, condition: 'false' }]".to_owned(), "failed 1"),
            ("[{ node: a, when: always }]".to_owned(), "failed 1"),
        ] {
            let mut world =
                broken(&format!("nodes:\n  a: {{ approve: {{ {gate} }} }}\n  h: {{ call: x, needs: {needs} }}\n"), &[]);
            if code == "REJECTED" {
                world.will_answer("a", Choice::Reject);
            }
            world.runs();
            assert_eq!(world.end(), ending, "{needs}");
            assert_eq!(world.code("a"), code);
            let failure = world.ending().failure.map(|failure| failure.error.code.to_string());
            assert_eq!(failure.unwrap_or_default(), if ending == "failed 1" { code } else { "" });
        }
    }
}

/// Whether the node that comes after everything else still ran.
fn last_ran(policy: &str, nodes: &str, scripts: &[(&str, &[&str])], answer: Option<Choice>) -> bool {
    let mut world = World::of(&format!(
        "workflow: w\npolicy: {{ {policy} }}\nnodes:\n{nodes}  y: {{ call: x }}\n  z: {{ call: x, needs: [y] }}\n"
    ));
    for (node, codes) in scripts {
        let outcomes =
            codes.iter().map(|code| if *code == "ok" { Outcome::output(1.into()) } else { Outcome::fails(code) });
        world.scripted(node, outcomes);
    }
    if let Some(answer) = answer {
        world.will_answer("g", answer);
    }
    world.runs();
    world.executions("z") == 1
}

#[test]
fn final_failures_are_counted_and_nothing_else_is() {
    // R-EDGE-6: under `waves`, `z` starts only if the count was not reached in the wave before.
    let bad = &["TOOL_ERROR"][..];
    let counted = |limit: &str, nodes: &str, scripts: &[(&str, &[&str])]| !last_ran(limit, nodes, scripts, None);
    let plain = "  a: { call: x }\n  b: { call: x }\n";
    assert!(counted("max_node_failures: 1", plain, &[("a", bad)]));
    assert!(!counted("max_node_failures: 2", plain, &[("a", bad)]));
    assert!(counted("max_node_failures: 2", plain, &[("a", bad), ("b", bad)]));
    // Handled ones count too, by an edge or by themselves.
    let handled = "  a: { call: x }\n  h: { call: x, needs: [{ node: a, when: on_failure }] }\n";
    assert!(counted("max_node_failures: 1", handled, &[("a", bad)]));
    assert!(counted("max_node_failures: 1", "  a: { call: x, continue_on_error: true }\n", &[("a", bad)]));
    // A condition that cannot be evaluated is a final failure of the target.
    let doomed = "  a: { call: x }\n  b: { call: x, needs: [{ node: a, condition: 'output.x.y' }] }\n  y2: { call: x, needs: [b] }\n";
    let mut world =
        World::of(&format!("workflow: w\npolicy: {{ max_node_failures: 1, fail_open: true }}\nnodes:\n{doomed}"));
    world.runs();
    assert_eq!(world.end(), "failed 1");
    // Recovered attempts and fallbacks are no final failures.
    let retried = "  a: { call: x, retry: { max_attempts: 3 } }\n";
    assert!(!counted("max_node_failures: 1", retried, &[("a", &["NETWORK", "NETWORK", "ok"])]));
    assert!(!counted("max_node_failures: 1", "  a: { call: x, fallback: 1 }\n", &[("a", bad)]));
    // Retries: only those that had used more than one attempt.
    assert!(counted("max_retries_exhausted: 1", retried, &[("a", bad)]));
    assert!(!counted("max_retries_exhausted: 1", plain, &[("a", bad)]));
    assert!(!counted("max_retries_exhausted: 1", retried, &[("a", &["PERMISSION_DENIED"])]));
    assert!(counted("max_retries_exhausted: 1", retried, &[("a", &["NETWORK", "PERMISSION_DENIED"])]));
    assert!(!counted("max_retries_exhausted: 1", retried, &[("a", &["NETWORK", "ok"])]));
    assert!(!counted("max_retries_exhausted: 2", retried, &[("a", bad)]));
}

#[test]
fn rejections_and_timeouts_of_gates_are_not_counted() {
    // R-EDGE-6
    let gate = "  g: { approve: { message: go?, timeout: 1h } }\n";
    assert!(last_ran("max_node_failures: 1", gate, &[], Some(Choice::Reject)));
    assert!(last_ran("max_node_failures: 1", gate, &[], None));
}

#[test]
fn interrupted_attempts_are_no_retries() {
    // R-EDGE-6, R-CLAIM-4
    let mut world = broken(
        "policy: { max_retries_exhausted: 1 }\nnodes:\n  a: { call: x }\n  y: { call: x }\n  z: { call: x, needs: [y] }\n",
        &["a"],
    );
    world.starts().crashes().starts().crashes().starts().settles();
    assert_eq!(world.executions("a"), 3);
    assert_eq!(world.run().stopping(), None);
    assert_eq!(world.states(), "a failed, y completed, z completed");
    assert_eq!(world.end(), "failed 1");
}

#[test]
fn a_stop_names_the_first_failure_that_nobody_handled() {
    // R-EDGE-6, R-STORE-2
    let mut world = broken(
        "policy: { max_node_failures: 2, scheduling: frontier }
nodes:
  a: { call: x }
  b: { call: x }
  h: { call: x, needs: [{ node: a, when: on_failure }] }
",
        &[],
    );
    world.starts().fails("a", "TOOL_ERROR").finishes("h").fails("b", "MINE");
    let failure = world.ending().failure.unwrap();
    assert_eq!((failure.node, failure.error.code.to_string().as_str()), (Some(world.node("b")), "MINE"));
}

#[test]
fn a_crash_while_the_run_stops_ends_what_was_left_to_end() {
    // R-EDGE-5, R-CLAIM-4: without retry, and without a question.
    for more in ["", ", semantics: at_most_once", ", semantics: at_most_once, probe: { run: ./did-it.sh }"] {
        let mut world = broken(
            &format!("policy: {{ fail_fast: true }}\nnodes:\n  a: {{ call: x }}\n  b: {{ call: x{more} }}\n"),
            &[],
        );
        world.starts().fails("a", "TOOL_ERROR");
        assert_eq!(world.states(), "a failed, b running");
        world.crashes().starts();
        assert_eq!((world.states().as_str(), world.code("b").as_str()), ("a failed, b failed", "INTERRUPTED"));
        assert_eq!((world.end().as_str(), world.executions("b")), ("failed 1", 1));
    }
}

#[test]
fn two_edges_from_one_source_cover_both_of_its_ends() {
    // R-EDGE-2, R-EDGE-3
    let text = "nodes:\n  a: { call: x }\n  t: { call: x, join: any, needs: [a, { node: a, when: on_failure }] }\n";
    for failing in [&[][..], &["a"]] {
        let mut world = broken(text, failing);
        world.runs();
        assert_eq!((world.executions("t"), world.end().as_str()), (1, "completed 0"), "{failing:?}");
    }
}

#[test]
fn what_did_not_pass_has_no_output() {
    // R-EXPR-3, R-EDGE-4
    for (more, grade, when, condition) in [
        (", approve: { message: go? }", true, "on_failure", "output is none and nodes.a.output is none"),
        (", approve: { message: go? }, continue_on_error: true", true, "on_success", "output is none"),
        (", approve: { message: go? }, continue_on_error: true, fallback: 7", true, "on_success", "output == 7"),
        (", evaluate: 'false'", false, "on_failure", "output is none and error.grade == 'F'"),
        (", evaluate: 'false', continue_on_error: true", false, "on_success", "output is none"),
    ] {
        let mut world = World::of(&format!(
            "workflow: w\nnodes:\n  a: {{ call: x{more} }}\n  t: {{ call: x, needs: [{{ node: a, when: {when}, condition: \"{condition}\" }}] }}\n"
        ));
        world.scripted("a", [Outcome::output(1.into())]);
        if grade {
            world.will_answer("a", Choice::Reject);
        }
        world.runs();
        assert_eq!(world.executions("t"), 1, "{more}\n{}", world.picture());
    }
}
