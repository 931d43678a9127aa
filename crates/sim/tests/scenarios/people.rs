//! People: gates, answers, refusals.

use serde_json::{Value, json};
use sprag_core::codes::Code;
use sprag_core::file::Duration;
use sprag_core::hash::Digest;
use sprag_core::run::{
    CancelCause, Choice, Command, CommandId, Entry, NodeState, PausedBy, QuestionId, QuestionRef, Refused, RunStatus,
    Verb,
};
use sprag_sim::{Outcome, World};
use uuid::Uuid;

const HOUR: Duration = Duration::from_millis(3_600_000);

fn of(nodes: &str) -> World {
    World::of(&format!("workflow: w\nnodes:\n{nodes}"))
}

fn digest(world: &World) -> Digest {
    world.run().questions().last().unwrap().question.digest
}

fn answer(world: &mut World, by: &str, node: &str, choice: Choice) -> Result<(), Refused> {
    let question = QuestionRef::Node(node.to_owned());
    let digest = digest(world);
    world.wants(by, Verb::Answer { question, choice, digest, data: None })
}

#[test]
fn a_gate_alone_passes_rejects_or_times_out() {
    // R-GATE-1, R-STATE-10
    for (choice, states, ending) in [
        (Some(Choice::Approve), "gate completed, ship completed", "completed 0"),
        (Some(Choice::Reject), "gate cancelled, ship skipped", "failed 1"),
        (None, "gate cancelled, ship skipped", "failed 1"),
    ] {
        let mut world = of("  gate: { approve: { message: go?, timeout: 24h } }\n  ship: { call: x, needs: [gate] }\n");
        world.starts();
        assert_eq!(world.states(), "gate awaiting_approval, ship pending");
        if let Some(choice) = choice {
            world.answers("gate", choice).unwrap();
        }
        world.settles();
        assert_eq!((world.states().as_str(), world.end().as_str()), (states, ending));
        let code = match choice {
            Some(Choice::Approve) => "",
            Some(_) => "REJECTED",
            None => "APPROVAL_TIMEOUT",
        };
        let failure = world.ending().failure.map(|failure| failure.error.code.to_string());
        assert_eq!((world.code("gate").as_str(), failure.unwrap_or_default().as_str()), (code, code));
        assert_eq!(world.executions("gate"), 0);
    }
}

#[test]
fn a_gate_on_work_holds_its_output_back() {
    // R-GATE-1, R-STATE-1: awaiting_approval, approved, completed.
    let text = "  a: { call: x, approve: { message: 'ship {{ output }}?', show: 'it is {{ output }}', timeout: 1h } }
  b: { call: x, needs: [{ node: a, condition: output == 7 }] }
";
    for (choice, states) in [
        (Some(Choice::Approve), "a completed, b completed"),
        (Some(Choice::Reject), "a cancelled, b skipped"),
        (None, "a cancelled, b skipped"),
    ] {
        let mut world = of(text);
        world.starts().produces("a", json!(7));
        assert_eq!(world.states(), "a awaiting_approval, b pending");
        assert_eq!(world.run().questions().next().unwrap().question.shown, "ship 7?\n\nit is 7");
        if let Some(choice) = choice {
            // What a person fills in does not replace the work's own output.
            world.answers_with("a", choice, Some(json!(8))).unwrap();
        }
        world.settles();
        assert_eq!((world.states().as_str(), world.executions("a")), (states, 1));
        let node = world.node("a");
        let approved = world.entries().iter().position(|entry| *entry == Entry::Approved { node });
        assert_eq!(approved.is_some(), choice == Some(Choice::Approve));
        if let Some(at) = approved {
            assert!(matches!(&world.entries()[at + 1], Entry::Completed { node: of, .. } if *of == node));
        }
    }
}

#[test]
fn what_a_person_fills_in_is_the_output_of_a_pure_gate() {
    // R-GATE-1
    for (data, ran) in [(Some(json!({ "env": "prod" })), 1), (Some(json!({ "env": "test" })), 0)] {
        let mut world = of(
            "  gate: { approve: { message: where?, form: { type: object } } }\n  ship: { call: x, needs: [{ node: gate, condition: \"output.env == 'prod'\" }] }\n",
        );
        world.starts();
        assert_eq!(world.run().questions().next().unwrap().question.form, Some(json!({ "type": "object" })));
        world.answers_with("gate", Choice::Approve, data).unwrap();
        world.settles();
        assert_eq!((world.executions("ship"), world.end().as_str()), (ran, "completed 0"));
    }
    let mut world = of(
        "  gate: { approve: { message: go? } }\n  ship: { call: x, needs: [{ node: gate, condition: output is none }] }\n",
    );
    assert_eq!(world.starts().approves("gate").settles().executions("ship"), 1);
}

