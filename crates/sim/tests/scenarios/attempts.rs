//! Attempts: told twice, interrupted, retried, and the stages after the work.

use serde_json::json;
use sprag_core::file::Duration;
use sprag_core::run::{Class, Entry, Grade, Input, Known, NodeError, NodeState, Product, Refused, Report, Stage, Verb};
use sprag_sim::{Outcome, World};

const MINUTE: Duration = Duration::from_millis(60_000);
const SECOND: Duration = Duration::from_millis(1_000);

fn one(body: &str) -> World {
    World::of(&format!("workflow: w\nnodes:\n  a: {{ call: x{body} }}\n"))
}

/// How often a stage of a node was executed.
fn times(world: &World, node: &str, stage: Stage) -> usize {
    let node = world.node(node);
    world.ledger.iter().filter(|done| (done.node, done.stage) == (node, stage)).count()
}

/// Somebody reports about an attempt, expected or not.
fn tells(world: &mut World, node: &str, attempt: u32, report: Report) -> Result<(), Refused> {
    let node = world.node(node);
    world.offer(Input::Report { node, attempt, report });
    while world.drain() {}
    world.replies.last().unwrap().outcome.clone()
}

fn done() -> Report {
    Report::Produced(Product::of(json!(1)))
}

fn broken(code: Known) -> Report {
    Report::Failed(Stage::Work, NodeError::new(code, "told"))
}

#[test]
fn an_outcome_told_twice_is_stored_once() {
    // R-CLAIM-3
    let mut world = World::dag("a -> b");
    world.starts();
    assert_eq!(tells(&mut world, "a", 1, done()), Ok(()));
    let entries = world.entries();
    for report in [done(), broken(Known::NETWORK), Report::Checked, Report::Probed { happened: None }] {
        assert_eq!(tells(&mut world, "a", 1, report), Ok(()));
        assert_eq!(world.entries(), entries);
    }
    world.finishes("b");
    let entries = world.entries();
    assert_eq!(world.end(), "completed 0");
    assert_eq!(tells(&mut world, "b", 1, done()), Ok(()));
    assert_eq!(world.entries(), entries);
}

#[test]
fn an_outcome_told_late_does_not_touch_the_next_attempt() {
    // R-CLAIM-3, R-CLAIM-4
    let mut world = one("");
    world.starts().crashes().starts();
    let entries = world.entries();
    for report in [done(), broken(Known::TOOL_ERROR)] {
        assert_eq!(tells(&mut world, "a", 1, report), Ok(()));
        assert_eq!((world.state("a"), world.run().attempt(world.node("a"))), (NodeState::Running, 2));
        assert_eq!(world.entries(), entries);
    }
    assert_eq!(world.finishes("a").end(), "completed 0");
}

#[test]
fn an_outcome_told_during_the_delay_does_not_end_it() {
    // R-CLAIM-3, R-RETRY-2
    let mut world = one(", retry: { max_attempts: 2 }");
    world.starts().fails("a", "NETWORK");
    assert_eq!(tells(&mut world, "a", 1, done()), Ok(()));
    assert_eq!(world.state("a"), NodeState::Failed);
    assert_eq!(world.settles().executions("a"), 2);
}

#[test]
fn an_attempt_that_never_was_is_the_senders_mistake() {
    // R-CLAIM-3
    let mut world = World::dag("a -> b");
    world.starts();
    let entries = world.entries();
    for (node, attempt) in [("a", 0), ("a", 2), ("b", 1)] {
        let expected = Err(Refused::NoAttempt { node: world.node(node), attempt });
        assert_eq!(tells(&mut world, node, attempt, done()), expected);
        assert_eq!(world.entries(), entries);
    }
}

#[test]
fn interruptions_do_not_consume_the_retry_budget() {
    // R-CLAIM-4
    let mut world = one(", retry: { max_attempts: 2 }");
    world.scripted("a", [Outcome::fails("NETWORK"), Outcome::output(json!(1))]);
    world.starts().crashes().starts().crashes().starts().settles();
    assert_eq!(world.executions("a"), 4);
    assert_eq!(world.end(), "completed 0");
}

