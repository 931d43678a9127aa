//! The ladder: what becomes of nodes that fail and may be recovered (`R-REC-1` to `R-REC-5`, `R-STATE-9`).

use serde_json::json;
use sprag_core::file::Duration;
use sprag_core::run::recovery::Strategy;
use sprag_core::run::{
    Choice, Entry, Feedback, Known, LedgerOutcome, LedgerRow, NodeError, PausedBy, QuestionKind, RunStatus, Severity,
    Stage, Usage, ledger,
};
use sprag_sim::{Crash, Outcome, World, WorldOptions};

const AGENT: &str = "agent: { provider: fake, script: [], model: haiku, prompt: x }";

fn of(nodes: &str) -> World {
    World::of(&format!("workflow: w\nnodes:\n{nodes}"))
}

/// The ledger of a node.
fn rows(world: &World, node: &str) -> Vec<LedgerRow> {
    let journal = world.journal();
    let entries = journal.iter().flat_map(|commit| commit.entries.iter().map(|entry| (commit.at, entry)));
    ledger(entries).remove(&world.node(node)).unwrap_or_default()
}

/// How the attempts of a node came about and on what they ran, as words: `- haiku, escalate-model sonnet`.
fn climbed(world: &World, node: &str) -> String {
    let word = |row: &LedgerRow| {
        let strategy = row.strategy.map_or("-", Strategy::as_str);
        row.model.as_ref().map_or_else(|| strategy.to_owned(), |model| format!("{strategy} {model}"))
    };
    rows(world, node).iter().map(word).collect::<Vec<_>>().join(", ")
}

fn with_feedback(code: Known, text: &str) -> Outcome {
    let mut error = NodeError::new(code, "x");
    error.feedback.push(Feedback { severity: Severity::Critical, text: text.into() });
    Outcome::Fails(error)
}

#[test]
fn two_failures_lead_from_haiku_over_sonnet_to_opus() {
    // R-REC-1, R-REC-3
    let mut world = of(&format!("  a: {{ {AGENT} }}\n"));
    let usage = Usage { tokens_in: 10, tokens_out: 5, usd: 0.25 };
    let fails = || Outcome::FailsAt(NodeError::new(Known::MODEL_ERROR, "x"), usage);
    world.scripted("a", [fails(), fails(), Outcome::output(json!("done"))]);
    world.runs();
    assert_eq!(climbed(&world, "a"), "- haiku, escalate-model sonnet, escalate-model opus", "{}", world.picture());
    assert_eq!((world.end().as_str(), world.run().model_of(world.node("a"))), ("completed 0", Some("opus")));
    let rows = rows(&world, "a");
    assert_eq!(rows[0].outcome, LedgerOutcome::Failed(Known::MODEL_ERROR.into()));
    assert_eq!(rows[2].outcome, LedgerOutcome::Completed);
    assert!(rows[1].reason.as_ref().unwrap().contains("sonnet"));
    assert_eq!(
        rows[1].passed.iter().map(|passed| passed.strategy).collect::<Vec<_>>(),
        [Strategy::RetrySame, Strategy::RetryWithFeedback]
    );
    // What fails is paid for, too.
    assert_eq!((rows[0].usage, world.run().usage()), (usage, Usage { tokens_in: 20, tokens_out: 10, usd: 0.5 }));
    assert!(rows.iter().all(|row| row.ended.is_some_and(|ended| ended > row.started)));
}

#[test]
fn a_model_is_rendered_once_and_must_have_a_value() {
    // R-STATE-9
    let text = "  s: { call: x }\n  a: { needs: [s], agent: { provider: fake, script: [], model: \"{{ nodes.s.output.m }}\", prompt: x } }\n";
    let mut world = of(text);
    world.scripted("s", [Outcome::output(json!({ "m": "sonnet" }))]);
    world.scripted("a", [Outcome::fails("MODEL_ERROR"), Outcome::output(json!(1))]);
    world.runs();
    assert_eq!(climbed(&world, "a"), "- sonnet, escalate-model opus");
    let mut world = of(text);
    world.runs();
    assert_eq!((world.code("a").as_str(), world.executions("a")), ("CONDITION_ERROR", 0), "{}", world.picture());
}