#[test]
fn only_approvers_may_answer() {
    // R-NODE-3, R-ASK-1
    let mut world = of("  gate: { approve: { message: go?, approvers: [ann, cem] } }\n");
    world.starts();
    for choice in [Choice::Approve, Choice::Reject] {
        let refused = answer(&mut world, "bob", "gate", choice).unwrap_err();
        assert_eq!(refused.facts().code, Code::NOT_AN_APPROVER);
        assert!(refused.to_string().contains("bob"));
    }
    assert_eq!(world.state("gate"), NodeState::AwaitingApproval);
    assert_eq!(answer(&mut world, "cem", "gate", Choice::Approve), Ok(()));
    assert_eq!(world.end(), "completed 0");
}

#[test]
fn a_question_expires_at_its_time_whether_or_not_somebody_owns_the_run() {
    // R-GATE-1, R-TIME-1: due times that passed while down fire at once.
    let text = "  gate: { approve: { message: go?, timeout: 24h } }\n";
    let mut world = of(text);
    world.starts().passes(Duration::from_millis(HOUR.millis * 24 - 1));
    assert_eq!(world.state("gate"), NodeState::AwaitingApproval);
    world.passes(Duration::from_millis(1));
    assert_eq!(world.state("gate"), NodeState::Cancelled);
    for crashes in [1, 5] {
        let mut world = of(text);
        world.starts();
        for _ in 0..crashes {
            world.crashes().passes(HOUR).starts();
        }
        assert_eq!(world.state("gate"), NodeState::AwaitingApproval);
        world.crashes().passes(Duration::from_millis(HOUR.millis * (24 - crashes)));
        assert_eq!(world.state("gate"), NodeState::AwaitingApproval);
        world.starts();
        assert_eq!(world.run().cancelled(world.node("gate")), Some(CancelCause::TimedOut));
        assert_eq!(world.end(), "failed 1");
    }
}

#[test]
fn an_answer_to_something_else_is_refused() {
    // R-ASK-1
    let mut world = of("  gate: { approve: { message: go? } }\n");
    world.starts();
    let question = QuestionRef::Node("gate".to_owned());
    let refused = world
        .wants(
            "ann",
            Verb::Answer { question, choice: Choice::Approve, digest: Digest::of(b"something else"), data: None },
        )
        .unwrap_err();
    assert_eq!((&refused, refused.facts().code), (&Refused::QuestionChanged(QuestionId(1)), Code::QUESTION_CHANGED));
    assert_eq!(world.state("gate"), NodeState::AwaitingApproval);
    assert_eq!(world.approves("gate").end(), "completed 0");
}

#[test]
fn the_digest_names_all_that_was_shown() {
    // R-ASK-1: run, node, attempt, text, output, form.
    let asks = |node: &str, gate: &str, output: Value, crashes: u32| {
        let mut world = of(&format!("  {node}: {{ call: x, approve: {{ message: go?{gate} }} }}\n"));
        world.starts();
        for _ in 0..crashes {
            world.crashes().starts();
        }
        world.produces(node, output);
        digest(&world)
    };
    let first = asks("a", "", json!(1), 0);
    assert_eq!(first, asks("a", "", json!(1), 0));
    for other in [
        asks("b", "", json!(1), 0),
        asks("a", ", show: more", json!(1), 0),
        asks("a", "", json!(2), 0),
        asks("a", ", form: { type: object }", json!(1), 0),
        asks("a", "", json!(1), 1),
    ] {
        assert_ne!(first, other);
    }
}

#[test]
fn the_first_answer_wins_and_later_ones_are_told_whose() {
    // R-ASK-1
    let mut world = of("  gate: { approve: { message: go? } }\n  slow: { call: x }\n");
    world.starts();
    assert_eq!(answer(&mut world, "ann", "gate", Choice::Approve), Ok(()));
    for choice in [Choice::Approve, Choice::Reject] {
        let refused = answer(&mut world, "bob", "gate", choice).unwrap_err();
        let by = Some(("ann".to_owned(), "approve"));
        assert_eq!(refused, Refused::AlreadyAnswered { question: QuestionId(1), by });
        assert_eq!(refused.facts().code, Code::ALREADY_ANSWERED);
        assert!(refused.to_string().contains("ann") && refused.to_string().contains("approve"), "{refused}");
    }
    assert_eq!(world.state("gate"), NodeState::Completed);
    // Closed by time: there is nobody to name.
    let mut world = of("  gate: { approve: { message: go?, timeout: 1h } }\n  slow: { call: x }\n");
    world.scripted("slow", [Outcome::Hangs]).starts().passes(HOUR);
    let refused = answer(&mut world, "bob", "gate", Choice::Approve).unwrap_err();
    assert_eq!(refused, Refused::AlreadyAnswered { question: QuestionId(1), by: None });
}

