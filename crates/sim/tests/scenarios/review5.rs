//! What a review of recovery, planning and growth found.

use serde_json::json;
use sprag_core::plan::ResumeOptions;
use sprag_core::run::{
    Choice, Created, Entry, NodeState, Product, QuestionKind, QuestionRef, Usage, Verb, idempotency_key,
};
use sprag_sim::{Outcome, World};

const AGENT: &str = "agent: { provider: fake, script: [], model: haiku, prompt: x }";

fn usual() -> ResumeOptions {
    ResumeOptions::default()
}

fn usd(usd: f64) -> Usage {
    Usage { usd, ..Usage::default() }
}

fn costs(sum: f64) -> Outcome {
    Outcome::Produces(Product { usage: Some(usd(sum)), ..Product::of(json!("done")) })
}

fn prices(created: &mut Created) {
    created.model_maximum.insert("haiku".into(), usd(0.6));
}

#[test]
fn what_a_probe_found_waits_for_its_gate_and_not_for_the_old_question() {
    // R-CLAIM-5, R-GATE-1: the outcome is known, so nobody may be offered to do the work again.
    let text = "workflow: w\nnodes:\n  pay: { call: x, semantics: at_most_once, probe: { run: look }, approve: { message: ok } }\n  c: { call: x }\n";
    let mut world = World::of(text);
    world.scripted("pay", [Outcome::Hangs]);
    world.script().probes("pay", [Ok(Some(json!("paid")))]);
    world.starts().settles().cancels();
    let mut next = world.linked(&usual());
    next.starts().settles();
    assert_eq!((next.executions("pay"), next.state("pay")), (0, NodeState::AwaitingApproval), "{}", next.picture());
    let kinds: Vec<_> = next.run().questions().map(|asked| asked.question.kind).collect();
    assert_eq!(kinds, [QuestionKind::Gate], "{}", next.picture());
}

#[test]
fn parts_that_completed_before_the_ladder_went_on_are_another_generation_when_they_come_again() {
    // R-CLAIM-6: re-executing a completed node starts a new generation.
    let text = "workflow: w\nnodes:\n  a: { call: x, recovery: { max_attempts: 3, human: fail, decompose: { call: split } } }\n";
    let mut world = World::of(text);
    world.scripted("a", [Outcome::fails("INVALID_OUTPUT")]);
    let parts = json!({ "nodes": { "p": { "call": "x" }, "q": { "call": "x", "needs": ["p"] } } });
    world.script().decomposes("a", [Outcome::output(parts)]);
    world.scripted("a/q", [Outcome::fails("MINE")]);
    world.runs();
    assert_eq!((world.executions("a"), world.executions("a/p")), (2, 1), "{}", world.picture());
    let mut next = world.linked(&usual());
    next.runs();
    assert_eq!(next.executions("a/p"), 1, "{}", next.picture());
    let key = |world: &World| {
        let run = world.run();
        idempotency_key(run.created().unwrap().first_run, "a/p", run.generation(world.node("a/p")))
    };
    assert_ne!(key(&world), key(&next));
}

#[test]
fn many_who_wait_for_money_are_not_written_down_again_with_every_payment() {
    // R-REC-6: what one attempt did not use pays for one more, not for all that wait.
    let text = format!(
        "workflow: w\npolicy: {{ budget: {{ usd: 9.0 }} }}\nnodes:\n  s: {{ call: x }}\n  each: {{ needs: [s], map: {{ over: nodes.s.output, node: {{ {AGENT} }} }} }}\n"
    );
    let mut world = World::of(&text);
    world.begins_with(prices).scripted("s", [Outcome::output(json!((0..300).collect::<Vec<_>>()))]);
    for item in 0..300 {
        world.scripted(&format!("each/{item}"), [costs(0.001)]);
    }
    world.starts().settles();
    assert_eq!(world.end(), "completed 0");
    let withheld = world.entries().iter().filter(|entry| matches!(entry, Entry::Withheld { .. })).count();
    assert!(withheld <= 900, "{withheld}");
}

