//! Whether a run may be resumed, and which (`R-ELIG-1`, `R-FAIL-1`).

use std::collections::BTreeSet;

use sprag_core::codes::Code;
use sprag_core::hash::Digest;
use sprag_core::plan::{Candidate, FailureClass, Fate, Ineligible, Mode, Search, Standing, latest_resumable};
use sprag_core::run::{EndFailure, EndStatus, Ending, Known, NodeError};

use super::support::{past, planned, run, usual};
use crate::load::support::valid;

const GRAPH: Digest = Digest([1; 32]);
const FAILED: Standing = Standing::Failed(FailureClass::Execution);

fn candidate(number: u128, standing: Standing) -> Candidate {
    Candidate { run: run(number), graph_hash: Some(GRAPH), standing, previous: None, retry_count: 0, refused: false }
}

fn search(runs: &[Candidate]) -> Search<'_> {
    Search {
        mode: Mode::ResumeOnly,
        workspace: Ok(()),
        named: None,
        meant: None,
        runs,
        graph_hash: GRAPH,
        retry_count: None,
    }
}

/// All questions that need no plan.
fn ask(search: &Search<'_>) -> Result<u128, Ineligible> {
    let candidate = search.find()?;
    search.check(candidate, Ok(()))?;
    Ok((1..9).find(|number| run(*number) == candidate.run).unwrap())
}

#[test]
fn each_rule_refuses_in_its_own_words() {
    // R-ELIG-1, R-MODE-1, R-RES-7
    let failed = [candidate(1, FAILED)];
    let with = |standing| [candidate(1, standing)];
    let (completed, cancelled, live) =
        (with(Standing::Completed { degraded: false }), with(Standing::Cancelled), with(Standing::Live));
    let graph = with(Standing::Failed(FailureClass::Graph));
    let resumed = [candidate(1, FAILED), Candidate { previous: Some(run(1)), ..candidate(2, Standing::Cancelled) }];
    let other = [Candidate { graph_hash: Some(Digest([2; 32])), ..candidate(1, FAILED) }];
    let named = |runs| Search { named: Some("1"), meant: Some(run(1)), ..search(runs) };
    let definition = valid("workflow: w\nnodes: { a: { noop: }, b: { noop:, needs: [a] } }\n");
    let lost = planned(&definition, &past(&definition, "a=lost b=failed"), &usual()).unwrap();
    let refusals = [
        (Search { mode: Mode::Clean, ..search(&failed) }.find().unwrap_err(), "MODE_FORBIDS_RESUME", "mode `clean`"),
        (
            Search { workspace: Err("not yours".into()), ..search(&failed) }.find().unwrap_err(),
            "BAD_WORKSPACE",
            "not yours",
        ),
        (Search { named: Some("x"), ..search(&failed) }.find().unwrap_err(), "RUN_NOT_FOUND", "no run `x`"),
        (search(&[]).find().unwrap_err(), "NOTHING_TO_RESUME", "no run of this workflow"),
        (search(&failed).check(&failed[0], Err("torn".into())).unwrap_err(), "RUN_UNREADABLE", "torn"),
        (ask(&named(&other)).unwrap_err(), "GRAPH_CHANGED", "is not the one"),
        (ask(&named(&live)).unwrap_err(), "RUN_OWNED", "right now"),
        (ask(&named(&completed)).unwrap_err(), "NOT_RESUMABLE", "completed"),
        (search(&cancelled).check(&cancelled[0], Ok(())).unwrap_err(), "NOT_RESUMABLE", "only if it is named"),
        (ask(&named(&graph)).unwrap_err(), "NOT_RESUMABLE", "class `graph`"),
        (ask(&search(&resumed)).unwrap_err(), "ALREADY_RESUMED", "was resumed before"),
        (ask(&Search { retry_count: Some(3), ..search(&failed) }).unwrap_err(), "NOT_RESUMABLE", "is 1, not 3"),
        (search(&failed).check_plan(&lost, &definition).unwrap_err(), "RESULT_INVALIDATED", "node `a`"),
    ];
    let mut messages = BTreeSet::new();
    for (refusal, code, words) in &refusals {
        assert_eq!(refusal.facts().code.as_str(), *code, "{refusal}");
        assert!(refusal.to_string().contains(words), "{refusal}");
        assert!(refusal.facts().help.is_some());
        messages.insert(refusal.to_string());
    }
    assert_eq!(messages.len(), refusals.len(), "no two refusals say the same");
    let successor = run(2).to_string();
    assert!(refusals[10].0.to_string().contains(&successor));
    assert!(refusals[10].0.facts().help.unwrap().contains("fork"));
}

#[test]
fn the_order_is_that_of_the_contract() {
    // R-ELIG-1: the first thing that is wrong is told.
    let other = [Candidate { graph_hash: None, ..candidate(1, Standing::Completed { degraded: false }) }];
    let mut all = search(&other);
    all.mode = Mode::Clean;
    all.workspace = Err("bad".into());
    assert_eq!(all.find().unwrap_err(), Ineligible::Mode);
    all.mode = Mode::Incremental;
    assert!(matches!(all.find(), Err(Ineligible::Workspace(_))));
    all.workspace = Ok(());
    assert_eq!(all.find().unwrap_err(), Ineligible::NothingFound);
    all.named = Some("1");
    all.meant = Some(run(1));
    assert!(matches!(all.check(all.find().unwrap(), Err("torn".into())), Err(Ineligible::Unreadable { .. })));
    assert!(matches!(ask(&all), Err(Ineligible::GraphChanged { .. })));
}

