//! Faults that were found by reading, and the stories that would have shown them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;
use sprag_core::definition::Definition;
use sprag_core::file::Duration;
use sprag_core::graph::NodeIndex;
use sprag_core::run::{
    Created, Effect, Entry, Input, Known, NodeError, OwnerId, PausedBy, Product, Report, Run, RunId, RunStatus, Stage,
    Taking, Timestamp, Usage, Verb, entries_from_json,
};
use sprag_engine::Driver;
use sprag_sim::{Outcome, World};
use sprag_store::Append;
use uuid::Uuid;

const SECOND: Duration = Duration::from_millis(1_000);
const MINUTE: Duration = Duration::from_millis(60_000);
const HOUR: Duration = Duration::from_millis(3_600_000);

#[test]
fn a_wait_that_is_over_stays_over_while_its_output_is_checked() {
    // R-STATE-10, R-STATE-8
    for text in [
        "workflow: w\nnodes:\n  a: { wait: { for: 1s }, output_schema: {} }\n",
        "workflow: w\nnodes:\n  a: { wait: { for: 1s } }\n  b: { call: x, needs: [a], input_schema: { a: {} } }\n",
    ] {
        let mut world = World::of(text);
        world.script().length("a", MINUTE);
        world.starts().passes(SECOND).passes(SECOND);
        assert!(matches!(world.run().status(), RunStatus::Running), "somebody is checking");
        world.settles();
        assert_eq!(world.end(), "completed 0");
        let produced = world.entries().iter().filter(|entry| matches!(entry, Entry::Produced { .. })).count();
        assert_eq!(produced, 1);
    }
}

#[test]
fn a_signal_is_taken_once_even_while_it_is_checked() {
    // R-SCHED-5, R-STATE-10
    let text = "workflow: w\npolicy: { deadline: 2h }\nnodes:\n  a: { wait: { signal: go }, timeout: 10s, output_schema: { type: integer } }\n";
    let mut world = World::of(text);
    world.script().length("a", MINUTE);
    world.starts().signals("go", json!(1));
    assert!(matches!(world.run().status(), RunStatus::Running), "a check is no wait for people");
    world.signals("go", json!("two")).passes(Duration::from_millis(11_000));
    assert_eq!(world.states(), "a running", "its patience ended with the signal");
    world.settles();
    assert_eq!(world.end(), "completed 0");
    assert_eq!(world.run().output(world.node("a")), Some(&json!(1)));
}

#[test]
fn an_interruption_that_somebody_only_claims_is_an_ordinary_failure() {
    // R-CLAIM-4, R-RETRY-1
    let mut world = World::of("workflow: w\nnodes:\n  a: { call: x }\n");
    world.scripted("a", [Outcome::fails("INTERRUPTED")]);
    world.starts().crashes().resumes().settles();
    assert_eq!(world.executions("a"), 2, "one was really interrupted");
    assert_eq!(world.end(), "failed 1");
}

#[test]
fn a_product_that_cannot_be_stored_as_it_is_fails_the_attempt() {
    // R-JRN-2
    let endless = Usage { usd: f64::INFINITY, ..Usage::default() };
    for outcome in [
        Outcome::patch(json!(null)),
        Outcome::patch(json!([1])),
        Outcome::Produces(Product { usage: Some(endless), ..Product::default() }),
        Outcome::Produces(Product { usage: Some(Usage { usd: -1.0, ..Usage::default() }), ..Product::default() }),
    ] {
        let mut world = World::of("workflow: w\ncontext: { r: 1 }\nnodes:\n  a: { call: x }\n");
        world.scripted("a", [outcome]);
        world.runs();
        assert_eq!(world.code("a"), "INVALID_OUTPUT");
        let mut stored = Vec::new();
        for commit in &world.journal() {
            let entries = entries_from_json(&commit.entries_to_json().unwrap()).unwrap();
            stored.extend(entries.into_iter().map(|entry| (commit.at, entry)));
        }
        let folded = stored.iter().map(|(at, entry)| (*at, entry));
        assert_eq!(Run::fold(Arc::new(world.definition().clone()), folded).unwrap(), *world.run());
    }
}