#[test]
fn the_budget_of_a_sub_workflow_counts_the_whole_lineage() {
    // R-REC-6: budgets survive resume and count the whole lineage.
    let text = format!(
        "workflow: w\nnodes:\n  sub: {{ workflow: {{ policy: {{ budget: {{ usd: 1.0, on_exceeded: fail }} }}, nodes: {{ a: {{ {AGENT} }}, b: {{ {AGENT}, needs: [a] }} }} }} }}\n"
    );
    let mut world = World::of(&text);
    world.begins_with(prices).scripted("sub/a", [costs(0.6)]).scripted("sub/b", [costs(0.6)]);
    world.runs();
    assert_eq!((world.code("sub/b").as_str(), world.end().as_str()), ("BUDGET_EXCEEDED", "failed 1"));
    let mut next = world.linked(&usual());
    next.begins_with(prices).runs();
    assert_eq!((next.executions("sub/b"), next.end().as_str()), (0, "failed 1"), "{}", next.picture());
}

#[test]
fn what_a_person_allowed_more_holds_in_the_next_run_too() {
    // R-REC-6, R-RES-7: budgets survive resume; what was spent counts on, and so does what was allowed.
    let text = format!(
        "workflow: w\npolicy: {{ budget: {{ usd: 0.5 }} }}\nnodes:\n  a: {{ {AGENT} }}\n  b: {{ call: x, needs: [a] }}\n  c: {{ {AGENT}, needs: [b] }}\n"
    );
    let mut world = World::of(&text);
    world.begins_with(prices).scripted("a", [costs(0.6)]).scripted("c", [costs(0.6)]);
    world.scripted("b", [Outcome::fails("MINE"), Outcome::output(json!(1))]);
    world.starts();
    let open = world.run().questions().next().cloned().unwrap().question;
    let answer = Verb::Answer {
        question: QuestionRef::Id(open.id),
        choice: Choice::Raise,
        digest: open.digest,
        data: Some(json!({ "usd": 1.0 })),
    };
    world.wants("ann", answer).unwrap();
    world.settles();
    assert_eq!(world.end(), "failed 1", "{}", world.picture());
    let left = world.run().budget_left().unwrap().usd.unwrap();
    assert!((left - 0.9).abs() < 1e-9);
    let mut next = world.linked(&usual());
    next.begins_with(prices).starts().settles();
    assert_eq!(next.end(), "completed 0", "{}", next.picture());
}

#[test]
fn a_sub_workflow_allows_no_more_interruptions_than_usual() {
    // R-GROW-2: sub-policies narrow, never widen, the run's; the run's is 3 where it says nothing.
    let text =
        "workflow: w\nnodes:\n  sub: { workflow: { policy: { max_interruptions: 50 }, nodes: { a: { call: x } } } }\n";
    let mut world = World::of(text);
    world.scripted("sub/a", [Outcome::Hangs]).starts();
    for _ in 0..4 {
        world.crashes();
        world.starts();
    }
    assert_eq!(world.states(), "sub failed, sub/a failed", "{}", world.picture());
}

#[test]
fn a_strict_run_goes_on_strictly() {
    // R-RES-7, R-REC-7: what the run was told carries over, unless flags say otherwise.
    let text = "workflow: w\nnodes:\n  a: { call: x, fallback: 1 }\n  b: { call: x, needs: [a] }\n";
    let mut world = World::of(text);
    world.begins_with(|created| created.strict = true).scripted("a", [Outcome::fails("MINE")]).runs();
    assert_eq!(world.code("b"), "MISSING_DEPENDENCY");
    let mut next = world.linked(&usual());
    next.runs();
    assert_eq!((next.executions("b"), next.code("b").as_str()), (0, "MISSING_DEPENDENCY"), "{}", next.picture());
}

