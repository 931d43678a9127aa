//! Replay refuses what no rule allows, changes nothing, and says what it was (`R-STATE-1`).

use std::collections::BTreeMap;
use std::error::Error as _;
use std::sync::Arc;

use sprag_core::graph::{EdgeIndex, NodeIndex};
use sprag_core::run::{
    Corrupt, CorruptDetail, Created, EndStatus, Ending, Entry, Fence, Known, NodeError, OwnerId, QuestionId, Run,
    RunId, Seq, SkipReason, Timestamp, Verdict,
};

use crate::load::support::valid;

const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);
const A: NodeIndex = NodeIndex(0);
const B: NodeIndex = NodeIndex(1);

fn run() -> Run {
    let definition = valid("workflow: w\nnodes: { a: { noop: }, b: { noop: , needs: [a] } }\n");
    let created = Created::first(RunId::default(), &definition, BTreeMap::new());
    let mut run = Run::new(Arc::new(definition));
    run.apply(NOW, &Entry::Created(Box::new(created))).unwrap();
    run
}

fn owned(fence: u64) -> Entry {
    Entry::Owned { owner: OwnerId::default(), fence: Fence(fence), person: false }
}

fn refused(run: &mut Run, entry: &Entry) -> Corrupt {
    let before = run.clone();
    let corrupt = run.apply(NOW, entry).expect_err("must be refused");
    assert_eq!(*run, before, "a refused entry changes nothing");
    corrupt
}

#[test]
fn an_illegal_move_is_refused_in_these_words() {
    // R-STATE-1
    let corrupt =
        refused(&mut run(), &Entry::Completed { node: A, attempt: 0, product: None, taint: None, chosen: None });
    assert_eq!(corrupt.seq, Seq(2));
    let source = corrupt.source().unwrap().to_string();
    assert_eq!(source, "Invalid state transition for node a: pending -> completed");
    assert_eq!(corrupt.to_string(), "entry 2 of the journal is no legal move");
}

#[test]
fn what_cannot_be_an_entry_here_is_refused() {
    // R-CLAIM-1, R-CLAIM-3
    let failed = |attempt| Entry::Failed {
        node: A,
        attempt,
        error: Box::new(NodeError::new(Known::TOOL_ERROR, "x")),
        due: None,
        chosen: None,
    };
    let ready = Entry::Ready { node: A, verdict: None };
    let started = |attempt| Entry::Started { node: A, attempt, due: None, terms: None };
    let ended = Entry::Ended(Box::new(Ending {
        status: EndStatus::Completed,
        exit: 0,
        degraded: false,
        failure: None,
        superseded_by: None,
    }));
    let stopped = |node| Entry::Skipped { node, reason: SkipReason::RunStopped, cause: None };
    let table: [(&str, Vec<Entry>, Entry); 20] = [
        ("a node that does not exist", vec![], Entry::Ready { node: NodeIndex(9), verdict: None }),
        ("a second creation", vec![], {
            let mut other = run();
            other.apply(NOW, &ready).unwrap();
            Entry::Created(Box::new(Created::first(RunId::default(), other.definition(), BTreeMap::new())))
        }),
        ("an attempt that skips one", vec![ready.clone()], started(2)),
        ("the same attempt again", vec![ready.clone(), started(1)], started(1)),
        ("the outcome of another attempt", vec![ready.clone(), started(1)], failed(2)),
        ("a stage of a node that does not run", vec![ready.clone()], Entry::Checked { node: A, attempt: 0 }),
        ("a move out of a final failure", vec![ready.clone(), started(1), failed(1)], ready.clone()),
        (
            "a second settling",
            vec![Entry::Skipped { node: A, reason: SkipReason::RunStopped, cause: None }],
            Entry::Finalised { node: A },
        ),
        ("anything after the end", vec![stopped(A), stopped(B), ended.clone()], Entry::Held { on: true }),
        ("an end before the nodes are settled", vec![], ended),
        ("a decision before the sources are settled", vec![], Entry::Ready { node: B, verdict: None }),
        (
            "a skip before the sources are settled",
            vec![],
            Entry::Skipped { node: B, reason: SkipReason::DependencyFailed, cause: Some(A) },
        ),
        (
            "a judgement on an edge of another node",
            vec![],
            Entry::Ready {
                node: A,
                verdict: Some(Box::new(Verdict { unmet: vec![EdgeIndex(0)], ..Verdict::default() })),
            },
        ),
        (
            "blame on a node that does not exist",
            vec![],
            Entry::Skipped { node: A, reason: SkipReason::DependencyFailed, cause: Some(NodeIndex(9)) },
        ),
        ("a final failure that has not failed", vec![], Entry::Finalised { node: A }),
        ("a claim with an old fence", vec![owned(3)], owned(3)),
        ("an answer to nothing", vec![], Entry::Closed { question: QuestionId(1) }),
        ("a signal that nobody sent", vec![], Entry::SignalTaken { node: A, name: "go".into() }),
        ("a wave that is not done", vec![], Entry::WaveCompleted { phase: 0, wave: 0 }),
        ("a wave that does not exist", vec![stopped(A)], Entry::WaveCompleted { phase: 7, wave: 9 }),
    ];
    for (what, before, entry) in table {
        let mut run = run();
        for entry in &before {
            run.apply(NOW, entry).unwrap_or_else(|corrupt| panic!("{what}: {corrupt:?}"));
        }
        refused(&mut run, &entry);
    }
}

#[test]
fn a_journal_starts_with_its_creation_and_belongs_to_its_definition() {
    let definition = Arc::new(valid("workflow: w\nnodes: { a: { noop: } }\n"));
    let corrupt = refused(&mut Run::new(Arc::clone(&definition)), &Entry::Held { on: true });
    assert_eq!(corrupt.seq, Seq(1));
    let other = valid("workflow: w\nnodes: { b: { noop: } }\n");
    let created = Created::first(RunId::default(), &other, BTreeMap::new());
    let corrupt = refused(&mut Run::new(definition), &Entry::Created(Box::new(created)));
    assert_eq!(corrupt.detail, CorruptDetail::Other("was made for another definition"));
}