#[test]
fn the_interruption_after_the_last_allowed_one_is_final() {
    // R-CLAIM-4
    for (policy, allowed) in
        [("", 3), ("policy: { max_interruptions: 1 }\n", 1), ("policy: { max_interruptions: 0 }\n", 0)]
    {
        let mut world =
            World::of(&format!("workflow: w\n{policy}nodes:\n  a: {{ call: x }}\n  b: {{ call: x, needs: [a] }}\n"));
        world.starts();
        for taken in 0..allowed {
            world.crashes().starts();
            assert_eq!((world.state("a"), world.executions("a")), (NodeState::Running, taken + 2));
        }
        world.crashes().starts();
        assert_eq!(world.states(), "a failed, b skipped");
        assert_eq!(world.code("a"), "INTERRUPTED");
        assert_eq!(world.end(), "failed 1");
        assert_eq!(world.executions("a"), allowed + 1);
    }
}

#[test]
fn a_person_who_resumes_forgives_interruptions() {
    // R-CLAIM-4
    let mut world = World::of("workflow: w\npolicy: { max_interruptions: 1 }\nnodes:\n  a: { call: x }\n");
    world.starts().crashes().starts();
    for _ in 0..5 {
        world.crashes().resumes();
        assert_eq!(world.state("a"), NodeState::Running);
    }
    world.crashes().starts();
    assert_eq!(world.state("a"), NodeState::Running);
    world.crashes().starts();
    assert_eq!((world.end().as_str(), world.code("a").as_str()), ("failed 1", "INTERRUPTED"));
}

#[test]
fn an_ordinary_failure_does_not_forgive_interruptions() {
    // R-CLAIM-4: only a person's `resume` does.
    let mut world = World::of(
        "workflow: w\npolicy: { max_interruptions: 1 }\nnodes:\n  a: { call: x, retry: { max_attempts: 5 } }\n",
    );
    world.scripted("a", [Outcome::Hangs]).starts().crashes().starts().fails("a", "NETWORK").passes(MINUTE);
    assert_eq!((world.state("a"), world.executions("a")), (NodeState::Running, 3));
    world.crashes().starts();
    assert_eq!((world.end().as_str(), world.code("a").as_str()), ("failed 1", "INTERRUPTED"));
}

#[test]
fn ready_nodes_are_simply_queued_again() {
    // R-CLAIM-4
    let mut world =
        World::of("workflow: w\npolicy: { max_parallelism: 1 }\nnodes:\n  a: { call: x }\n  b: { call: x }\n");
    world.starts().crashes().starts();
    assert_eq!(world.states(), "a running, b ready");
    world.settles();
    assert_eq!((world.run().attempt(world.node("a")), world.run().attempt(world.node("b"))), (2, 1));
    assert_eq!(world.end(), "completed 0");
}

#[test]
fn a_retry_is_durable_before_its_delay_and_resumes_with_what_was_left() {
    // R-RETRY-2
    let mut world = one(", retry: { max_attempts: 2, initial_delay: 10m, jitter: 0 }");
    world.starts().fails("a", "NETWORK");
    let due = world.now().plus(Duration::from_millis(600_000));
    let node = world.node("a");
    assert!(
        world
            .entries()
            .iter()
            .any(|entry| matches!(entry, Entry::Failed { due: Some(at), attempt: 1, .. } if *at == due))
    );
    world.passes(MINUTE).crashes().passes(MINUTE).starts().passes(MINUTE).crashes().passes(MINUTE).starts();
    assert_eq!(world.run().due(node), Some(due));
    world.passes(Duration::from_millis(359_000));
    assert_eq!((world.state("a"), world.executions("a")), (NodeState::Failed, 1));
    world.passes(SECOND);
    assert_eq!((world.executions("a"), world.ledger.last().unwrap().began), (2, due));
    assert_eq!(world.run().attempt(node), 2);
}

#[test]
fn a_retry_that_became_due_while_nobody_was_there_starts_at_once() {
    // R-RETRY-2, R-TIME-1
    let mut world = one(", retry: { max_attempts: 2, initial_delay: 10m }");
    world.starts().fails("a", "NETWORK").crashes().passes(Duration::from_millis(3_600_000)).starts();
    assert_eq!((world.state("a"), world.executions("a")), (NodeState::Running, 2));
}

#[test]
fn a_kill_during_the_delay_leaves_the_failure_final_without_a_move() {
    // R-STATE-4, R-RETRY-2
    for crash in [false, true] {
        let mut world = one(", retry: { max_attempts: 2, initial_delay: 10m }");
        world.starts().fails("a", "NETWORK");
        if crash {
            world.crashes().starts();
        }
        let before = world.entries().iter().filter(|entry| matches!(entry, Entry::Failed { .. })).count();
        world.wants("ann", Verb::Cancel { kill: true }).unwrap();
        let after = world.entries().iter().filter(|entry| matches!(entry, Entry::Failed { .. })).count();
        assert_eq!((before, after, world.state("a")), (1, 1, NodeState::Failed));
        assert!(world.run().is_settled(world.node("a")));
        assert_eq!((world.end().as_str(), world.aborted().as_str()), ("cancelled 5", ""));
    }
}

