//! Runs that go on from others: what is kept, what runs, and that nobody can tell in the end (`R-RES-1` to `R-RES-7`).

use serde_json::{Value, json};
use sprag_core::plan::{FailureClass, Fate, ResumeOptions};
use sprag_core::run::{Choice, EndStatus, Entry, Input, NodeState, Product, RunId, Usage, Verb, idempotency_key};
use sprag_sim::{Outcome, World};
use uuid::Uuid;

fn usual() -> ResumeOptions {
    ResumeOptions::default()
}

fn named(nodes: &[&str]) -> ResumeOptions {
    ResumeOptions { re_execute_nodes: nodes.iter().map(|node| (*node).to_owned()).collect(), ..usual() }
}

fn boundaries(world: &World) -> Vec<String> {
    let told = world.entries().into_iter().filter_map(|entry| match entry {
        Entry::WaveCompleted { phase, wave } => Some(format!("{phase}.{wave}")),
        Entry::PhaseCompleted { phase } => Some(format!("phase {phase}")),
        _ => None,
    });
    told.collect()
}

fn key(world: &World, node: &str) -> Uuid {
    let run = world.run();
    idempotency_key(run.created().unwrap().first_run, node, run.generation(world.node(node)))
}

fn output(world: &World, node: &str) -> Value {
    world.run().output(world.node(node)).cloned().unwrap_or_default()
}

#[test]
fn waves_that_are_done_are_not_entered_again() {
    // R-RES-2, R-RES-3, R-RES-7
    let mut world = World::dag("a -> b -> c -> d -> e");
    world.scripted("a", [Outcome::patch(json!({ "x": 1 }))]);
    world.scripted("c", [Outcome::output(json!("made"))]);
    world.scripted("d", [Outcome::fails("MINE"), Outcome::output(json!(4))]);
    assert_eq!(world.runs().status, EndStatus::Failed);
    let mut next = world.linked(&usual());
    next.runs();
    assert_eq!((next.order().as_str(), next.end().as_str()), ("d e", "completed 0"), "{}", next.picture());
    assert_eq!(boundaries(&next), ["0.3", "0.4"]);
    let run = next.run();
    assert_eq!(run.context_of(next.node("d")), json!({ "x": 1 }));
    let created = run.created().unwrap();
    assert_eq!((created.previous_run, created.retry_count), (world.run().id(), 1));
    assert_eq!(Some(created.first_run), world.run().id());
    assert_eq!((run.counts().completed, run.counts().reused), (5, 3));
    assert!(run.is_reused(next.node("a")) && !run.is_reused(next.node("d")));
    assert_eq!(
        next.trace(),
        "TaskArtifactsRestored a\nTaskArtifactsRestored b\nTaskArtifactsRestored c\nTaskExecuted d\nTaskExecuted e\n"
    );
}

#[test]
fn a_kept_failure_stays_and_the_rest_runs() {
    // R-RES-2: with `--no-retry-failed` a failed node stays failed and its dependents skipped.
    let text = "workflow: w\npolicy: { fail_fast: true, max_node_failures: 1 }\nnodes:\n  a: { call: x }\n  b: { call: x, needs: [a] }\n  c: { call: x }\n  d: { call: x, needs: [c] }\n";
    let mut world = World::of(text);
    world.scripted("a", [Outcome::fails("MINE")]);
    world.runs();
    assert_eq!(world.states(), "a failed, b skipped, c completed, d skipped", "{}", world.picture());
    let mut next = world.linked(&ResumeOptions { retry_failed: false, ..usual() });
    next.runs();
    assert_eq!(next.order(), "d", "{}", next.picture());
    assert_eq!(next.states(), "a failed, b skipped, c completed, d completed");
    assert_eq!((next.end().as_str(), next.code("a").as_str()), ("failed 1", "MINE"));
    let mut tried = world.linked(&usual());
    tried.scripted("a", [Outcome::output(json!(1))]).runs();
    assert_eq!((tried.order().as_str(), tried.end().as_str()), ("a b d", "completed 0"));
}