#[test]
fn transient_failures_never_reach_a_person() {
    // R-REC-1
    let mut world = of(&format!("  a: {{ {AGENT} }}\n"));
    world.scripted("a", [Outcome::fails("TIMEOUT")]);
    world.runs();
    assert_eq!((world.executions("a"), world.end().as_str()), (3, "failed 1"));
    assert_eq!(climbed(&world, "a"), "- haiku, retry-same haiku, retry-same haiku");
    assert_eq!(world.run().questions().count(), 0);

    let mut world = of(&format!("  a: {{ {AGENT}, fallback: {{ n: 1 }} }}\n"));
    world.scripted("a", [Outcome::fails("NETWORK")]);
    world.runs();
    assert_eq!((world.executions("a"), world.end().as_str()), (3, "completed 0 degraded"));
    assert_eq!(climbed(&world, "a"), "- haiku, retry-same haiku, retry-same haiku, skip-with-fallback");
}

#[test]
fn what_was_said_stays_until_something_else_is_said() {
    // R-REC-1: a transient failure says nothing about the work.
    let mut world = of(&format!("  a: {{ {AGENT} }}\n"));
    world.scripted("a", [Outcome::Hangs]).starts();
    let feedback = |world: &World| world.run().input_of(world.node("a"))["feedback"].clone();
    let minute = Duration::from_millis(60_000);
    let Outcome::Fails(error) = with_feedback(Known::INVALID_OUTPUT, "shorter") else { return };
    world.fails_with("a", error).passes(minute);
    assert_eq!(feedback(&world), json!([{ "severity": "critical", "text": "shorter" }]));
    world.fails("a", "TIMEOUT").passes(minute);
    assert_eq!(feedback(&world), json!([{ "severity": "critical", "text": "shorter" }]));
    world.fails("a", "MODEL_ERROR").passes(minute);
    assert_eq!(feedback(&world), json!([]));
    assert_eq!(climbed(&world, "a"), "- haiku, retry-with-feedback haiku, retry-same haiku, escalate-model sonnet");

    // Who is told without anybody having said anything is told the error.
    let mut world = of("  a: { call: x, recovery: {} }\n");
    world.scripted("a", [Outcome::Hangs]).starts().fails("a", "TOOL_ERROR").passes(minute);
    assert_eq!(feedback(&world), json!([{ "severity": "critical", "text": "TOOL_ERROR: as the script says" }]));
}

#[test]
fn what_cannot_be_recovered_goes_to_a_person_who_may_be_asked() {
    // R-REC-1, R-REC-4, R-STATE-9
    for (recovery, code, asked) in [
        ("", "PERMISSION_DENIED", true),
        (", recovery: { human: pause }", "SCOPE_VIOLATION", true),
        (", recovery: { human: fail }", "ISOLATION_BREACH", false),
        ("", "INTERNAL", false),
    ] {
        let mut world = of(&format!("  a: {{ {AGENT}{recovery} }}\n"));
        world.scripted("a", [Outcome::fails(code)]).starts().settles();
        assert_eq!(world.run().questions().count(), usize::from(asked), "{recovery} {code}");
        if asked {
            assert_eq!(world.run().status(), RunStatus::Paused(PausedBy::Question));
            assert_eq!(world.states(), "a awaiting_approval");
        } else {
            assert_eq!((world.states().as_str(), world.code("a").as_str()), ("a failed", code));
        }
    }
}

#[test]
fn a_person_retries_provides_skips_or_gives_up() {
    // R-STATE-9, R-ASK-1
    for (choice, states, end) in [
        (Choice::Retry, "a completed, b completed", "completed 0"),
        (Choice::Provide, "a completed, b completed", "completed 0 degraded"),
        (Choice::Skip, "a cancelled, b skipped", "completed 0"),
        (Choice::Fail, "a failed, b skipped", "failed 1"),
    ] {
        let mut world = of(&format!("  a: {{ {AGENT} }}\n  b: {{ needs: [a], call: x }}\n"));
        world.scripted("a", [Outcome::fails("PERMISSION_DENIED"), Outcome::output(json!("own"))]);
        world.starts().settles();
        let kind = world.run().questions().next().unwrap().question.kind;
        assert_eq!((kind, kind.choices().len()), (QuestionKind::Intervention, 4));
        world.answers_with("a", choice, Some(json!("given"))).unwrap();
        world.settles();
        assert_eq!((world.states().as_str(), world.end().as_str()), (states, end), "{choice:?}");
    }
}

#[test]
fn whoever_says_retry_is_asked_again() {
    // R-REC-1: a person's retry resets nothing.
    let mut world = of("  a: { call: x, fallback: 1, recovery: { human: pause, max_attempts: 1 } }\n");
    world.scripted("a", [Outcome::fails("TOOL_ERROR")]).starts().settles();
    for asked in 1..4 {
        assert_eq!(world.run().questions().count(), asked);
        world.answers("a", Choice::Retry).unwrap();
        world.settles();
    }
    assert_eq!(world.executions("a"), 4);
    world.answers("a", Choice::Fail).unwrap();
    assert_eq!((world.settles().end().as_str(), world.code("a").as_str()), ("failed 1", "TOOL_ERROR"));
}

