//! Work that may happen at most once, when nobody knows whether it did.

use serde_json::json;
use sprag_core::run::{Choice, Entry, Known, NodeError, NodeState, QuestionKind, RunStatus, Stage};
use sprag_sim::{Outcome, World};

const NODES: &str = "  b: { call: x, needs: [{ node: a, condition: \"output == 'x'\" }] }
  s: { call: x, needs: [{ node: a, when: skip }] }
  z: { call: x, needs: [{ node: a, when: on_failure }] }
";

/// `a` happens at most once; `b` follows if its output is `x`, `s` if a person skipped it, `z` if it failed.
fn once(more: &str) -> World {
    World::of(&format!("workflow: w\nnodes:\n  a: {{ call: x, semantics: at_most_once{more} }}\n{NODES}"))
}

/// The attempt ends in a way that says nothing about whether it happened.
fn ends_unknown(world: &mut World, how: &str) {
    world.starts();
    if how == "INTERRUPTED" {
        world.crashes().starts();
    } else {
        world.fails("a", how);
    }
}

const UNKNOWN: [&str; 3] = ["INTERRUPTED", "TIMEOUT", "NETWORK"];

fn probes(world: &World) -> usize {
    world.ledger.iter().filter(|done| done.stage == Stage::Probe).count()
}

#[test]
fn an_unknown_outcome_goes_to_a_person_and_never_to_a_blind_retry() {
    // R-CLAIM-5, R-STATE-9, R-ASK-1
    for how in UNKNOWN {
        for (choice, data, states, ending) in [
            (Choice::Retry, None, "a completed, b completed, s skipped, z skipped", "completed 0"),
            (
                Choice::Provide,
                Some(json!("x")),
                "a completed, b completed, s skipped, z skipped",
                "completed 0 degraded",
            ),
            (Choice::Skip, None, "a cancelled, b skipped, s completed, z skipped", "completed 0"),
            (Choice::Fail, None, "a failed, b skipped, s skipped, z completed", "completed 0"),
        ] {
            let mut world = once(", retry: { max_attempts: 5 }");
            ends_unknown(&mut world, how);
            assert_eq!((world.state("a"), world.executions("a")), (NodeState::AwaitingApproval, 1), "{how}");
            assert!(matches!(world.run().status(), RunStatus::Paused(_)));
            let kind = world.run().questions().next().unwrap().question.kind;
            assert_eq!(
                (kind, kind.choices()),
                (QuestionKind::UnknownOutcome, &[Choice::Retry, Choice::Provide, Choice::Skip, Choice::Fail][..],)
            );
            world.scripted("a", [Outcome::output(json!("x"))]);
            world.answers_with("a", choice, data).unwrap();
            world.settles();
            assert_eq!((world.states().as_str(), world.end().as_str()), (states, ending), "{how} {choice:?}");
            assert_eq!(world.executions("a"), if choice == Choice::Retry { 2 } else { 1 });
            assert_eq!(world.code("a"), if choice == Choice::Fail { how } else { "" });
        }
    }
}

#[test]
fn a_person_may_let_it_be_tried_again_although_no_retry_is_left() {
    // R-STATE-9: retry is `failed -> ready`.
    let mut world = once("");
    ends_unknown(&mut world, "TIMEOUT");
    world.answers("a", Choice::Retry).unwrap();
    let node = world.node("a");
    assert_eq!((world.state("a"), world.run().attempt(node)), (NodeState::Running, 2));
    let moves: Vec<_> = world
        .entries()
        .iter()
        .filter_map(|entry| match entry {
            Entry::Asked(asked) if asked.node == Some(node) => Some("asked"),
            Entry::Failed { node: of, due: Some(_), .. } if *of == node => Some("failed"),
            Entry::Ready { node: of, .. } if *of == node => Some("ready"),
            Entry::Started { node: of, .. } if *of == node => Some("running"),
            _ => None,
        })
        .collect();
    assert_eq!(moves, ["ready", "running", "asked", "failed", "ready", "running"]);
}

#[test]
fn each_unknown_attempt_is_a_question_of_its_own() {
    // R-CLAIM-5, R-ASK-1: no limit of interruptions decides for the person.
    let mut world = once("");
    world.starts();
    for round in 1..=6 {
        world.crashes().starts();
        assert_eq!(world.run().questions().count(), round);
        world.answers("a", Choice::Retry).unwrap();
        assert_eq!(world.state("a"), NodeState::Running);
    }
}

#[test]
fn an_answer_that_provides_needs_the_output() {
    // R-ASK-1
    let mut world = once("");
    ends_unknown(&mut world, "NETWORK");
    let refused = world.answers("a", Choice::Provide).unwrap_err();
    assert_eq!(refused.facts().code, sprag_core::codes::Code::INVALID_CHOICE);
    assert_eq!(world.state("a"), NodeState::AwaitingApproval);
}