#[test]
fn a_kept_failure_is_handled_by_whoever_handled_it() {
    // R-EDGE-3
    let text = "workflow: w\nnodes:\n  a: { call: x }\n  h: { call: x, needs: [{ node: a, when: on_failure }] }\n  \
                z: { call: x }\n  y: { call: x, needs: [z] }\n";
    let keeps = ResumeOptions { retry_failed: false, ..usual() };
    let mut world = World::of(text);
    world.scripted("a", [Outcome::fails("MINE")]);
    world.scripted("z", [Outcome::fails("MINE"), Outcome::output(json!(1))]);
    world.runs();
    let mut next = world.linked(&ResumeOptions { re_execute_nodes: vec!["z".into()], ..keeps.clone() });
    next.runs();
    assert_eq!(next.order(), "z y", "{}", next.picture());
    assert_eq!(
        (next.states().as_str(), next.end().as_str()),
        ("a failed, h completed, y completed, z completed", "completed 0")
    );
    // One whose condition did not hold handles nothing, although it ran for another reason.
    let text = text.replace(
        "h: { call: x, needs: [{ node: a, when: on_failure }] }",
        "h: { call: x, join: any, needs: [{ node: a, when: on_failure, condition: \"1 == 2\" }, b] }\n  b: { call: x }",
    );
    let mut world = World::of(&text);
    world.scripted("a", [Outcome::fails("MINE")]);
    assert_eq!(world.runs().exit, 1);
    let mut next = world.linked(&keeps);
    next.runs();
    assert_eq!((next.order().as_str(), next.end().as_str()), ("", "failed 1"), "{}", next.picture());
}

#[test]
fn a_person_names_what_runs_again() {
    // R-RES-2, R-CLAIM-6: a re-executed node gets another key, one that never completed keeps its own.
    let mut world = World::dag("a -> b -> c, a -> d");
    world.scripted("c", [Outcome::fails("MINE"), Outcome::output(json!(1))]);
    world.runs();
    let before: Vec<_> = ["a", "b", "c", "d"].iter().map(|node| key(&world, node)).collect();
    let mut next = world.linked(&named(&["b"]));
    next.runs();
    assert_eq!((next.order().as_str(), next.end().as_str()), ("b c", "completed 0"));
    let after: Vec<_> = ["a", "b", "c", "d"].iter().map(|node| key(&next, node)).collect();
    let same: Vec<_> = before.iter().zip(&after).map(|(before, after)| before == after).collect();
    assert_eq!(same, [true, false, true, true]);
    let mut all = next.linked(&ResumeOptions { re_execute_completed: true, ..usual() });
    all.runs();
    assert_eq!(all.order(), "a b d c");
    assert_ne!(key(&all, "b"), key(&next, "b"));
    assert_eq!(all.run().generation(all.node("b")), 2);
}

#[test]
fn a_lost_result_is_made_again() {
    // R-RES-2, R-RES-7: no node ever starts with null for a kept dependency.
    let mut world = World::dag("a -> b -> c");
    world.scripted("c", [Outcome::fails("MINE"), Outcome::output(json!(1))]);
    world.runs();
    let mut past = world.past();
    past.nodes.get_mut("b").unwrap().result = None;
    let request = sprag_core::plan::Request {
        definition: world.definition(),
        past: Some(&past),
        mode: sprag_core::plan::Mode::Incremental,
        options: &usual(),
        in_place: false,
        params: None,
        task_hashes: &sprag_core::plan::no_task_hashes,
    };
    let plan = sprag_core::plan::plan(&request).unwrap();
    let new = sprag_core::plan::NewRun::new(RunId(Uuid::from_u128(99)), world.definition());
    let created = sprag_core::plan::link(&past, &plan, new);
    let mut next = world.goes_on(world.run().shared_definition(), created);
    next.runs();
    assert_eq!((next.order().as_str(), next.end().as_str()), ("b c", "completed 0"));
}

const PHASES: &str = "workflow: w\nphases:\n  - { name: RESEARCH, nodes: { read: { call: x }, note: { needs: [read], call: x } } }\n  \
                      - { name: PLAN, nodes: { outline: { call: x } } }\n  - { name: BUILD, generate: { call: x } }\n  \
                      - { name: RELEASE, nodes: { ship: { call: x } } }\n";