const SPLIT: &str = "  a: { call: x, recovery: { decompose: { call: split } } }\n  end: { needs: [a], call: x }\n";

fn parts() -> Outcome {
    Outcome::output(json!({ "nodes": { "p": { "call": "x" }, "q": { "call": "x", "needs": ["p"] } } }))
}

#[test]
fn a_task_is_split_once() {
    // R-REC-1, R-GROW-1, R-GROW-2
    let mut world = of("  a: { call: x, recovery: { decompose: { call: split } } }\n  end: { call: x }\n");
    world.scripted("a", [Outcome::fails("INVALID_OUTPUT")]);
    world.scripted("a/q", [Outcome::output(json!(7))]);
    world.script().decomposes("a", [parts()]);
    world.runs();
    assert_eq!(world.states(), "a completed, a/p completed, a/q completed, end completed", "{}", world.picture());
    assert_eq!(world.run().output(world.node("a")), Some(&json!({ "q": 7 })));
    assert_eq!((world.executions("a"), world.run().attempt(world.node("a"))), (1, 1));
    let rows = rows(&world, "a");
    assert_eq!(climbed(&world, "a"), "-, decompose-further");
    assert_eq!(rows[0].outcome, LedgerOutcome::Failed(Known::INVALID_OUTPUT.into()));
    assert_eq!((rows[1].attempt, &rows[1].outcome), (1, &LedgerOutcome::Completed));
}

#[test]
fn when_the_split_fails_the_ladder_goes_on() {
    // R-GROW-2, R-REC-1
    let cycle = json!({ "nodes": { "p": { "call": "x", "needs": ["q"] }, "q": { "call": "x", "needs": ["p"] } } });
    for (what, hook, child, states, climb) in [
        ("a child fails", parts(), "MINE", "a completed, a/p failed, a/q skipped", "retry-with-feedback"),
        ("the hook fails", Outcome::fails("TOOL_ERROR"), "", "a completed", "retry-with-feedback"),
        ("the hook gives nothing", Outcome::output(json!(null)), "", "a completed", "retry-with-feedback"),
        ("a transient failure of the hook", Outcome::fails("NETWORK"), "", "a completed", "retry-same"),
        ("nodes that wait for each other", Outcome::output(cycle), "", "a failed", ""),
    ] {
        let mut world = of("  a: { call: x, recovery: { decompose: { call: split } } }\n");
        world.scripted("a", [Outcome::fails("INVALID_OUTPUT"), Outcome::output(json!("done"))]);
        if !child.is_empty() {
            world.scripted("a/p", [Outcome::fails(child)]);
        }
        world.script().decomposes("a", [hook]);
        world.runs();
        assert_eq!(world.states(), states, "{what}: {}", world.picture());
        let expected =
            if climb.is_empty() { "-, decompose-further".to_owned() } else { format!("-, decompose-further, {climb}") };
        assert_eq!(climbed(&world, "a"), expected, "{what}");
    }
}

#[test]
fn a_split_that_is_too_large_fails_whole() {
    // R-GROW-1
    let mut world = of(SPLIT);
    world.grows_to(3, 9).scripted("a", [Outcome::fails("INVALID_OUTPUT")]);
    world.script().decomposes("a", [parts()]);
    world.runs();
    // Split, told, and then the limit of three attempts is reached.
    assert_eq!(world.states(), "a failed, end skipped", "{}", world.picture());
    assert_eq!(
        (climbed(&world, "a").as_str(), world.executions("a")),
        ("-, decompose-further, retry-with-feedback", 2)
    );
}

#[test]
fn the_fallback_comes_after_two_strategies() {
    // R-REC-1, R-STATE-9
    let node = format!("  a: {{ {AGENT}, fallback: {{ n: 1 }}, recovery: {{ tiers: [haiku, sonnet] }} }}\n");
    let mut world = of(&node);
    world.scripted("a", [Outcome::fails("MODEL_ERROR")]);
    world.runs();
    assert_eq!(
        climbed(&world, "a"),
        "- haiku, escalate-model sonnet, retry-with-feedback sonnet, skip-with-fallback",
        "{}",
        world.picture()
    );
    assert_eq!((world.end().as_str(), world.run().is_tainted(world.node("a"))), ("completed 0 degraded", true));
    // One strategy is not enough, as the contract says.
    let mut world = of("  a: { call: x, fallback: 1, recovery: {} }\n");
    world.scripted("a", [Outcome::fails("TOOL_ERROR")]);
    world.runs();
    assert_eq!((world.states().as_str(), climbed(&world, "a").as_str()), ("a failed", "-, retry-with-feedback"));
}