#[test]
fn other_failures_are_known_and_retried_as_usual() {
    // R-CLAIM-5, R-RETRY-1
    for code in ["TOOL_ERROR", "UNAVAILABLE", "RATE_LIMITED", "INVALID_OUTPUT", "MINE"] {
        let mut world = once(", retry: { max_attempts: 2 }");
        world.scripted("a", [Outcome::fails(code), Outcome::output(json!("x"))]).runs();
        assert_eq!((world.executions("a"), world.end().as_str()), (2, "completed 0"), "{code}");
        assert_eq!(world.run().questions().count(), 0);
    }
}

#[test]
fn the_outcome_is_known_once_the_work_is_done() {
    // R-STATE-8, R-CLAIM-5: a crash in a later stage leaves nothing unknown.
    let mut world = once(", output_schema: { type: string }");
    world.starts().produces("a", json!("x")).crashes().starts().settles();
    assert_eq!((world.executions("a"), world.run().questions().count()), (1, 0));
    assert_eq!(world.end(), "completed 0");
}

#[test]
fn a_probe_that_says_it_happened_completes_the_node() {
    // R-CLAIM-5
    for how in UNKNOWN {
        let mut world = once(", probe: { run: ./did-it.sh }");
        world.script().probes("a", [Ok(Some(json!("x")))]);
        ends_unknown(&mut world, how);
        assert_eq!((world.state("a"), probes(&world)), (NodeState::Running, 1));
        world.settles();
        assert_eq!(world.states(), "a completed, b completed, s skipped, z skipped", "{how}");
        assert_eq!((world.executions("a"), world.end().as_str()), (1, "completed 0"));
    }
}

#[test]
fn what_a_probe_found_passes_the_later_stages() {
    // R-STATE-8, R-SCHED-5
    let mut world = once(", probe: { run: ./did-it.sh }, output_schema: { type: string }, approve: { message: ok? }");
    world.script().probes("a", [Ok(Some(json!("x")))]);
    ends_unknown(&mut world, "TIMEOUT");
    world.settles();
    assert_eq!(world.state("a"), NodeState::AwaitingApproval);
    assert_eq!(world.ledger.iter().filter(|done| done.stage == Stage::Check).count(), 1);
    world.approves("a").settles();
    assert_eq!((world.executions("a"), world.end().as_str()), (1, "completed 0"));
}

#[test]
fn a_probe_that_says_it_did_not_happen_leaves_it_to_the_retries() {
    // R-CLAIM-5, R-CLAIM-4
    for (how, retry, executions, ending) in [
        ("INTERRUPTED", "", 2, "completed 0"),
        ("TIMEOUT", "", 1, "completed 0"),
        ("TIMEOUT", ", retry: { max_attempts: 2 }", 2, "completed 0"),
        ("NETWORK", ", retry: { max_attempts: 2 }", 2, "completed 0"),
        ("NETWORK", ", retry: { max_attempts: 2, never: [NETWORK] }", 1, "completed 0"),
    ] {
        let mut world = once(&format!(", probe: {{ run: ./did-it.sh }}{retry}"));
        world.script().probes("a", [Ok(None)]);
        ends_unknown(&mut world, how);
        world.settles();
        assert_eq!((world.executions("a"), world.end().as_str()), (executions, ending), "{how} {retry}");
        assert_eq!(world.code("a"), if executions == 1 { how } else { "" });
        assert_eq!(world.run().questions().count(), 0);
    }
}

#[test]
fn a_probe_that_fails_asks_a_person() {
    // R-CLAIM-5
    for how in UNKNOWN {
        let mut world = once(", probe: { run: ./did-it.sh }, retry: { max_attempts: 5 }");
        world.script().probes("a", [Err(NodeError::new(Known::TOOL_ERROR, "no idea"))]);
        ends_unknown(&mut world, how);
        world.settles();
        assert_eq!((world.state("a"), world.executions("a"), probes(&world)), (NodeState::AwaitingApproval, 1, 1));
        assert_eq!(world.run().questions().next().unwrap().question.kind, QuestionKind::UnknownOutcome);
        world.answers("a", Choice::Fail).unwrap();
        world.settles();
        assert_eq!((world.code("a").as_str(), world.end().as_str()), (how, "completed 0"));
    }
}

#[test]
fn a_crash_during_the_probe_repeats_the_probe() {
    // R-CLAIM-5
    for how in UNKNOWN {
        let mut world = once(", probe: { run: ./did-it.sh }");
        world.script().probes("a", [Ok(Some(json!("x")))]);
        ends_unknown(&mut world, how);
        for count in 1..=6 {
            assert_eq!((probes(&world), world.executions("a")), (count, 1), "{how}");
            world.crashes().starts();
        }
        world.settles();
        assert_eq!((world.executions("a"), world.end().as_str()), (1, "completed 0"));
    }
}
