//! Which nodes run again, rule by rule (`R-RES-2`).

use std::collections::BTreeMap;

use serde_json::json;
use sprag_core::definition::Definition;
use sprag_core::hash::Digest;
use sprag_core::plan::{Mode, PlanError, Request, ResumeOptions, no_task_hashes, plan};
use sprag_core::run::{KeptEnd, NodeError, NodeState, Taint};

use super::support::{brief, everything, named, no_retry, node, past, planned, reason, run, usual};
use crate::load::support::valid;

fn chain() -> Definition {
    valid(
        "workflow: w\nnodes: { a: { noop: }, b: { noop:, needs: [a] }, c: { noop:, needs: [b] }, d: { noop:, needs: [c] } }\n",
    )
}

/// a → b → d, a → c → d, and e alone.
fn diamond() -> Definition {
    valid(
        "workflow: w\nnodes: { a: { noop: }, b: { noop:, needs: [a] }, c: { noop:, needs: [a] }, d: { noop:, needs: [b, c] }, e: { noop: } }\n",
    )
}

#[test]
fn it_starts_at_the_wave_that_failed() {
    // R-RES-2, R-RES-3: waves 0 to 2 are done and not entered again.
    let definition = chain();
    let plan =
        planned(&definition, &past(&definition, "a=completed b=completed c=completed d=failed"), &usual()).unwrap();
    assert_eq!(brief(&plan), "=a =b =c +d");
    assert_eq!((plan.start_from_phase, plan.start_from_wave), (Some(0), Some(3)));
    assert_eq!(plan.nodes_to_execute, ["d"]);
    assert_eq!(plan.completed_results, ["a", "b", "c"]);
    assert_eq!(plan.saved.nodes, 3);
    assert!((plan.saved.seconds - 4.5).abs() < 1e-9 && (plan.saved.usd - 1.5).abs() < 1e-9);
    assert_eq!(plan.saved.tokens, 45);
}

#[test]
fn states_decide() {
    // R-RES-2, R-RES-5
    let definition = diamond();
    let default = ResumeOptions::default();
    for (states, options, expected) in [
        ("a=completed b=failed c=completed d=after:b e=completed", &default, "=a =e +b =c +d"),
        ("a=completed b=failed c=completed d=after:b e=completed", &no_retry(), "=a =e =b =c =d"),
        ("a=completed b=retrying c=completed d=pending e=completed", &no_retry(), "=a =e +b =c +d"),
        ("a=completed b=running c=ready d=pending e=completed", &default, "=a =e +b +c +d"),
        ("a=completed b=cancelled c=completed d=cancelled e=completed", &default, "=a =e +b =c +d"),
        ("a=completed b=completed c=completed d=completed e=completed", &default, "=a =e =b =c =d"),
        ("a=completed b=completed c=completed d=completed e=completed", &everything(), "+a +e +b +c +d"),
        ("a=completed b=completed c=completed d=completed e=completed", &named(&["b"]), "=a =e +b =c +d"),
        ("a=completed b=completed c=completed d=completed e=completed", &named(&["a"]), "+a =e +b +c +d"),
        // A skip is decided again only if something before it runs.
        ("a=completed b=unmet c=completed d=unmet e=failed", &default, "=a +e =b =c =d"),
        ("a=failed b=unmet c=after:a d=after:b e=completed", &default, "+a =e +b +c +d"),
        // Its result is missing, so it runs, and so does all that read it.
        ("a=completed b=lost c=completed d=completed e=completed", &default, "=a =e +b =c +d"),
        ("a=completed b=awaiting_approval c=completed d=pending e=completed", &default, "=a =e ?b =c +d"),
        ("a=failed b=awaiting_approval c=completed d=pending e=completed", &default, "+a =e +b +c +d"),
        // A failed node after one that runs has other inputs, so its old failure says nothing.
        ("a=lost b=failed c=completed d=after:b e=completed", &no_retry(), "+a =e +b +c +d"),
    ] {
        let plan = planned(&definition, &past(&definition, states), options).unwrap();
        assert_eq!(brief(&plan), expected, "{states}");
    }
}

#[test]
fn a_stopped_run_does_not_succeed_by_doing_nothing() {
    // R-RES-2: what the stop skipped was never decided, so it runs, even with nothing before it to run.
    let definition = diamond();
    let past = past(&definition, "a=completed b=completed c=completed d=stopped e=failed");
    let plan = planned(&definition, &past, &no_retry()).unwrap();
    assert_eq!(brief(&plan), "=a =e =b =c +d");
    assert_eq!(reason(&plan, "d"), "it was skipped because the run stopped");
    assert_eq!(plan.start_from_wave, Some(2));
}