#[test]
fn the_latest_in_the_stores_order_is_found() {
    // R-ELIG-1: never by a clock, which the candidates do not even carry.
    let completed = Standing::Completed { degraded: false };
    let runs = [candidate(3, FAILED), candidate(1, Standing::Interrupted), candidate(2, completed)];
    assert_eq!(ask(&search(&runs)), Ok(1));
    assert_eq!(ask(&search(&runs[..1])), Ok(3));
    // Degraded and cancelled runs are resumed only by name.
    for standing in [Standing::Completed { degraded: true }, Standing::Cancelled] {
        let runs = [candidate(1, standing)];
        assert_eq!(ask(&search(&runs)), Err(Ineligible::NothingFound));
        assert_eq!(ask(&Search { named: Some("1"), meant: Some(run(1)), ..search(&runs) }), Ok(1));
    }
}

#[test]
fn a_refused_resume_never_hides_a_good_run() {
    // R-ELIG-1, R-FAIL-1
    let refused =
        Candidate { refused: true, previous: Some(run(1)), ..candidate(2, Standing::Failed(FailureClass::Workspace)) };
    let runs = [candidate(1, FAILED), refused.clone(), Candidate { run: run(3), ..refused }];
    assert_eq!(ask(&search(&runs)), Ok(1), "it is neither a candidate nor a successor");
    assert_eq!(latest_resumable(&runs).map(|found| found.run), Some(run(1)));
}

#[test]
fn resume_without_a_name() {
    // R-CLI-2: the latest interrupted, paused or failed one that can be resumed.
    let next = |number, standing| Candidate { previous: Some(run(1)), ..candidate(number, standing) };
    let completed = Standing::Completed { degraded: false };
    for (runs, expected) in [
        (vec![candidate(1, FAILED), next(2, FAILED)], Some(2)),
        (vec![candidate(1, FAILED), next(2, completed)], None),
        (vec![candidate(1, FAILED), candidate(2, Standing::Paused), candidate(3, Standing::Live)], Some(2)),
        (vec![candidate(1, FAILED), candidate(2, Standing::Failed(FailureClass::Graph))], Some(1)),
        (vec![candidate(1, Standing::Cancelled)], None),
    ] {
        assert_eq!(latest_resumable(&runs).map(|found| found.run), expected.map(run));
    }
}

#[test]
fn only_what_lies_before_the_resume_point_counts() {
    // R-ELIG-1
    let definition = valid(
        "workflow: w\nnodes: { a: { noop: }, b: { noop:, needs: [a] }, x: { noop: }, y: { noop:, needs: [x] } }\n",
    );
    for (states, expected) in [
        ("a=completed b=failed x=lost y=completed", None),
        ("a=lost b=failed x=completed y=completed", Some("a")),
        ("a=completed b=completed x=lost y=completed", Some("x")),
        ("a=completed b=failed x=completed y=completed", None),
    ] {
        let plan = planned(&definition, &past(&definition, states), &usual()).unwrap();
        let found = plan.invalidated_before_resume_point(&definition).map(|node| node.id.as_str());
        assert_eq!(found, expected, "{states}");
    }
}

#[test]
fn failure_classes() {
    // R-FAIL-1
    use FailureClass::{Execution, Graph, System, Workspace};
    let error = NodeError::new(Known::TOOL_ERROR, "x");
    let failure = Some(EndFailure { node: None, error });
    let failed = Ending { status: EndStatus::Failed, exit: 1, degraded: false, failure, superseded_by: None };
    let completed =
        Ending { status: EndStatus::Completed, exit: 0, degraded: true, failure: None, superseded_by: None };
    for (fate, class) in [
        (Fate::BeforeFirstNode(Code::CYCLE), Some(Graph)),
        (Fate::BeforeFirstNode(Code::YAML_SYNTAX), Some(Graph)),
        (Fate::BeforeFirstNode(Code::INVALID_PARAM), Some(Graph)),
        (Fate::BeforeFirstNode(Code::BAD_WORKSPACE), Some(Workspace)),
        (Fate::BeforeFirstNode(Code::BAD_SETTINGS), Some(Workspace)),
        (Fate::BeforeFirstNode(Code::STORE_UNAVAILABLE), Some(System)),
        (Fate::Ended(&failed), Some(Execution)),
        (Fate::Ended(&completed), None),
        (Fate::OwnerDied, Some(System)),
        (Fate::Panicked, Some(System)),
        (Fate::StoreFailed, Some(System)),
        (Fate::Superseded, Some(System)),
        (Fate::Live, None),
    ] {
        assert_eq!(FailureClass::of(&fate), class, "{fate:?}");
    }
    assert_eq!(FailureClass::ALL.map(FailureClass::is_resumable), [false, false, true, true]);
    for class in FailureClass::ALL {
        assert_eq!(FailureClass::from_name(class.as_str()), Some(class));
        assert_eq!(serde_json::to_string(&class).unwrap(), format!("\"{class}\""));
    }
}