#[test]
fn a_bad_grade_climbs_and_c_is_good_enough() {
    // R-REC-5, R-REC-1, R-REC-7
    let mut world = of(&format!("  a: {{ {AGENT}, evaluate: output }}\n"));
    world.scripted(
        "a",
        [
            Outcome::output(json!({ "grade": "F", "feedback": "name the source" })),
            Outcome::output(json!("D")),
            Outcome::output(json!("C")),
        ],
    );
    world.runs();
    assert_eq!(climbed(&world, "a"), "- haiku, retry-with-feedback haiku, escalate-model sonnet");
    assert_eq!(
        (world.end().as_str(), world.run().confidence(world.node("a")).unwrap().is_clean()),
        ("completed 0", true)
    );
}

#[test]
fn what_may_happen_once_is_not_done_again_by_itself() {
    // R-CLAIM-5
    let node = "  a: { call: x, semantics: at_most_once, evaluate: output, fallback: 1, recovery: { human: pause } }\n";
    let mut world = of(node);
    world.scripted("a", [Outcome::fails("TIMEOUT")]).starts().settles();
    assert_eq!(world.run().questions().next().unwrap().question.kind, QuestionKind::UnknownOutcome);
    let mut world = of(node);
    world.scripted("a", [Outcome::output(json!("F"))]).starts().settles();
    assert_eq!(world.run().questions().next().unwrap().question.kind, QuestionKind::Intervention);
    assert_eq!(world.executions("a"), 1);
}

#[test]
fn interruptions_are_no_rungs() {
    // R-CLAIM-4
    let mut world = of(&format!("  a: {{ {AGENT} }}\n"));
    world.scripted("a", [Outcome::Hangs]).starts();
    for _ in 0..3 {
        world.crashes().starts();
        assert_eq!(world.run().strategies(world.node("a")), []);
    }
    assert_eq!(
        (world.states().as_str(), climbed(&world, "a").as_str()),
        ("a running", "- haiku, - haiku, - haiku, - haiku")
    );
    world.crashes().starts();
    assert_eq!((world.states().as_str(), world.code("a").as_str()), ("a failed", "INTERRUPTED"));
}

#[test]
fn under_a_stop_nothing_is_tried_again_and_nobody_is_asked() {
    // R-EDGE-5, R-REC-1
    for (code, fallback, states) in [
        ("MODEL_ERROR", "", "a failed, b failed"),
        ("PERMISSION_DENIED", ", fallback: 1", "a failed, b failed"),
        ("INVALID_OUTPUT", ", fallback: 1", "a completed, b failed"),
    ] {
        let recovery = "recovery: { decompose: { call: split } }";
        let mut world = World::of(&format!(
            "workflow: w\npolicy: {{ fail_fast: true }}\nnodes:\n  a: {{ {AGENT}, {recovery}{fallback} }}\n  b: {{ call: x }}\n"
        ));
        world.starts().fails("b", "MINE").fails("a", code).settles();
        assert_eq!((world.states().as_str(), world.run().questions().count()), (states, 0), "{code}");
    }
}

#[test]
fn a_crash_anywhere_in_a_split_changes_nothing() {
    // R-GROW-2, R-JRN-2
    let play = |crash: Option<Crash>| {
        let text = format!("workflow: w\nnodes:\n{SPLIT}");
        let mut world = World::with(&text, WorldOptions { crash, ..WorldOptions::default() });
        world.scripted("a", [Outcome::fails("INVALID_OUTPUT"), Outcome::output(json!("done"))]);
        world.scripted("a/p", [Outcome::output(json!(1))]);
        world.scripted("a/q", [Outcome::fails("MINE")]);
        world.script().decomposes("a", [parts()]);
        world.starts().settles();
        if !world.is_alive() {
            world.resumes().settles();
        }
        let decomposed = world.entries().iter().filter(|entry| matches!(entry, Entry::Decomposing { .. })).count();
        let hooks = world.ledger.iter().filter(|done| done.stage == Stage::Decompose).count();
        assert!(decomposed == 1 && (1..=2).contains(&hooks), "{crash:?}: {}", world.picture());
        let output = world.run().output(world.node("a")).cloned();
        (world.operations(), (world.states(), world.end(), world.trace(), output))
    };
    let (operations, whole) = play(None);
    assert_eq!(whole.0, "a completed, a/p completed, a/q failed, end completed");
    for operation in 1..=operations {
        for after in [false, true] {
            let crash = Crash { operation, after };
            assert_eq!(play(Some(crash)).1, whole, "{crash:?}");
        }
    }
}