#[test]
fn a_kept_failure_still_bars_what_depends_on_it() {
    // R-RES-2: with `--no-retry-failed` a failed node stays failed and its dependents skipped.
    let definition = valid(
        "workflow: w\nnodes: { a: { noop: }, b: { noop:, needs: [a] }, c: { noop:, needs: [b] }, h: { noop:, needs: [{ node: a, when: on_failure }] }, k: { noop:, continue_on_error: true }, l: { noop:, needs: [k] } }\n",
    );
    let past = past(&definition, "a=failed b=stopped c=stopped h=stopped k=failed l=stopped");
    let plan = planned(&definition, &past, &no_retry()).unwrap();
    assert_eq!(brief(&plan), "=a =k =b +h +l =c");
    assert_eq!(reason(&plan, "b"), "it will be skipped: `a` does not let it run");
    assert_eq!(reason(&plan, "c"), "it will be skipped: `b` does not let it run");
    assert!(plan.completed_results.is_empty());
    let carried = plan.carried(&past);
    assert_eq!(carried.nodes.keys().collect::<Vec<_>>(), ["a", "k"], "the run itself decides the rest");
    assert!(matches!(carried.nodes["a"].end, KeptEnd::Failed(Some(_))));
}

#[test]
fn task_hashes_prove_and_disprove() {
    // R-RES-2, R-MODE-1
    let definition = valid(
        "workflow: w\nnodes: { a: { run: x, outputs: [o] }, b: { run: y, needs: [a], cache: true }, c: { run: z, needs: [b] } }\n",
    );
    let hash = |text: &str| Digest::of(text.as_bytes());
    let mut past = past(&definition, "a=completed b=completed c=completed");
    for (id, node) in &mut past.nodes {
        node.task_hash = Some(hash(id));
    }
    let make = |past: &_, known: &[(&str, &str)], options: &ResumeOptions| {
        let known: BTreeMap<String, Digest> = known.iter().map(|(id, text)| ((*id).to_owned(), hash(text))).collect();
        let task_hashes = |id: &str, _: &dyn Fn(&str) -> bool| known.get(id).copied();
        let mode = Mode::Incremental;
        let definition = &definition;
        let request = Request {
            definition,
            past: Some(past),
            mode,
            options,
            in_place: false,
            params: None,
            task_hashes: &task_hashes,
        };
        plan(&request).unwrap()
    };
    let default = ResumeOptions::default();
    assert_eq!(brief(&make(&past, &[], &default)), "=a =b =c", "unknown is not changed");
    assert_eq!(brief(&make(&past, &[("a", "a"), ("b", "b"), ("c", "c")], &default)), "=a =b =c");
    assert_eq!(brief(&make(&past, &[("a", "other")], &default)), "+a +b +c");
    assert_eq!(brief(&make(&past, &[("c", "other")], &default)), "=a =b =c", "it declares nothing, so nobody asks");
    let proven = make(&past, &[("a", "other"), ("b", "b")], &default);
    assert_eq!(brief(&proven), "+a =b +c", "what is proven is kept, and shields nobody behind it");
    assert_eq!(reason(&proven, "b"), "`a` runs before it, but its task hash is the same");
    assert_eq!(reason(&proven, "c"), "it comes after `a`, which runs");
    assert_eq!(brief(&make(&past, &[("b", "b"), ("c", "c")], &named(&["a"]))), "+a =b =c");
    past.nodes.get_mut("a").unwrap().task_hash = None;
    assert_eq!(brief(&make(&past, &[("a", "a")], &default)), "+a +b +c", "nothing was recorded, so nothing is proved");
}

#[test]
fn the_hashes_are_asked_with_what_will_run() {
    // R-RES-2: sources first, so that whoever computes a hash knows which outputs are not there yet.
    let definition = chain();
    let past = past(&definition, "a=completed b=failed c=completed d=completed");
    let asked = std::cell::RefCell::new(Vec::new());
    let task_hashes = |id: &str, runs: &dyn Fn(&str) -> bool| {
        asked.borrow_mut().push(format!("{id}: {} {}", runs("a"), runs("b")));
        None
    };
    let options = ResumeOptions::default();
    let mode = Mode::Incremental;
    let definition = &definition;
    plan(&Request {
        definition,
        past: Some(&past),
        mode,
        options: &options,
        in_place: false,
        params: None,
        task_hashes: &task_hashes,
    })
    .unwrap();
    assert_eq!(*asked.borrow(), ["c: false true", "d: false true"]);
}

#[test]
fn a_tainted_result_is_kept_like_any_other() {
    // R-RES-2
    let definition = chain();
    let mut past = past(&definition, "a=completed b=completed c=failed d=after:c");
    past.nodes.get_mut("a").unwrap().result.as_mut().unwrap().taint = Some(Taint::Provided);
    let error = NodeError::new(sprag_core::run::Known::TOOL_ERROR, "x");
    past.nodes.get_mut("b").unwrap().result.as_mut().unwrap().taint = Some(Taint::Fallback(error));
    let plan = planned(&definition, &past, &usual()).unwrap();
    assert_eq!(brief(&plan), "=a =b +c +d");
    let KeptEnd::Completed(result) = &plan.carried(&past).nodes["a"].end else { panic!("it is completed") };
    assert_eq!(result.taint, Some(Taint::Provided));
}