fn build() -> Outcome {
    let body = json!({ "nodes": {
        "compile": { "call": "x" }, "test": { "call": "x", "needs": ["compile"] }, "lint": { "call": "x" },
    } });
    Outcome::Produces(Product { patch: Some(json!({ "built": true }).into()), ..Product::of(body) })
}

#[test]
fn a_failed_phase_is_resumed_at_its_own_boundary() {
    // R-PHASE-1, R-GROW-2: a resumed phase keeps its generated graph and its completed nodes.
    let mut world = World::of(PHASES);
    world.scripted("read", [Outcome::output(json!("read"))]);
    world.scripted("BUILD", [build()]);
    world.scripted("BUILD/compile", [Outcome::patch(json!({ "compiled": 1 }))]);
    world.scripted("BUILD/test", [Outcome::fails("MINE"), Outcome::fails("MINE"), Outcome::output(json!("ok"))]);
    world.runs();
    let mut next = world.linked(&usual());
    next.runs();
    assert_eq!((next.order().as_str(), next.end().as_str()), ("BUILD/test", "failed 1"), "{}", next.picture());
    assert_eq!(boundaries(&next), ["2.0"]);
    let mut last = next.linked(&usual());
    last.runs();
    assert_eq!((last.order().as_str(), last.end().as_str()), ("BUILD/test ship", "completed 0"), "{}", last.picture());
    assert_eq!(boundaries(&last), ["2.0", "phase 2", "3.0", "phase 3"]);
    assert_eq!(last.run().context(), json!({ "built": true, "compiled": 1 }));
    assert_eq!(last.run().created().unwrap().retry_count, 2);
    assert_eq!(key(&world, "BUILD/test"), key(&last, "BUILD/test"));
    // One step more: everything is kept whole, and one child of the phase is named.
    let mut named = last.linked(&named(&["BUILD/compile"]));
    named.runs();
    assert_eq!(named.order(), "BUILD/compile BUILD/test ship", "{}", named.picture());
    assert_eq!(named.run().context(), json!({ "built": true, "compiled": 1 }));
}

const MAP: &str = "workflow: w\nnodes:\n  list: { call: x }\n  each: { needs: [list], map: { over: \"nodes.list.output\", node: { call: x } } }\n  sum: { call: x, needs: [each] }\n";

#[test]
fn of_a_thousand_items_only_those_that_failed_run_again() {
    // R-GROW-2
    let mut world = World::of(MAP);
    world.scripted("list", [Outcome::output((0..1_000).collect::<Vec<_>>().into())]);
    for item in 0..1_000 {
        let done = Outcome::output(json!(item * 2));
        let outcomes = if item % 10 == 3 { vec![Outcome::fails("MINE"), done] } else { vec![done] };
        world.scripted(&format!("each/{item}"), outcomes);
    }
    world.runs();
    let mut next = world.linked(&usual());
    next.folds(false).runs();
    assert_eq!((next.ledger.len(), next.end().as_str()), (101, "completed 0"));
    assert_eq!(next.past().nodes["each"].result, {
        let items: Vec<_> = (0..1_000).map(|item| json!(item * 2)).collect();
        Some(sprag_core::run::KeptResult::of(Product::of(items.into())))
    });
    assert_eq!(next.run().counts().reused, 901);
    // Another list is other work.
    let mut other = world.linked(&named(&["list"]));
    other.folds(false).scripted("list", [Outcome::output(json!([1, 2, 3]))]).runs();
    assert_eq!(other.order(), "list each/0 each/1 each/2 sum");
}