#[test]
fn work_that_happened_is_not_done_again_when_a_later_stage_fails() {
    // R-CLAIM-5, R-STATE-8
    let text = "workflow: w\nnodes:\n  a: { call: x, semantics: at_most_once, retry: { max_attempts: 3 }, evaluate: { run: ./grade } }\n";
    let mut world = World::of(text);
    world.starts().finishes("a");
    world.reports("a", Report::Failed(Stage::Evaluate, NodeError::new(Known::NETWORK, "x"))).settles();
    assert_eq!(world.executions("a"), 1);
    assert_eq!(world.end(), "failed 1");
}

#[test]
fn an_edge_whose_condition_has_no_value_handles_nothing() {
    // R-EDGE-1, R-EDGE-3
    let text = "workflow: w\nparams: { p: { type: string, default: x } }\nnodes:\n  a: { call: x }\n  h: { call: x, continue_on_error: true, needs: [{ node: a, when: on_failure, condition: \"params.p > 1\" }] }\n";
    let mut world = World::of(text);
    world.scripted("a", [Outcome::fails("TOOL_ERROR")]);
    world.runs();
    assert_eq!(world.states(), "a failed, h failed");
    assert_eq!(world.end(), "failed 1");
}

#[test]
fn none_failed_blames_an_edge_that_does_not_hold() {
    // R-STATE-5
    let text = "workflow: w\nnodes:\n  z: { call: x }\n  a: { call: x, needs: [{ node: z, when: on_failure }] }\n  b: { call: x }\n  t: { call: x, join: none_failed, needs: [{ node: a, when: always }, { node: b, condition: \"false\" }] }\n";
    let mut world = World::of(text);
    world.runs();
    assert!(world.trace().contains("TaskSkipped t condition_not_met b"), "{}", world.trace());
}

#[test]
fn a_report_about_a_wait_is_not_believed() {
    // R-CLAIM-3
    let mut world = World::of("workflow: w\nnodes:\n  a: { wait: { for: 1h } }\n");
    world.starts();
    world.offer(Input::Report { node: NodeIndex(0), attempt: 1, report: Report::Produced(Product::default()) });
    while world.drain() {}
    assert_eq!(world.states(), "a running");
}

#[test]
fn a_deadline_that_passed_while_nobody_owned_the_run_decides() {
    // R-TIME-1, R-EDGE-5
    for more in ["", ", max_interruptions: 0"] {
        let text = format!(
            "workflow: w\npolicy: {{ deadline: 1m{more} }}\nnodes:\n  a: {{ call: x, fallback: 1 }}\n  b: {{ call: x }}\n"
        );
        let mut world = World::of(&text);
        world.scripted("a", [Outcome::Hangs]);
        world.scripted("b", [Outcome::Hangs]);
        world.starts().crashes().passes(HOUR).starts();
        assert_eq!(world.states(), "a failed, b failed");
        assert_eq!(world.code("b"), "DEADLINE_EXCEEDED");
        assert_eq!(world.end(), "failed 6");
    }
}

#[test]
fn a_retry_that_is_held_does_not_use_up_the_deadline() {
    // R-TIME-1, R-STATE-7
    let text = "workflow: w\npolicy: { deadline: 1m }\nnodes:\n  a: { call: x, retry: { max_attempts: 2, initial_delay: 50s, max_delay: 50s } }\n";
    let mut world = World::of(text);
    world.starts().fails("a", "TOOL_ERROR").pauses();
    world.passes(HOUR);
    assert_eq!(world.states(), "a ready");
    assert_eq!(world.run().status(), RunStatus::Paused(PausedBy::Verb));
    world.unpauses().settles();
    assert_eq!(world.end(), "completed 0");
}

fn created(definition: &Definition) -> Created {
    Created::first(RunId::default(), definition, BTreeMap::new())
}

const NOW: Timestamp = Timestamp::from_millis(1_000);

