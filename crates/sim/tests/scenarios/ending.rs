//! How runs end: every row of the table, alone and with the rows above it, and what each leaves behind.

use sprag_core::file::Duration;
use sprag_core::run::{Choice, Closing, Entry, Refused, StopCause, Verb};
use sprag_sim::{Outcome, World};

const HOUR: Duration = Duration::from_millis(3_600_000);

/// A run with one node in each situation:
///
/// `busy`, `trigger` and `work` hold all three slots, `queued` waits for one, `later` for `work`, `flaky` for its retry,
/// `gate` and `maybe` for people, `nap` for three days, `signal` for a signal, and `done` is done.
fn zoo(policy: &str) -> World {
    let mut world = World::of(&format!(
        "workflow: w
policy: {{ scheduling: frontier, max_parallelism: 3{policy} }}
nodes:
  busy: {{ call: x, priority: 5, retry: {{ max_attempts: 9 }} }}
  done: {{ call: x, priority: 9 }}
  flaky: {{ call: x, priority: 9, retry: {{ max_attempts: 3, initial_delay: 1h }} }}
  gate: {{ approve: {{ message: go? }} }}
  later: {{ call: x, needs: [work] }}
  maybe: {{ call: x, priority: 9, semantics: at_most_once }}
  nap: {{ wait: {{ for: 3d }} }}
  queued: {{ call: x }}
  signal: {{ wait: {{ signal: go }} }}
  trigger: {{ call: x, priority: 5 }}
  work: {{ call: x, priority: 5 }}
"
    ));
    for node in ["busy", "trigger", "work"] {
        world.scripted(node, [Outcome::Hangs]);
    }
    world.starts().finishes("done").fails("flaky", "NETWORK").fails("maybe", "NETWORK");
    assert_eq!(
        world.states(),
        "busy running, done completed, flaky failed, gate awaiting_approval, later pending, maybe awaiting_approval, \
         nap running, queued ready, signal running, trigger running, work running"
    );
    world
}

const CANCELLED: &str = "busy cancelled, done completed, flaky failed, gate cancelled, later cancelled, \
    maybe cancelled, nap cancelled, queued cancelled, signal cancelled, trigger cancelled, work cancelled";

const TOO_LATE: &str = "busy failed, done completed, flaky failed, gate failed, later skipped, maybe failed, \
    nap failed, queued skipped, signal failed, trigger failed, work failed";

/// While `busy` and `work` are left to end.
const HALTED: &str = "busy running, done completed, flaky failed, gate cancelled, later skipped, maybe cancelled, \
    nap cancelled, queued skipped, signal cancelled, trigger failed, work running";

/// How the run ended, and which failure decided it: `failed 1 a TOOL_ERROR`.
fn end(world: &World) -> String {
    let blamed = world.ending().failure.map(|failure| {
        let run = world.run();
        let node = failure.node.map(|node| format!(" {}", run.definition().graph.id(node)));
        format!("{} {}", node.unwrap_or_default(), failure.error.code)
    });
    format!("{}{}", world.end(), blamed.unwrap_or_default())
}

/// Nothing is asked, owed or due any more.
fn nothing_is_left(world: &World) {
    let run = world.run();
    assert!(run.questions().all(|asked| asked.closed.is_some()));
    assert!(run.definition().graph.nodes().all(|node| run.is_settled(node)), "{}", world.picture());
    assert_eq!((run.next_wake(), run.executing()), (None, 0), "{}", world.picture());
}

fn flaky_is_final_without_a_move(world: &World) {
    // R-STATE-4
    let flaky = world.node("flaky");
    let moves =
        world.entries().iter().filter(|entry| matches!(entry, Entry::Failed { node, .. } if *node == flaky)).count();
    assert_eq!(moves, 1);
    assert!(world.entries().contains(&Entry::Finalised { node: flaky }));
    assert_eq!(world.code("flaky"), "NETWORK");
    assert_eq!(world.executions("flaky"), 1);
}

#[test]
fn cancel_aborts_what_runs_and_cancels_the_rest() {
    // R-EDGE-5, R-CMD-2
    let mut world = zoo("");
    world.cancels();
    assert_eq!(world.states(), CANCELLED);
    assert_eq!(end(&world), "cancelled 5");
    assert_eq!(world.aborted(), "busy 1, trigger 1, work 1");
    flaky_is_final_without_a_move(&world);
    nothing_is_left(&world);
}

#[test]
fn kill_is_a_cancel_that_gives_no_time() {
    // R-EDGE-5, R-CMD-2
    let mut world = zoo("");
    world.wants("ann", Verb::Cancel { kill: true }).unwrap();
    assert_eq!(world.states(), CANCELLED);
    assert_eq!(end(&world), "cancelled 5");
    assert_eq!(world.aborted(), "busy 1 killed, trigger 1 killed, work 1 killed");
    flaky_is_final_without_a_move(&world);
    nothing_is_left(&world);
}