#[test]
fn attempts_that_a_closed_run_cuts_off_are_paid_for() {
    // R-REC-6, R-RES-1: interrupted, the reservation counts as spent, also where the run is closed for another one.
    let text =
        format!("workflow: w\npolicy: {{ budget: {{ usd: 1.0 }} }}\nnodes:\n  a: {{ {AGENT} }}\n  b: {{ call: x }}\n");
    let mut world = World::of(&text);
    world.begins_with(prices).scripted("a", [Outcome::Hangs]).starts().settles();
    let next = world.linked(&ResumeOptions { re_execute_nodes: vec!["b".into()], ..usual() });
    world.cancels();
    let after = world.linked(&usual());
    for mut next in [next, after] {
        next.begins_with(prices).starts();
        assert!((next.run().lineage_spent().usd - 0.6).abs() < 1e-9, "{}", next.picture());
    }
}

#[test]
fn parts_of_an_earlier_run_that_the_ladder_left_behind_are_not_kept() {
    // R-CLAIM-6, R-RES-2: what the plan says is kept is not executed, and what is executed again has another key.
    let text = "workflow: w\nnodes:\n  a: { call: x, recovery: { max_attempts: 3, human: fail, decompose: { call: split } } }\n";
    let mut world = World::of(text);
    world.scripted("a", [Outcome::fails("INVALID_OUTPUT")]);
    let parts = json!({ "nodes": { "p": { "call": "x" }, "q": { "call": "x", "needs": ["p"] } } });
    world.script().decomposes("a", [Outcome::output(parts)]);
    world.scripted("a/q", [Outcome::Hangs]);
    world.starts().settles().cancels();
    // The second run goes on with the parts, and then leaves them behind.
    let mut second = world.linked(&usual());
    second.scripted("a/q", [Outcome::fails("MINE")]).runs();
    assert_eq!((second.executions("a/p"), second.executions("a")), (0, 1), "{}", second.picture());
    let plan = second.planned(second.definition(), &usual());
    assert!(!plan.completed_results.contains(&"a/p".to_owned()), "{:?}", plan.completed_results);
    let mut third = second.linked(&usual());
    third.runs();
    assert_eq!(third.executions("a/p"), 1, "{}", third.picture());
    assert_eq!((second.run().generation(second.node("a/p")), third.run().generation(third.node("a/p"))), (0, 1));
}

#[test]
fn many_graphs_that_stop_cost_no_more_than_they_hold() {
    // R-EDGE-5, R-EDGE-6: each of four thousand sub-workflows stops by its own rule; nobody looks at all the others.
    let text = "workflow: w\nnodes:\n  s: { call: x }\n  each: { needs: [s], map: { over: nodes.s.output, node: { workflow: { policy: { max_node_failures: 1 }, nodes: { a: { call: x }, b: { call: x, needs: [a] } } } } } }\n";
    let mut world = World::of(text);
    world.scripted("s", [Outcome::output(json!((0..4_000).collect::<Vec<_>>()))]);
    for item in 0..4_000 {
        world.scripted(&format!("each/{item}/a"), [Outcome::fails("MINE")]);
    }
    world.starts().settles();
    assert_eq!((world.end().as_str(), world.run().counts().failed), ("failed 1", 8_001));
}

#[test]
fn the_money_of_who_is_skipped_is_there_for_who_waits() {
    // R-REC-6: nobody is asked for money that is there.
    let text = format!(
        "workflow: w\npolicy: {{ max_parallelism: 1, budget: {{ usd: 1.0 }} }}\nnodes:\n  a: {{ {AGENT}, priority: 9 }}\n  sub: {{ priority: 9, workflow: {{ policy: {{ fail_fast: true, scheduling: frontier }}, nodes: {{ f: {{ call: x, priority: 8 }}, g: {{ {AGENT}, priority: 7 }} }} }} }}\n  z: {{ {AGENT} }}\n"
    );
    let mut world = World::of(&text);
    world.begins_with(prices).scripted("a", [costs(0.1)]).scripted("z", [costs(0.1)]);
    world.scripted("sub/f", [Outcome::fails("MINE")]);
    world.starts().settles();
    assert_eq!(world.end(), "failed 1", "{}", world.picture());
    assert_eq!(world.state("z"), NodeState::Completed);
}