#[test]
fn modes() {
    // R-MODE-1, R-RES-6
    let definition = chain();
    let past = past(&definition, "a=completed b=completed c=failed d=after:c");
    let options = ResumeOptions::default();
    let make = |past, mode| {
        let definition = &definition;
        plan(&Request {
            definition,
            past,
            mode,
            options: &options,
            in_place: false,
            params: None,
            task_hashes: &no_task_hashes,
        })
    };
    let clean = make(Some(&past), Mode::Clean).unwrap();
    assert_eq!(brief(&clean), "+a +b +c +d");
    assert_eq!(reason(&clean, "a"), "a clean run reuses nothing");
    assert_eq!(clean.carried(&past).generations, BTreeMap::from([("a".into(), 1), ("b".into(), 1)]));
    let first = make(None, Mode::Incremental).unwrap();
    assert_eq!(brief(&first), "+a +b +c +d");
    assert_eq!((first.start_from_phase, first.start_from_wave), (Some(0), Some(0)));
    assert_eq!(brief(&make(Some(&past), Mode::ResumeOnly).unwrap()), "=a =b +c +d");
    assert_eq!(make(None, Mode::ResumeOnly), Err(PlanError::NothingBefore));
    let mut other = past.clone();
    other.graph_hash = Digest::of(b"other");
    assert_eq!(make(Some(&other), Mode::ResumeOnly), Err(PlanError::GraphChanged { run: run(1) }));
    for mode in Mode::ALL {
        assert_eq!(Mode::from_name(mode.as_str()), Some(mode));
    }
}

#[test]
fn an_unknown_name_is_refused() {
    // R-RES-2
    let definition = valid("workflow: w\nnodes: { build: { noop: }, deploy: { noop:, needs: [build] } }\n");
    let past = past(&definition, "build=completed deploy=failed");
    let error = planned(&definition, &past, &named(&["biuld"])).unwrap_err();
    assert_eq!(error.to_string(), "there is no node `biuld` to run again");
    assert_eq!(error.facts().help.as_deref(), Some("did you mean `build`?"));
    assert_eq!(error.facts().code.as_str(), "UNKNOWN_NODE");
    assert!(planned(&definition, &past, &named(&["build/0"])).is_err(), "nothing is inside it");
}

#[test]
fn parameters_reach_everything() {
    // R-RES-7: carried over, nothing changes; given anew, whatever no hash proves runs.
    let definition = chain();
    let mut past = past(&definition, "a=completed b=completed c=completed d=failed");
    past.params.insert("target".into(), json!("x"));
    let options = ResumeOptions::default();
    let make = |params: Option<&BTreeMap<String, _>>| {
        let (definition, mode) = (&definition, Mode::Incremental);
        plan(&Request {
            definition,
            past: Some(&past),
            mode,
            options: &options,
            in_place: false,
            params,
            task_hashes: &no_task_hashes,
        })
        .unwrap()
    };
    assert_eq!(brief(&make(None)), "=a =b =c +d");
    assert_eq!(brief(&make(Some(&past.params))), "=a =b =c +d");
    let other = make(Some(&BTreeMap::from([("target".to_owned(), json!("y"))])));
    assert_eq!(brief(&other), "+a +b +c +d");
    assert_eq!(reason(&other, "a"), "parameter `target` changed");
}

#[test]
fn phases_before_the_one_that_failed_are_done() {
    // R-PHASE-1
    let definition = valid(
        "workflow: w\nphases:\n  - { name: one, nodes: { a: { noop:, continue_on_error: true }, b: { noop:, needs: [a] } } }\n  - { name: two, nodes: { c: { noop: }, d: { noop:, needs: [c] } } }\n  - { name: three, nodes: { e: { noop: } } }\n",
    );
    let mut past = past(&definition, "a=failed b=completed c=completed d=failed e=stopped");
    past.phase = Some("two".into());
    let plan = planned(&definition, &past, &usual()).unwrap();
    assert_eq!(brief(&plan), "=a =b =c +d +e");
    assert_eq!((plan.start_from_phase, plan.start_from_wave), (Some(1), Some(1)));
    assert_eq!(reason(&plan, "a"), "it stays as it ended: failed");
    assert!(matches!(plan.carried(&past).nodes["a"].end, KeptEnd::Failed(_)));
    let named = planned(&definition, &past, &named(&["b"])).unwrap();
    assert_eq!(brief(&named), "=a +b +c +d +e", "later phases see all of an earlier one");
    past.phase = Some("one".into());
    past.nodes.insert("a".into(), node(past.nodes["a"].kind, past.nodes["a"].hash, "failed"));
    assert_eq!(brief(&planned(&definition, &past, &usual()).unwrap()), "+a +b +c +d +e");
    assert_eq!(past.nodes["a"].state, NodeState::Failed);
}