/// A run of one node that is over, as its two commits.
fn over() -> (Arc<Definition>, Append, Append) {
    let definition = Arc::new(World::dag("a").definition().clone());
    let mut driver = Driver::create(Arc::clone(&definition), created(&definition), OwnerId::default(), 4);
    let begun = driver.drain(NOW).unwrap().unwrap();
    driver.offer(Input::Report { node: NodeIndex(0), attempt: 1, report: Report::Produced(Product::default()) });
    let ended = driver.drain(NOW).unwrap().unwrap();
    (definition, begun, ended)
}

#[test]
fn whoever_folds_a_run_anew_claims_it_anew() {
    // R-CLAIM-3, R-CLAIM-4
    let definition = Arc::new(World::dag("a").definition().clone());
    let owner = OwnerId::default();
    let mut first = Driver::create(Arc::clone(&definition), created(&definition), owner, 4);
    let append = first.drain(NOW).unwrap().unwrap();
    first.durable(append.commit.last());
    let work = |attempt| Effect::Execute { node: NodeIndex(0), attempt, stage: Stage::Work };
    assert_eq!(first.effects(), [work(1)]);
    let mut again =
        Driver::resume(definition, RunId::default(), [&*append.commit], owner, Taking::Automatic, 4).unwrap();
    assert_eq!(again.effects(), [], "nothing before the claim");
    let claim = again.drain(NOW).unwrap().unwrap();
    assert_eq!(again.effects(), [], "nothing before it is durable");
    again.durable(claim.commit.last());
    assert_eq!(again.effects(), [work(2)], "an attempt that nobody works on is not started again");
}

#[test]
fn the_live_deadline_is_the_folded_one() {
    // R-JRN-2
    let text = "workflow: w\npolicy: { deadline: 1h }\nnodes:\n  a: { call: x }\n";
    let definition = Arc::new(World::of(text).definition().clone());
    let mut driver = Driver::create(Arc::clone(&definition), created(&definition), OwnerId::default(), 4);
    let append = driver.drain(Timestamp::from_millis(1_005)).unwrap().unwrap();
    let entries = append.commit.entries.iter().map(|entry| (append.commit.at, entry));
    assert_eq!(Run::fold(definition, entries).unwrap(), *driver.run());
}

#[test]
fn a_run_that_is_over_still_wants_to_be_finished_after_a_crash() {
    let (definition, begun, ended) = over();
    let other = OwnerId(Uuid::from_u128(4));
    let commits = [&*begun.commit, &*ended.commit];
    let mut again = Driver::resume(definition, RunId::default(), commits, other, Taking::Automatic, 4).unwrap();
    assert!(again.drain(NOW).unwrap().is_none(), "an ended run is immutable");
    assert_eq!(again.effects(), [Effect::Finish]);
}

#[test]
fn a_journal_with_a_gap_or_of_another_run_is_refused() {
    // R-CP-5
    let (definition, begun, ended) = over();
    let resume = |commits: Vec<&sprag_core::run::Commit>, id| {
        Driver::resume(Arc::clone(&definition), id, commits, OwnerId::default(), Taking::Automatic, 4).is_ok()
    };
    assert!(resume(vec![&begun.commit, &ended.commit], RunId::default()));
    assert!(!resume(vec![&ended.commit], RunId::default()));
    assert!(!resume(vec![&begun.commit, &begun.commit], RunId::default()));
    assert!(!resume(vec![&begun.commit, &ended.commit], RunId(Uuid::from_u128(9))));
}

#[test]
fn a_signal_that_no_node_waits_for_is_refused() {
    let mut world = World::of("workflow: w\nnodes:\n  a: { wait: { signal: freeze-over } }\n");
    world.starts();
    let verb = Verb::Signal { name: "freeze_over".into(), data: json!(1) };
    let refused = world.wants("ann", verb).unwrap_err();
    assert_eq!(refused.to_string(), "no node waits for a signal `freeze_over`");
    let facts = refused.facts();
    assert_eq!((facts.code.as_str(), facts.help.as_deref()), ("UNKNOWN_SIGNAL", Some("did you mean `freeze-over`?")));
    world.signals("freeze-over", json!(1)).settles();
    assert_eq!(world.end(), "completed 0");
}