#[test]
fn delays_grow_and_a_longer_retry_after_wins() {
    // R-RETRY-1
    let mut world = one(", retry: { max_attempts: 4, initial_delay: 10s, max_delay: 1m, jitter: 0 }");
    world.starts().scripted("a", [Outcome::Hangs]);
    let node = world.node("a");
    for (asked, expected) in [(None, 10_000), (Some(SECOND), 20_000), (Some(MINUTE), 60_000)] {
        let mut error = NodeError::new(Known::RATE_LIMITED, "slow down");
        error.retry_after = asked;
        let at = world.now();
        world.fails_with("a", error);
        assert_eq!(world.run().due(node).unwrap().since(at).millis, expected);
        world.passes(Duration::from_millis(expected));
    }
    world.fails("a", "RATE_LIMITED");
    assert_eq!(world.end(), "failed 1");
}

#[test]
fn every_class_but_unrecoverable_is_retried() {
    // R-ERR-1, R-RETRY-1
    for known in Known::ALL.iter().filter(|known| **known != Known::INTERRUPTED) {
        let mut world = one(", retry: { max_attempts: 3 }");
        world.scripted("a", [Outcome::fails(known.as_str())]).runs();
        let expected = if known.class() == Class::Unrecoverable { 1 } else { 3 };
        assert_eq!(world.executions("a"), expected, "{known}");
        assert_eq!(world.code("a"), known.as_str());
    }
}

#[test]
fn a_fallback_completes_what_retries_could_not_save() {
    // R-REC-2, R-STATE-9
    for (body, codes, executions, ending) in [
        ("fallback: 7", &["NETWORK"][..], 1, "completed 0 degraded"),
        ("fallback: 7, retry: { max_attempts: 3 }", &["NETWORK"], 3, "completed 0 degraded"),
        ("fallback: 7, retry: { max_attempts: 3, never: [NETWORK] }", &["NETWORK"], 1, "completed 0 degraded"),
        ("fallback: 7, retry: { max_attempts: 3 }", &["NETWORK", "PERMISSION_DENIED"], 2, "failed 1"),
        ("fallback: 7", &["PERMISSION_DENIED"], 1, "failed 1"),
        ("fallback: 7, retry: { max_attempts: 2 }", &["NETWORK", "ok"], 2, "completed 0"),
    ] {
        let mut world = World::of(&format!(
            "workflow: w\nnodes:\n  a: {{ call: x, {body} }}\n  t: {{ call: x, needs: [{{ node: a, condition: output == 7 }}] }}\n"
        ));
        let outcome = |code: &&str| if *code == "ok" { Outcome::output(json!(8)) } else { Outcome::fails(code) };
        world.scripted("a", codes.iter().map(outcome)).runs();
        assert_eq!((world.executions("a"), world.end().as_str()), (executions, ending), "{body} {codes:?}");
        assert_eq!(world.executions("t") == 1, ending.ends_with("degraded"), "{body} {codes:?}");
        assert_eq!(world.run().is_tainted(world.node("a")), ending.ends_with("degraded"));
    }
}

#[test]
fn a_crash_after_the_work_repeats_the_stage_and_never_the_work() {
    // R-STATE-8
    for (body, stage) in [
        ("output_schema: { type: object }", Stage::Check),
        ("evaluate: { run: ./grade.sh }", Stage::Evaluate),
        ("output_schema: { type: object }, evaluate: { run: ./grade.sh }, approve: { message: go? }", Stage::Check),
    ] {
        let mut world = one(&format!(", {body}"));
        world.starts().produces("a", json!({}));
        for crashes in 1..=5 {
            assert_eq!((times(&world, "a", Stage::Work), times(&world, "a", stage)), (1, crashes), "{body}");
            assert_eq!(world.run().attempt(world.node("a")), 1);
            world.crashes().starts();
        }
        world.will_answer("a", sprag_core::run::Choice::Approve).settles();
        assert_eq!((world.end().as_str(), world.executions("a")), ("completed 0", 1), "{body}");
    }
}