#[test]
fn a_loop_goes_on_in_the_round_that_failed() {
    // R-GROW-2
    let text = "workflow: w\nnodes:\n  again: { loop: { until: \"output.b == 3\", max: 5, workflow: { nodes: { a: { call: x }, b: { call: x, needs: [a] } } } } }\n  z: { call: x, needs: [again] }\n";
    let mut world = World::of(text);
    world.scripted("again/1/b", [Outcome::output(json!(1))]);
    world.scripted("again/2/b", [Outcome::fails("MINE"), Outcome::output(json!(2))]);
    world.scripted("again/3/b", [Outcome::output(json!(3))]);
    world.runs();
    assert_eq!(world.state("again"), NodeState::Failed);
    let mut next = world.linked(&usual());
    next.runs();
    assert_eq!(next.order(), "again/2/b again/3/a again/3/b z", "{}", next.picture());
    assert_eq!(next.end(), "completed 0");
    // A run that ends before the loop begins loses nothing of it.
    let mut ends = world.linked(&usual());
    ends.starts().cancels();
    let mut third = ends.linked(&usual());
    third.runs();
    assert_eq!(third.order(), "again/2/b again/3/a again/3/b z", "{}", third.picture());
}

#[test]
fn a_sub_workflow_keeps_what_is_done_at_any_depth() {
    // R-GROW-2
    let text = "workflow: w\nnodes:\n  first: { call: x }\n  sub:\n    needs: [first]\n    workflow: { nodes: { a: { call: x }, deep: { needs: [a], workflow: { nodes: { b: { call: x }, c: { call: x, needs: [b] } } } }, m: { needs: [a], map: { over: \"[1, 2]\", node: { call: x } } } } }\n  z: { call: x, needs: [sub] }\n";
    let mut world = World::of(text);
    world.scripted("sub/deep/c", [Outcome::fails("MINE"), Outcome::output(json!(1))]);
    world.scripted("sub/m/0", [Outcome::output(json!("zero"))]);
    world.runs();
    let mut next = world.linked(&usual());
    next.runs();
    assert_eq!((next.order().as_str(), next.end().as_str()), ("sub/deep/c z", "completed 0"), "{}", next.picture());
    assert_eq!(
        next.past().find("sub/m").unwrap().result.as_ref().unwrap().product.output,
        json!(["zero", null]).into()
    );
    // A run that ends before it begins hands on what it was handed.
    let mut ends = world.linked(&named(&["z"]));
    ends.starts().cancels();
    let mut third = ends.linked(&usual());
    third.runs();
    assert_eq!(third.order(), "sub/deep/c z", "{}", third.picture());
    assert_eq!(key(&third, "sub/deep/c"), key(&world, "sub/deep/c"));
}

#[test]
fn what_awaits_approval_is_asked_again_and_not_done_again() {
    // R-RES-5
    let text = "workflow: w\nnodes:\n  a: { call: x, approve: { message: \"ok {{ output }}?\" } }\n  b: { call: x, needs: [a] }\n  c: { call: x }\n";
    let mut world = World::of(text);
    world.scripted(
        "a",
        [Outcome::Produces(Product { patch: Some(json!({ "p": 1 }).into()), ..Product::of(json!("fine")) })],
    );
    world.starts().settles();
    assert_eq!(world.state("a"), NodeState::AwaitingApproval);
    let mut next = world.linked(&named(&["c"]));
    next.starts().settles();
    assert_eq!((next.order().as_str(), next.state("a")), ("c", NodeState::AwaitingApproval), "{}", next.picture());
    let mut third = next.linked(&usual());
    third.starts().settles().approves("a").settles();
    assert_eq!((third.order().as_str(), third.end().as_str()), ("b", "completed 0"), "{}", third.picture());
    assert_eq!((third.run().context(), output(&third, "a")), (json!({ "p": 1 }), Value::Null));
    assert_eq!(third.past().nodes["a"].result.as_ref().unwrap().product.output, json!("fine").into());
}

