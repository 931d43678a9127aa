//! In place, linked or forked (`R-RES-1`, `R-RES-4`, `R-RES-7`).

use sprag_core::plan::{Closing, Mode, Request, ResumeOptions, Resumed, Way, fork, no_task_hashes, plan, way};
use sprag_core::run::{KeptEnd, Usage};

use super::support::{brief, everything, named, no_retry, past, planned, reason, usual};
use crate::load::support::valid;

const CHAIN: &str =
    "workflow: w\nnodes: { a: { noop: }, b: { noop:, needs: [a] }, c: { noop:, needs: [b] }, x: { noop: } }\n";

#[test]
fn what_would_move_a_settled_node_closes_the_run() {
    // R-RES-1
    let definition = valid(CHAIN);
    let mut past = past(&definition, "a=completed b=running c=pending x=failed");
    assert_eq!(way(&past, &ResumeOptions::default(), Resumed::default()), Way::Linked, "it has ended");
    past.ending = None;
    let none = Resumed::default();
    for (options, resumed, expected) in [
        (ResumeOptions::default(), none, Way::InPlace),
        (no_retry(), none, Way::InPlace),
        (everything(), none, Way::Closed(Closing::ReExecuteCompleted)),
        (named(&["a"]), none, Way::Closed(Closing::Named("a".into()))),
        (ResumeOptions::default(), Resumed { from_checkpoint: true, ..none }, Way::Closed(Closing::Checkpoint)),
        (ResumeOptions::default(), Resumed { workflow: true, ..none }, Way::Closed(Closing::Workflow)),
    ] {
        assert_eq!(way(&past, &options, resumed), expected);
    }
    past.nodes.get_mut("a").unwrap().result = None;
    let closed = way(&past, &ResumeOptions::default(), none);
    assert_eq!(closed, Way::Closed(Closing::ResultMissing));
    assert_eq!(Closing::ResultMissing.to_string(), "the result of a completed node is missing");
}

#[test]
fn in_place_final_failures_and_skips_stand() {
    // R-RES-1
    let definition = valid(CHAIN);
    let past = past(&definition, "a=completed b=running c=pending x=failed");
    let options = ResumeOptions::default();
    let (definition, mode) = (&definition, Mode::Incremental);
    let request = Request {
        definition,
        past: Some(&past),
        mode,
        options: &options,
        in_place: true,
        params: None,
        task_hashes: &no_task_hashes,
    };
    let plan = plan(&request).unwrap();
    assert_eq!(brief(&plan), "=a =x +b +c");
    assert_eq!(reason(&plan, "x"), "it stays as it ended: failed");
}

#[test]
fn what_waits_for_a_person_goes_on_waiting() {
    // R-RES-5
    let definition = valid(CHAIN);
    let mut past = past(&definition, "a=completed b=awaiting_approval c=pending x=completed");
    past.nodes.get_mut("b").unwrap().result = past.nodes["a"].result.clone();
    let plan = planned(&definition, &past, &usual()).unwrap();
    assert_eq!(brief(&plan), "=a =x ?b +c");
    assert_eq!(plan.completed_results, ["a", "x"], "what is not approved is no result");
    assert_eq!((plan.start_from_wave, plan.nodes_to_execute.len()), (Some(1), 1));
    assert!(matches!(plan.carried(&past).nodes["b"].end, KeptEnd::AwaitingApproval { result: Some(_), .. }));
    // The approval was of something else, so it is asked for again.
    let again = planned(&definition, &past, &named(&["a"])).unwrap();
    assert_eq!(brief(&again), "+a =x +b +c");
}

#[test]
fn a_fork_begins_at_its_node() {
    // R-RES-4, R-CLAIM-6
    let definition = valid(CHAIN);
    let mut past = past(&definition, "a=completed b=completed c=completed x=pending");
    past.nodes.get_mut("a").unwrap().generation = 2;
    let plan = fork(&definition, &past, Some("b"), &no_task_hashes).unwrap();
    assert_eq!(brief(&plan), "=a +x +b +c");
    assert_eq!(reason(&plan, "b"), "the fork begins here");
    assert_eq!(plan.previous_token_usage, Usage::default(), "its budget is its own");
    assert!(plan.carried(&past).generations.is_empty(), "its lineage is its own");
    assert_eq!(brief(&fork(&definition, &past, None, &no_task_hashes).unwrap()), "=a +x =b =c");
    assert!(fork(&definition, &past, Some("nope"), &no_task_hashes).is_err());
}

#[test]
fn generations_follow_completions() {
    // R-CLAIM-6
    let definition = valid(CHAIN);
    let mut past = past(&definition, "a=completed b=completed c=failed x=lost");
    past.nodes.get_mut("a").unwrap().generation = 1;
    past.nodes.get_mut("c").unwrap().generation = 4;
    let generations = |options| {
        let carried = planned(&definition, &past, &options).unwrap().carried(&past);
        ["a", "b", "c", "x"].map(|id| carried.generations.get(id).copied().unwrap_or_default())
    };
    assert_eq!(generations(ResumeOptions::default()), [1, 0, 4, 1], "a result that is lost was there once");
    assert_eq!(generations(named(&["b"])), [1, 1, 4, 1]);
    assert_eq!(generations(everything()), [2, 1, 4, 1]);
}