#[test]
fn the_deadline_fails_what_runs_or_waits_and_skips_the_rest() {
    // R-EDGE-5
    let mut world = zoo(", deadline: 30m");
    world.passes(HOUR);
    assert_eq!(world.states(), TOO_LATE);
    assert_eq!(end(&world), "failed 6 DEADLINE_EXCEEDED");
    for node in ["busy", "gate", "maybe", "nap", "signal", "trigger", "work"] {
        assert_eq!(world.code(node), "DEADLINE_EXCEEDED", "{node}");
    }
    assert!(
        world.trace().contains("TaskSkipped later run_stopped\nTaskSkipped")
            || world.trace().contains("later run_stopped")
    );
    assert_eq!(world.aborted(), "busy 1, trigger 1, work 1");
    flaky_is_final_without_a_move(&world);
    nothing_is_left(&world);
}

#[test]
fn stops_let_running_nodes_end_without_retry_and_keep_them() {
    // R-EDGE-5, R-EDGE-6
    for policy in [", fail_fast: true", ", max_node_failures: 1", ", max_node_failures: 1, fail_open: true"] {
        let mut world = zoo(policy);
        world.fails("trigger", "TOOL_ERROR");
        assert_eq!(world.states(), HALTED, "{policy}");
        assert!(world.run().questions().all(|asked| asked.closed == Some(Closing::Unanswered)));
        flaky_is_final_without_a_move(&world);
        world.fails("busy", "NETWORK").finishes("work");
        assert_eq!(
            world.states(),
            "busy failed, done completed, flaky failed, gate cancelled, later skipped, maybe cancelled, nap cancelled, \
             queued skipped, signal cancelled, trigger failed, work completed"
        );
        let blamed = if policy.contains("fail_fast") { "trigger TOOL_ERROR" } else { "busy NETWORK" };
        assert_eq!(end(&world), format!("failed 1 {blamed}"), "{policy}");
        assert_eq!(world.aborted(), "");
        assert!(world.trace().contains("TaskSkipped queued run_stopped\n"));
        assert!(world.trace().contains("TaskSkipped later run_stopped\n"));
        nothing_is_left(&world);
    }
}

#[test]
fn the_deadline_comes_before_a_stop_that_still_waits_for_running_nodes() {
    // R-EDGE-5: the first row that fits.
    let mut world = zoo(", deadline: 30m, fail_fast: true");
    world.fails("trigger", "TOOL_ERROR");
    assert_eq!(world.states(), HALTED);
    world.passes(HOUR);
    assert_eq!(
        (world.code("busy"), world.code("work"), world.code("trigger")),
        ("DEADLINE_EXCEEDED".to_owned(), "DEADLINE_EXCEEDED".to_owned(), "TOOL_ERROR".to_owned(),)
    );
    assert_eq!(end(&world), "failed 6 DEADLINE_EXCEEDED");
    assert_eq!(world.aborted(), "busy 1, work 1");
    nothing_is_left(&world);
}

#[test]
fn a_cancel_comes_before_a_stop_that_still_waits_for_running_nodes() {
    // R-EDGE-5: the first row that fits.
    for kill in [false, true] {
        let mut world = zoo(", fail_fast: true");
        world.fails("trigger", "TOOL_ERROR");
        world.wants("ann", Verb::Cancel { kill }).unwrap();
        assert!(world.states().contains("busy cancelled"));
        assert!(world.states().contains("work cancelled"));
        assert_eq!(end(&world), "cancelled 5");
        assert_eq!(world.aborted(), if kill { "busy 1 killed, work 1 killed" } else { "busy 1, work 1" });
        nothing_is_left(&world);
    }
}

#[test]
fn nothing_is_above_the_deadline_once_it_has_passed() {
    // R-EDGE-5, R-RES-7: an ended run is immutable.
    let mut world = zoo(", deadline: 30m");
    world.passes(HOUR);
    let entries = world.entries().len();
    assert_eq!(world.wants("ann", Verb::Cancel { kill: true }), Err(Refused::Ended));
    assert_eq!(world.entries().len(), entries);
    assert_eq!(end(&world), "failed 6 DEADLINE_EXCEEDED");
}

#[test]
fn a_failure_that_nobody_handles_skips_dependents_and_lets_the_rest_run() {
    // R-EDGE-5
    for (policy, ending) in
        [("", "failed 1 work TOOL_ERROR"), (", fail_open: true", "completed 0 degraded work TOOL_ERROR")]
    {
        let mut world = zoo(policy);
        world.fails("work", "TOOL_ERROR");
        assert_eq!(
            world.states(),
            "busy running, done completed, flaky failed, gate awaiting_approval, later skipped, \
             maybe awaiting_approval, nap running, queued running, signal running, trigger running, work failed"
        );
        world.finishes("busy").finishes("trigger").finishes("queued").approves("gate");
        world.signals("go", serde_json::Value::Null);
        world.answers("maybe", Choice::Skip).unwrap();
        world.settles();
        assert_eq!(
            world.states(),
            "busy completed, done completed, flaky completed, gate completed, later skipped, maybe cancelled, \
             nap completed, queued completed, signal completed, trigger completed, work failed"
        );
        assert_eq!(end(&world), ending);
        assert_eq!(world.aborted(), "");
        nothing_is_left(&world);
    }
}