#[test]
fn what_nobody_knows_is_asked_again() {
    // R-CLAIM-5: never a blind retry, in a linked run neither.
    let text = "workflow: w\nnodes:\n  pay: { call: x, semantics: at_most_once }\n  b: { call: x, needs: [pay] }\n  c: { call: x }\n";
    let mut world = World::of(text);
    world.scripted("pay", [Outcome::fails("TIMEOUT")]);
    world.starts().settles();
    assert_eq!(world.state("pay"), NodeState::AwaitingApproval);
    let mut next = world.linked(&named(&["c"]));
    next.starts().settles();
    assert_eq!((next.order().as_str(), next.state("pay")), ("c", NodeState::AwaitingApproval), "{}", next.picture());
    next.answers_with("pay", Choice::Provide, Some(json!("paid"))).unwrap();
    next.settles();
    assert_eq!((next.order().as_str(), next.end().as_str()), ("c b", "completed 0 degraded"));
    // Cut off in the middle of it, by whatever.
    for probe in ["", ", probe: { run: look }"] {
        let text = text.replace("semantics: at_most_once", &format!("semantics: at_most_once{probe}"));
        let mut world = World::of(&text);
        world.scripted("pay", [Outcome::Hangs]);
        world.script().probes("pay", [Ok(Some(json!("paid")))]);
        world.starts().settles();
        let running = world.linked(&named(&["c"]));
        world.cancels();
        for mut next in [running, world.linked(&usual())] {
            next.starts().settles();
            assert_eq!(next.executions("pay"), 0, "{}", next.picture());
            let expected = if probe.is_empty() { NodeState::AwaitingApproval } else { NodeState::Completed };
            assert_eq!(next.state("pay"), expected, "{}", next.picture());
        }
    }
}

#[test]
fn work_that_may_have_happened_is_asked_about_although_its_definition_changed() {
    // R-CLAIM-5, R-RES-6
    let text = "workflow: w\nnodes:\n  pay: { call: x, semantics: at_most_once }\n  b: { call: x, needs: [pay] }\n";
    let mut world = World::of(text);
    world.scripted("pay", [Outcome::Hangs]);
    world.starts().settles();
    world.cancels();
    let mut next = world.linked_to(&text.replace("pay: { call: x", "pay: { call: y"), &usual());
    next.starts().settles();
    assert_eq!((next.executions("pay"), next.states().as_str()), (0, "b pending, pay awaiting_approval"));
    next.answers("pay", Choice::Skip).unwrap();
    assert_eq!(next.executions("pay"), 0);
}

#[test]
fn a_changed_file_keeps_what_did_not_change() {
    // R-RES-6
    let mut world = World::dag("a -> b -> c, a -> d -> e");
    world.scripted("e", [Outcome::fails("MINE"), Outcome::output(json!(1))]);
    world.runs();
    let text = sprag_sim::dag("a -> b -> c, a -> d -> e, c -> new").replace("b: { call: world", "b: { call: other");
    let mut next = world.linked_to(&text, &usual());
    next.runs();
    assert_eq!((next.order().as_str(), next.end().as_str()), ("b c e new", "completed 0"), "{}", next.picture());
}

#[test]
fn a_fork_is_a_lineage_of_its_own() {
    // R-RES-4, R-CLAIM-6
    let mut world = World::dag("a -> b -> c");
    world.scripted("a", [Outcome::output(json!("kept"))]);
    world.runs();
    let mut fork = world.forked(Some("b"));
    fork.runs();
    assert_eq!((fork.order().as_str(), fork.end().as_str()), ("b c", "completed 0"));
    let run = fork.run();
    let created = run.created().unwrap();
    assert_eq!((created.forked_from, created.previous_run, created.retry_count), (world.run().id(), None, 0));
    assert_eq!((created.first_run, created.spent), (created.run, None));
    assert_ne!(key(&fork, "c"), key(&world, "c"));
}

