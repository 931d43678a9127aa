//! Runs that begin with what an earlier one left: states, not moves (`R-STATE-1`, `R-RES-7`).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use sprag_core::definition::Definition;
use sprag_core::hash::Digest;
use sprag_core::plan::Past;
use sprag_core::run::{
    CancelCause, Carried, Created, EndStatus, Entry, Growth, Input, Kept, KeptEnd, KeptGrowth, KeptResult, Known,
    NodeError, NodeState, OwnerId, Product, Run, RunId, Seq, SkipReason, Taint, Taking, Timestamp,
};

use crate::load::support::valid;

const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

fn completed(output: Value) -> KeptEnd {
    KeptEnd::Completed(KeptResult::of(Product::of(output)))
}

fn failed() -> KeptEnd {
    KeptEnd::Failed(Some(NodeError::new(Known::TOOL_ERROR, "it broke")))
}

fn skipped(cause: &str) -> KeptEnd {
    KeptEnd::Skipped(SkipReason::DependencyFailed, Some(cause.to_owned()))
}

fn kept(end: KeptEnd, hash: Digest) -> Kept {
    Kept { end, hash, task_hash: None, cost: None, attempts: 1, unmet: Vec::new(), place: None }
}

/// What a definition begins with: these nodes of it, with their own hashes.
fn carried(definition: &Definition, ends: impl IntoIterator<Item = (&'static str, KeptEnd)>) -> Carried {
    let node = |(id, end): (&str, KeptEnd)| {
        let hash = definition.node(definition.graph.find(id).unwrap()).hash;
        (id.to_owned(), kept(end, hash))
    };
    Carried { nodes: ends.into_iter().map(node).collect(), ..Carried::default() }
}

/// A run that began so, owned and at rest, and its journal.
fn begun(definition: &Definition, carried: Carried) -> (Run, Vec<Entry>) {
    let first = Created::first(RunId::default(), definition, BTreeMap::new());
    let created = Entry::Created(Box::new(Created { carried: Some(Arc::new(carried)), ..first }));
    let mut run = Run::new(Arc::new(definition.clone()));
    run.apply(NOW, &created).unwrap();
    let mut entries = vec![created];
    let take = Input::Take { owner: OwnerId::default(), how: Taking::Automatic, folded: Seq(0) };
    run.take_in(NOW, 9, &take, &mut entries).unwrap();
    assert_eq!(Run::fold(Arc::new(definition.clone()), entries.iter().map(|entry| (NOW, entry))).unwrap(), run);
    (run, entries)
}

fn states(run: &Run) -> String {
    let words: Vec<_> = run.all_nodes().map(|node| format!("{} {}", run.address(node), run.state(node))).collect();
    words.join(", ")
}

fn started(run: &Run, entries: &[Entry]) -> String {
    let ids = entries.iter().filter_map(|entry| match entry {
        Entry::Started { node, .. } => Some(run.address(*node)),
        _ => None,
    });
    ids.collect::<Vec<_>>().join(" ")
}

#[test]
fn nodes_begin_as_they_ended() {
    // R-STATE-1, R-STATE-6
    let definition = valid(
        "workflow: w\nnodes:\n  a: { noop: }\n  b: { noop: }\n  c: { noop:, needs: [b] }\n  d: { noop: }\n  \
         e: { run: x, needs: [{ node: a, condition: \"nodes.a.output == 7\" }, { node: d, when: always }] }\n",
    );
    let ends = [
        ("a", completed(json!(7))),
        ("b", failed()),
        ("c", skipped("b")),
        ("d", KeptEnd::Cancelled(CancelCause::SkippedByPerson)),
    ];
    let (run, entries) = begun(&definition, carried(&definition, ends));
    assert_eq!(states(&run), "a completed, b failed, c skipped, d cancelled, e running");
    assert_eq!(started(&run, &entries), "e");
    assert!(!entries.iter().any(|entry| matches!(entry, Entry::WaveCompleted { .. })), "{entries:?}");
    let find = |id| run.find(id).unwrap();
    assert_eq!(run.skipped(find("c")), Some((SkipReason::DependencyFailed, Some(find("b")))));
    assert_eq!(run.error(find("b")).unwrap().code, Known::TOOL_ERROR);
    assert!(run.is_settled(find("b")) && run.is_reused(find("a")));
    assert!(run.is_kept(find("b")) && !run.is_reused(find("b")), "only a result is reused");
    assert_eq!(run.unhandled().collect::<Vec<_>>(), [find("b")]);
    assert_eq!((run.counts().completed, run.counts().reused, run.counts().settled()), (1, 1, 4));
    assert_eq!((run.attempt(find("a")), run.attempt(find("e"))), (1, 1));
    assert_eq!(run.output(find("a")), Some(&json!(7)), "somebody still reads it");
    assert_eq!(run.usage(), sprag_core::run::Usage::default(), "it was paid for by an earlier run");
}

#[test]
fn a_run_with_nothing_to_do_ends_at_once() {
    // R-RES-3, R-REC-7: what is kept keeps its taint.
    let definition = valid(
        "workflow: w\nphases:\n  - { name: P, nodes: { a: { noop: } } }\n  - { name: Q, nodes: { b: { noop: } } }\n",
    );
    let tainted = KeptEnd::Completed(KeptResult { taint: Some(Taint::Provided), ..KeptResult::default() });
    let (run, entries) = begun(&definition, carried(&definition, [("a", tainted), ("b", completed(json!(1)))]));
    assert_eq!(entries.len(), 3, "{entries:?}");
    let ending = run.ended().unwrap();
    assert_eq!((ending.status, ending.degraded), (EndStatus::Completed, true));
    assert!(run.is_tainted(run.find("a").unwrap()) && !run.is_tainted(run.find("b").unwrap()));
}

#[test]
fn kept_failures_are_no_reason_to_stop_but_the_phase_is_over() {
    // R-EDGE-5, R-PHASE-1
    let text =
        "workflow: w\npolicy: { fail_fast: true, max_node_failures: 1 }\nnodes: { a: { noop: }, b: { run: x } }\n";
    let definition = valid(text);
    let (run, _) = begun(&definition, carried(&definition, [("a", failed())]));
    assert_eq!((states(&run).as_str(), run.stopping()), ("a failed, b running", None));
    let text =
        "workflow: w\nphases:\n  - { name: P, nodes: { a: { noop: } } }\n  - { name: Q, nodes: { b: { run: x } } }\n";
    let definition = valid(text);
    let (run, _) = begun(&definition, carried(&definition, [("a", failed())]));
    assert_eq!(states(&run), "a failed, b skipped");
    assert_eq!(run.ended().unwrap().status, EndStatus::Failed);
    let open = valid(&text.replace("phases:", "policy: { fail_open: true }\nphases:"));
    assert_eq!(states(&begun(&open, carried(&open, [("a", failed())])).0), "a failed, b running");
}

#[test]
fn what_is_kept_of_a_later_phase_decides_nothing_before_it_begins() {
    // R-PHASE-1
    let definition = valid(
        "workflow: w\nphases:\n  - { name: P, nodes: { a: { run: x } } }\n  - name: Q\n    nodes:\n      b: { noop: }\n      \
         c: { noop:, needs: [{ node: b, condition: \"nodes.a.output == 1\" }] }\n",
    );
    let (mut run, mut entries) = begun(&definition, carried(&definition, [("b", completed(Value::Null))]));
    assert_eq!(states(&run), "a running, b completed, c pending");
    let report = sprag_core::run::Report::Produced(Product::of(json!(1)));
    let input = Input::Report { node: run.find("a").unwrap(), attempt: 1, report };
    run.take_in(NOW, 9, &input, &mut entries).unwrap();
    assert_eq!(states(&run), "a completed, b completed, c running");
}

#[test]
fn outputs_are_let_go_with_their_last_reader() {
    // R-SCHED-4
    let definition =
        valid("workflow: w\nnodes: { a: { noop: }, b: { noop:, needs: [a] }, c: { noop:, needs: [b] } }\n");
    let ends = ["a", "b"].map(|id| (id, completed(json!("large"))));
    let (run, _) = begun(&definition, carried(&definition, ends));
    assert_eq!(run.output(run.find("a").unwrap()), None);
    assert_eq!(run.output(run.find("b").unwrap()), Some(&json!("large")));
}

#[test]
fn another_definition_is_not_kept_and_neither_is_what_comes_after_it() {
    // R-RES-6, R-RES-7
    let definition = valid(
        "workflow: w\nnodes: { a: { run: x }, b: { run: x, needs: [a] }, c: { run: x, needs: [b] }, d: { run: x } }\n",
    );
    let mut before = carried(&definition, ["a", "b", "c", "d"].map(|id| (id, completed(Value::Null))));
    before.nodes.get_mut("b").unwrap().hash = Digest::of(b"other");
    before.nodes.insert("gone".to_owned(), kept(failed(), Digest::of(b"gone")));
    let (run, _) = begun(&definition, before);
    assert_eq!(states(&run), "a completed, b running, c pending, d completed");
}

#[test]
fn a_grown_node_is_kept_whole_or_child_by_child() {
    // R-GROW-2
    let definition = valid("workflow: w\nnodes: { m: { map: { over: \"[1, 2]\", node: { run: x } } } }\n");
    let patches = vec![Arc::new(json!({ "p": 1 })), Arc::new(json!({ "q": 2 }))];
    let whole = KeptResult { patches, ..KeptResult::of(Product::of(json!(["a", "b"]))) };
    let (run, _) = begun(&definition, carried(&definition, [("m", KeptEnd::Completed(whole))]));
    assert_eq!((states(&run).as_str(), run.context()), ("m completed", json!({ "p": 1, "q": 2 })));

    let grown = |items: Value| {
        let made_of = Growth::Items(Arc::new(items.as_array().unwrap().clone())).digest();
        let (probe, _) = begun(&definition, Carried::default());
        let child = probe.compiled(probe.find("m/0").unwrap()).hash;
        let node = definition.node(definition.graph.find("m").unwrap()).hash;
        let growth = KeptGrowth { hash: node, made_of: Some(made_of), body: None, spent: BTreeMap::new(), place: None };
        Carried {
            nodes: [("m/1".to_owned(), kept(completed(json!("b")), child))].into(),
            grown: [("m".to_owned(), growth)].into(),
            generations: [("m/0".to_owned(), 3)].into(),
        }
    };
    let (run, entries) = begun(&definition, grown(json!([1, 2])));
    assert_eq!(states(&run), "m running, m/0 running, m/1 completed");
    assert_eq!((run.generation(run.find("m/0").unwrap()), run.generation(run.find("m").unwrap())), (3, 0));
    let past = Past::of(&run, entries.iter().map(|entry| (NOW, entry))).unwrap();
    assert_eq!(past.find("m/1").unwrap().result.as_ref().unwrap().product.output, json!("b").into());
    assert_eq!((past.find("m/0").unwrap().generation, past.find("m/1").unwrap().attempts), (3, 1));
    let (run, _) = begun(&definition, grown(json!([1, 3])));
    assert_eq!(states(&run), "m running, m/0 running, m/1 running", "other items are other work");
}

#[test]
fn work_that_waits_for_a_person_is_not_repeated() {
    // R-RES-5
    let definition = valid("workflow: w\nnodes: { a: { run: x, approve: { message: \"{{ output }}?\" } } }\n");
    let awaiting = KeptEnd::AwaitingApproval { result: Some(KeptResult::of(Product::of(json!("fine")))), asks: None };
    let (run, _) = begun(&definition, carried(&definition, [("a", awaiting)]));
    let a = run.find("a").unwrap();
    assert_eq!((run.state(a), run.is_kept(a)), (NodeState::AwaitingApproval, false));
    assert_eq!(run.questions().next().unwrap().question.shown, "fine?");
    let owed: Vec<_> = run.owed(Seq(0), run.seq()).collect();
    assert!(matches!(owed.as_slice(), [sprag_core::run::Effect::Ask { .. }]), "{owed:?}");
}