#[test]
fn a_choice_must_be_one_of_the_question() {
    // R-ASK-1
    let mut world = of("  gate: { approve: { message: go? } }\n");
    world.starts();
    for choice in [Choice::Retry, Choice::Provide, Choice::Skip, Choice::Fail] {
        assert_eq!(answer(&mut world, "ann", "gate", choice).unwrap_err().facts().code, Code::INVALID_CHOICE);
    }
    let mut world = of("  a: { call: x, semantics: at_most_once }\n");
    world.starts().fails("a", "NETWORK");
    for choice in [Choice::Approve, Choice::Reject] {
        assert_eq!(answer(&mut world, "ann", "a", choice).unwrap_err().facts().code, Code::INVALID_CHOICE);
    }
    assert_eq!(world.state("a"), NodeState::AwaitingApproval);
}

#[test]
fn a_question_that_does_not_exist_is_unknown() {
    // R-ASK-1
    let mut world = of("  gate: { approve: { message: go? } }\n  work: { call: x }\n");
    world.starts();
    for question in [
        QuestionRef::Node("work".to_owned()),
        QuestionRef::Node("nobody".to_owned()),
        QuestionRef::Id(QuestionId(2)),
        QuestionRef::Id(QuestionId(0)),
    ] {
        let digest = digest(&world);
        let refused = world.wants("ann", Verb::Answer { question, choice: Choice::Approve, digest, data: None });
        assert_eq!(refused.unwrap_err().facts().code, Code::UNKNOWN_QUESTION);
    }
    let (question, digest) = (QuestionRef::Id(QuestionId(1)), digest(&world));
    assert_eq!(world.wants("ann", Verb::Answer { question, choice: Choice::Approve, digest, data: None }), Ok(()));
}

fn command(number: u128, verb: Verb) -> Command {
    Command { id: CommandId(Uuid::from_u128(0xc0_0000 + number)), by: "ann".to_owned(), why: None, verb }
}

#[test]
fn a_command_sent_twice_counts_once() {
    // R-ASK-2, R-CLAIM-3
    let mut world = of("  a: { wait: { signal: go } }\n  b: { needs: [a], wait: { signal: go } }\n");
    world.starts();
    let go = command(1, Verb::Signal { name: "go".to_owned(), data: json!(1) });
    for _ in 0..3 {
        assert_eq!(world.sends(go.clone()), Ok(()));
        world.crashes().starts();
    }
    assert_eq!(world.states(), "a completed, b running");
    assert_eq!(world.sends(command(2, go.verb)), Ok(()));
    assert_eq!(world.end(), "completed 0");
}

#[test]
fn a_refused_command_leaves_an_entry_and_changes_nothing() {
    // R-ASK-2
    let mut world = of("  gate: { approve: { message: go? } }\n");
    world.starts();
    let before = world.entries().len();
    let digest = digest(&world);
    let refused = command(
        1,
        Verb::Answer { question: QuestionRef::Id(QuestionId(7)), choice: Choice::Approve, digest, data: None },
    );
    assert!(world.sends(refused.clone()).is_err());
    let entries = world.entries();
    assert_eq!(entries.len(), before + 1);
    let Some(Entry::Command(record)) = entries.last() else { panic!("{}", world.picture()) };
    assert_eq!(record.command, refused);
    assert_eq!(record.refused.as_ref().unwrap().code, Code::UNKNOWN_QUESTION);
    assert_eq!(world.state("gate"), NodeState::AwaitingApproval);
    // Sent again it adds nothing.
    drop(world.sends(refused));
    assert_eq!(world.entries().len(), before + 1);
}

#[test]
fn nothing_is_written_to_a_run_that_ended() {
    // R-RES-7
    let mut world = of("  gate: { approve: { message: go? } }\n");
    world.starts().approves("gate");
    let entries = world.entries();
    for verb in [
        Verb::Pause,
        Verb::Unpause,
        Verb::Cancel { kill: true },
        Verb::Signal { name: "go".to_owned(), data: Value::Null },
    ] {
        assert_eq!(world.wants("ann", verb), Err(Refused::Ended));
    }
    assert_eq!(answer(&mut world, "bob", "gate", Choice::Reject), Err(Refused::Ended));
    assert_eq!(world.entries(), entries);
    assert_eq!(Refused::Ended.facts().code, Code::RUN_ENDED);
    world.crashes().starts();
    assert_eq!(world.entries(), entries);
}