#[test]
fn a_crash_at_the_gate_asks_the_same_question_and_repeats_nothing() {
    // R-STATE-8, R-ASK-1, R-RES-5
    let mut world = one(", approve: { message: 'ship {{ output.n }}?' }");
    world.starts().produces("a", json!({ "n": 3 }));
    let asked = world.run().questions().next().unwrap().clone();
    assert_eq!(asked.question.shown, "ship 3?");
    for _ in 0..5 {
        world.crashes().starts();
        assert_eq!(world.run().questions().cloned().collect::<Vec<_>>(), std::slice::from_ref(&asked));
    }
    world.approves("a");
    assert_eq!((world.end().as_str(), world.executions("a")), ("completed 0", 1));
}

#[test]
fn outputs_that_do_not_fit_fail_and_are_retried() {
    // R-SCHED-5, R-STATE-8, R-RETRY-1
    for text in [
        "a: { call: x, output_schema: { type: object }RETRY }\n  b: { call: x, needs: [a] }",
        "a: { call: xRETRY }\n  b: { call: x, needs: [a], input_schema: { a: { type: object } } }",
    ] {
        for (retry, executions, states) in [
            ("", 1, "a failed, b skipped"),
            (", retry: { max_attempts: 2 }", 2, "a completed, b completed"),
            (", retry: { max_attempts: 2, never: [complexity] }", 1, "a failed, b skipped"),
        ] {
            let mut world = World::of(&format!("workflow: w\nnodes:\n  {}\n", text.replace("RETRY", retry)));
            world.script().checks("a", [false, true]);
            world.runs();
            assert_eq!((world.states().as_str(), world.executions("a")), (states, executions), "{text} {retry}");
            assert_eq!(world.code("a"), if executions == 1 { "SCHEMA_MISMATCH" } else { "" });
        }
    }
}

#[test]
fn low_grades_fail_and_are_retried() {
    // R-REC-5, R-RETRY-1
    for (grades, executions, code) in [
        (&[Grade::A][..], 1, ""),
        (&[Grade::C], 1, ""),
        (&[Grade::D, Grade::B], 2, ""),
        (&[Grade::F, Grade::D], 2, "LOW_GRADE"),
    ] {
        let mut world = one(", evaluate: { run: ./grade.sh }, retry: { max_attempts: 2 }");
        world.script().grades("a", grades.iter().copied());
        world.runs();
        assert_eq!((world.executions("a"), world.code("a").as_str()), (executions, code), "{grades:?}");
    }
}

#[test]
fn an_expression_grades_by_letter_by_truth_or_by_a_mapping() {
    // R-REC-5, R-STATE-9
    for (expression, code, executions) in [
        ("'A'", "", 1),
        ("'C'", "", 1),
        ("'D'", "LOW_GRADE", 2),
        ("'F'", "LOW_GRADE", 2),
        ("true", "", 1),
        ("false", "LOW_GRADE", 2),
        ("output.score > 3", "", 1),
        ("output.score > 5", "LOW_GRADE", 2),
        ("{'grade': 'B'}", "", 1),
        ("{'grade': 'D', 'feedback': 'too short'}", "LOW_GRADE", 2),
        ("{'grade': 'F', 'feedback': [{'severity': 'minor', 'text': 'x'}]}", "LOW_GRADE", 2),
        ("'E'", "CONDITION_ERROR", 1),
        ("7", "CONDITION_ERROR", 1),
        ("{'feedback': 'no grade'}", "CONDITION_ERROR", 1),
        ("output.no.such > 1", "CONDITION_ERROR", 1),
    ] {
        let mut world = one(&format!(", evaluate: \"{expression}\", retry: {{ max_attempts: 2 }}"));
        world.scripted("a", [Outcome::output(json!({ "score": 4 }))]).runs();
        assert_eq!((world.code("a").as_str(), world.executions("a")), (code, executions), "{expression}");
        assert_eq!(world.end(), if code.is_empty() { "completed 0" } else { "failed 1" }, "{expression}");
    }
}

#[test]
fn feedback_of_a_low_grade_travels_with_the_error() {
    // R-REC-5, R-CMD-1
    let mut world = one(", evaluate: \"{'grade': 'D', 'feedback': 'too short'}\"");
    world.runs();
    let error = world.run().error(world.node("a")).unwrap();
    assert_eq!((error.grade, error.feedback.len(), error.feedback[0].text.as_str()), (Some(Grade::D), 1, "too short"));
}