#[test]
fn a_run_is_closed_for_the_one_that_goes_on() {
    // R-RES-1, R-FAIL-1
    let mut world = World::dag("a -> b -> c");
    world.scripted(
        "a",
        [Outcome::Produces(Product {
            usage: Some(Usage { tokens_in: 5, tokens_out: 2, usd: 0.5 }),
            ..Product::of(json!(1))
        })],
    );
    world.scripted("b", [Outcome::Hangs, Outcome::output(json!(1))]);
    world.starts().settles();
    world.wants("ann", Verb::Pause).unwrap();
    let mut next = world.linked(&named(&["a"]));
    let by = RunId(Uuid::from_u128(77));
    world.twice_told(Input::Supersede { by });
    let ending = world.ending();
    assert_eq!((ending.status, ending.exit, ending.superseded_by), (EndStatus::Failed, 1, Some(by)));
    assert_eq!(FailureClass::of(&Fate::Ended(&ending)), Some(FailureClass::System));
    assert_eq!(world.states(), "a completed, b cancelled, c cancelled");
    assert_eq!(world.aborted(), "b 1");
    next.scripted("b", [Outcome::output(json!(1))]).runs();
    assert_eq!((next.order().as_str(), next.end().as_str()), ("a b c", "completed 0"));
    assert_eq!(next.run().created().unwrap().spent, Some(Usage { tokens_in: 5, tokens_out: 2, usd: 0.5 }));
}

#[test]
fn a_split_task_goes_on_with_its_parts() {
    // R-GROW-2: the parts that are done stay done, and neither the task nor its split is tried again.
    let text = "workflow: w\nnodes:\n  a: { call: x, recovery: { max_attempts: 2, human: fail, decompose: { call: split } } }\n  z: { call: x, needs: [a] }\n";
    let mut world = World::of(text);
    world.scripted("a", [Outcome::fails("INVALID_OUTPUT")]);
    let parts = json!({ "nodes": { "p": { "call": "x" }, "q": { "call": "x", "needs": ["p"] } } });
    world.script().decomposes("a", [Outcome::output(parts)]);
    world.scripted("a/q", [Outcome::fails("MINE"), Outcome::output(json!("parts"))]);
    world.runs();
    assert_eq!(world.states(), "a failed, a/p completed, a/q failed, z skipped", "{}", world.picture());
    let mut next = world.linked(&usual());
    next.runs();
    assert_eq!((next.order().as_str(), next.end().as_str()), ("a/q z", "completed 0"), "{}", next.picture());
}

#[test]
fn a_person_is_asked_again_how_to_go_on() {
    // R-RES-5, R-REC-4, R-REC-7: and what was made of a bad result is trusted as little as before.
    let text = "workflow: w\npolicy: { scheduling: frontier }\nnodes:\n  a: { call: x, recovery: { human: pause, max_attempts: 1 } }\n  b: { call: x, fallback: 1 }\n  c: { call: x, needs: [b] }\n  d: { call: x, needs: [c, a] }\n";
    let mut world = World::of(text);
    world.scripted("a", [Outcome::fails("SCOPE_VIOLATION")]);
    world.scripted("b", [Outcome::fails("MINE")]);
    world.starts().settles();
    assert_eq!(world.state("a"), NodeState::AwaitingApproval, "{}", world.picture());
    let mut next = world.linked(&usual());
    next.starts().settles();
    assert_eq!((next.order().as_str(), next.state("a")), ("", NodeState::AwaitingApproval), "{}", next.picture());
    for node in ["b", "c"] {
        let trust = |world: &World| world.run().confidence(world.node(node));
        assert_eq!(trust(&next), trust(&world), "{node}");
    }
    assert!(next.run().is_tainted(next.node("b")) && !next.run().is_tainted(next.node("c")));
    next.answers_with("a", Choice::Provide, Some(json!(1))).unwrap();
    next.settles();
    assert_eq!((next.order().as_str(), next.end().as_str()), ("d", "completed 0 degraded"));
}

#[test]
fn what_failed_deep_inside_a_node_that_completed_all_the_same_is_not_done_again() {
    // R-RES-2, R-GROW-2
    let mut world = World::of(
        "workflow: w\nnodes:\n  w: { workflow: { nodes: { m: { continue_on_error: true, map: { over: \"[0]\", node: { call: x } } } } } }\n  z: { call: x }\n",
    );
    world.scripted("w/m/0", [Outcome::fails("MINE")]).scripted("z", [Outcome::fails("MINE")]);
    world.runs();
    assert_eq!(world.states(), "w completed, w/m failed, w/m/0 failed, z failed");
    let mut next = world.linked(&ResumeOptions::default());
    next.runs();
    assert_eq!(next.order(), "z", "{}", next.picture());
}