#[test]
fn a_gate_that_cannot_be_rendered_fails() {
    // R-GATE-1, R-ERR-1: unrecoverable, so no retry and no fallback.
    for gate in ["message: '{{ output.no.such }}'", "message: fine, show: '{{ output.no.such }}'"] {
        let mut world =
            of(&format!("  a: {{ call: x, retry: {{ max_attempts: 3 }}, fallback: 1, approve: {{ {gate} }} }}\n"));
        world.scripted("a", [Outcome::output(json!({}))]).runs();
        assert_eq!((world.code("a").as_str(), world.executions("a")), ("GATE_ERROR", 1), "{gate}");
        assert_eq!((world.end().as_str(), world.run().questions().count()), ("failed 1", 0));
    }
    let mut world = of("  r: { call: x }\n  g: { needs: [r], approve: { message: '{{ nodes.r.output.no.such }}' } }\n");
    world.runs();
    assert_eq!((world.code("g").as_str(), world.end().as_str()), ("GATE_ERROR", "failed 1"));
}

#[test]
fn a_paused_run_lets_running_nodes_end_and_starts_nothing() {
    // R-GATE-2, R-STATE-7
    let mut world = World::of(
        "workflow: w\npolicy: { scheduling: frontier, max_parallelism: 2 }
nodes:
  a: { call: x }
  b: { needs: [a], call: x }
  flaky: { call: x, retry: { max_attempts: 2 } }
  gate: { needs: [a], approve: { message: go? } }
  nap: { needs: [a], wait: { for: 1m } }
  more: { call: x, priority: -1 }
",
    );
    world.starts().fails("flaky", "NETWORK").pauses();
    assert_eq!(world.run().status(), RunStatus::Paused(PausedBy::Verb));
    assert_eq!(world.states(), "a running, b pending, flaky failed, gate pending, more running, nap pending");
    world.finishes("a").finishes("more").passes(HOUR);
    let held = "a completed, b ready, flaky ready, gate ready, more completed, nap ready";
    assert_eq!(world.states(), held);
    world.crashes().passes(HOUR).starts();
    assert_eq!((world.states().as_str(), world.run().status()), (held, RunStatus::Paused(PausedBy::Verb)));
    world.unpauses();
    assert_eq!(
        world.states(),
        "a completed, b running, flaky running, gate awaiting_approval, more completed, nap running"
    );
    assert_eq!(world.approves("gate").settles().end(), "completed 0");
}

#[test]
fn pausing_and_unpausing_twice_is_fine() {
    // R-GATE-2
    let mut world = World::dag("a -> b");
    world.starts().unpauses().pauses().pauses().finishes("a").unpauses().unpauses();
    assert_eq!(world.states(), "a completed, b running");
    assert_eq!(world.run().status(), RunStatus::Running);
}

#[test]
fn a_person_who_resumes_a_paused_run_unpauses_it() {
    // R-RES-1
    let mut world = World::dag("a -> b");
    world.starts().pauses().finishes("a").crashes().resumes();
    assert_eq!(world.states(), "a completed, b running");
    assert_eq!(world.run().status(), RunStatus::Running);
}

#[test]
fn a_run_is_paused_by_a_question_only_when_nothing_else_moves_it() {
    // R-STATE-7, R-GATE-2
    let question = RunStatus::Paused(PausedBy::Question);
    for (other, status) in [
        ("", question),
        ("  other: { call: x }\n", RunStatus::Running),
        ("  other: { wait: { for: 1h } }\n", RunStatus::Running),
        ("  other: { wait: { signal: go } }\n", question),
        ("  other: { approve: { message: too?, timeout: 1h } }\n", question),
    ] {
        let mut world = of(&format!("  gate: {{ approve: {{ message: go? }} }}\n{other}"));
        world.starts();
        assert_eq!(world.run().status(), status, "{other}");
    }
    let mut world = of("  gate: { approve: { message: go? } }\n  flaky: { call: x, retry: { max_attempts: 2 } }\n");
    world.starts().fails("flaky", "NETWORK");
    assert_eq!(world.run().status(), RunStatus::Running);
    world.settles();
    assert_eq!(world.run().status(), question);
    world.pauses();
    assert_eq!(world.run().status(), RunStatus::Paused(PausedBy::Verb));
    world.unpauses();
    assert_eq!(world.run().status(), question);
    assert_eq!(world.approves("gate").end(), "completed 0");
}