#[test]
fn the_deadline_and_a_cancel_come_before_an_unhandled_failure() {
    // R-EDGE-5
    for policy in ["", ", fail_open: true"] {
        let mut world = zoo(&format!(", deadline: 30m{policy}"));
        world.fails("trigger", "TOOL_ERROR").passes(HOUR);
        assert_eq!(end(&world), "failed 6 DEADLINE_EXCEEDED", "{policy}");
        assert_eq!(world.code("trigger"), "TOOL_ERROR");
        let mut world = zoo(policy);
        world.fails("trigger", "TOOL_ERROR").cancels();
        assert_eq!(end(&world), "cancelled 5", "{policy}");
    }
}

#[test]
fn results_that_are_not_the_works_own_degrade_a_completed_run_and_no_other() {
    // R-EDGE-5, R-REC-7
    for (body, code, answer, ending) in [
        ("call: x", None, None, "completed 0"),
        ("call: x, fallback: 1", Some("TOOL_ERROR"), None, "completed 0 degraded"),
        ("call: x, continue_on_error: true", Some("TOOL_ERROR"), None, "completed 0 degraded"),
        ("approve: { message: go? }, continue_on_error: true", None, Some(Choice::Reject), "completed 0 degraded"),
        ("call: x, semantics: at_most_once", Some("NETWORK"), Some(Choice::Provide), "completed 0 degraded"),
        ("call: x, semantics: at_most_once", Some("NETWORK"), Some(Choice::Skip), "completed 0"),
        ("approve: { message: go? }", None, Some(Choice::Approve), "completed 0"),
    ] {
        for (other, ending) in [("", ending), (", other: { call: x }", "failed 1")] {
            let mut world = World::of(&format!("workflow: w\nnodes: {{ a: {{ {body} }}{other} }}\n"));
            if let Some(code) = code {
                world.scripted("a", [Outcome::fails(code)]);
            }
            if let Some(answer) = answer {
                world.will_answer("a", answer);
            }
            if !other.is_empty() {
                world.scripted("other", [Outcome::fails("TOOL_ERROR")]);
            }
            world.runs();
            assert_eq!(world.end(), ending, "{body} {other}");
        }
    }
}

#[test]
fn each_row_yields_to_the_rows_above_it() {
    // R-EDGE-5: a failure left open, then a stop, then the deadline, then a cancel, each of which takes over.
    let failed_open = || {
        let mut world = zoo(", deadline: 30m, fail_open: true, max_node_failures: 2");
        world.fails("trigger", "TOOL_ERROR");
        assert_eq!(world.run().stopping(), None);
        world
    };
    let stopped = || {
        let mut world = failed_open();
        world.fails("work", "TOOL_ERROR");
        assert_eq!(world.run().stopping(), Some(&StopCause::NodeFailures { count: 2 }));
        world
    };
    let mut world = failed_open();
    world.finishes("busy").finishes("work").approves("gate");
    world.answers("maybe", Choice::Fail).unwrap();
    assert_eq!(world.run().stopping(), Some(&StopCause::NodeFailures { count: 2 }));
    assert_eq!(world.finishes("queued").finishes("later").end(), "failed 1");
    assert_eq!(stopped().finishes("busy").finishes("queued").end(), "failed 1");
    for mut world in [failed_open(), stopped()] {
        assert_eq!(world.passes(HOUR).end(), "failed 6");
    }
    for mut world in [failed_open(), stopped()] {
        assert_eq!(world.cancels().end(), "cancelled 5");
    }
}

#[test]
fn retries_that_were_used_up_stop_the_run() {
    // R-EDGE-6
    let text = "workflow: w
policy: { max_retries_exhausted: 2, max_parallelism: 1, fail_open: true }
nodes:
  a: { call: x, retry: { max_attempts: 2, initial_delay: 1ms, max_delay: 1ms } }
  b: { call: x }
  c: { call: x, retry: { max_attempts: 2, initial_delay: 1ms, max_delay: 1ms } }
  d: { call: x }
  e: { call: x, needs: [{ node: a, when: on_failure }] }
";
    let mut world = World::of(text);
    for node in ["a", "b", "c"] {
        world.scripted(node, [Outcome::fails("TOOL_ERROR")]);
    }
    world.scripted("d", [Outcome::Hangs]);
    world.starts();
    for _ in 0..9 {
        world.passes(Duration::from_millis(1));
    }
    assert_eq!(world.run().stopping(), None);
    world.finishes("d").passes(Duration::from_millis(1));
    // `b` failed without a retry and does not count; with `c` there are two, and nothing starts any more.
    assert!(matches!(world.run().stopping(), Some(StopCause::RetriesExhausted { count: 2 })), "{}", world.picture());
    assert_eq!(world.states(), "a failed, b failed, c failed, d completed, e skipped");
    assert_eq!(end(&world), "failed 1 a TOOL_ERROR");
}
