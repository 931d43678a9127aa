//! Memory is the reference: whatever happens, SQLite gives the same answers.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::path::Path;
use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use sprag_core::file::WorkflowId;
use sprag_core::hash::Digest;
use sprag_core::run::{
    Command, CommandId, Commit, Counts, EndStatus, Entry, Fence, OwnerId, PausedBy, RunId, RunStatus, Seq, Summary,
    Timestamp, Usage, Verb,
};
use sprag_store::{Append, Filter, Store};
use uuid::Uuid;

const STATUSES: [RunStatus; 4] = [
    RunStatus::Created,
    RunStatus::Running,
    RunStatus::Paused(PausedBy::Question),
    RunStatus::Ended(EndStatus::Cancelled),
];

#[derive(Debug, Clone)]
struct Written {
    run: u8,
    place: Place,
    count: usize,
    fence: u64,
    owner: u8,
    summary: Option<(usize, bool, i64)>,
    relaxed: bool,
}

/// Where an append goes, seen from the last entry there is.
#[derive(Debug, Clone, Copy)]
enum Place {
    Next,
    Last,
    Gap,
    First,
    Zero,
    /// The same as an earlier one.
    Again(usize),
}

#[derive(Debug, Clone)]
enum Op {
    Append(Vec<Written>),
    Read { run: u8, after: u64, most: usize },
    Send { run: u8, command: u8 },
    Waiting,
    Remove(Vec<u8>),
    Put(Vec<u8>),
    Get(Vec<u8>),
    List { statuses: Vec<usize>, workflow: Option<bool>, since: Option<i64>, before: Option<u64>, most: usize },
    Find(u8),
    Prefix(u8, usize),
    Reopen,
}

fn written() -> impl Strategy<Value = Written> {
    let place = prop_oneof![
        12 => Just(Place::Next),
        1 => Just(Place::Last),
        1 => Just(Place::Gap),
        1 => Just(Place::First),
        1 => Just(Place::Zero),
        3 => (0_usize..8).prop_map(Place::Again),
    ];
    let summary = proptest::option::of((0..STATUSES.len(), any::<bool>(), 0_i64..9));
    // Most are relaxed: a flush takes long, and what it is for is tested elsewhere.
    let relaxed = prop_oneof![9 => Just(true), 1 => Just(false)];
    (0_u8..4, place, prop_oneof![1 => Just(0_usize), 9 => 1_usize..4], 0_u64..4, 0_u8..3, summary, relaxed).prop_map(
        |(run, place, count, fence, owner, summary, relaxed)| Written {
            run,
            place,
            count,
            fence,
            owner,
            summary,
            relaxed,
        },
    )
}

fn op() -> impl Strategy<Value = Op> {
    let filter = (
        vec(0..STATUSES.len(), 0..3),
        proptest::option::of(any::<bool>()),
        proptest::option::of(0_i64..9),
        proptest::option::of(0_u64..6),
        0_usize..5,
    );
    prop_oneof![
        12 => vec(written(), 1..6).prop_map(Op::Append),
        6 => (0_u8..5, 0_u64..20, prop_oneof![0_usize..4, Just(usize::MAX)])
            .prop_map(|(run, after, most)| Op::Read { run, after, most }),
        1 => (0_u8..3, 0_u8..5).prop_map(|(run, command)| Op::Send { run, command }),
        3 => Just(Op::Waiting),
        1 => vec(0_u8..5, 0..3).prop_map(Op::Remove),
        1 => vec(0_u8..3, 0..3).prop_map(Op::Put),
        2 => vec(0_u8..3, 0..3).prop_map(Op::Get),
        2 => filter.prop_map(|(statuses, workflow, since, before, most)| {
            Op::List { statuses, workflow, since, before, most }
        }),
        1 => (0_u8..5).prop_map(Op::Find),
        1 => (0_u8..5, 0_usize..3).prop_map(|(run, most)| Op::Prefix(run, most)),
        1 => Just(Op::Reopen),
    ]
}

fn run(number: u8) -> RunId {
    RunId(Uuid::from_bytes([number; 16]))
}

fn command(number: u8) -> Command {
    let id = CommandId(Uuid::from_bytes([number; 16]));
    Command { id, by: format!("person {number}"), why: None, verb: Verb::Cancel { kill: number.is_multiple_of(2) } }
}

fn workflow(first: bool) -> &'static str {
    if first { "build" } else { "ship" }
}

fn summary((status, first, started): (usize, bool, i64)) -> Box<Summary> {
    Box::new(Summary {
        workflow: WorkflowId::new(workflow(first)).unwrap(),
        version: None,
        graph_hash: Digest::of(b"graph"),
        previous_run: None,
        retry_count: 0,
        status: STATUSES[status],
        exit: None,
        degraded: false,
        owner: None,
        started_at: Timestamp::from_millis(started),
        ended_at: None,
        counts: Counts::default(),
        usage: Usage::default(),
        failure: None,
        seq: Seq(1),
    })
}

/// The append that an operation means, by what the reference holds.
fn append(reference: &Store, written: &Written, ahead: u64) -> Append {
    let run = run(written.run);
    let landed = reference.journal.read(run, Seq(0), usize::MAX).unwrap_or_default();
    let last = landed.last().map_or(0, |commit| commit.last().0) + ahead;
    let first = match written.place {
        Place::Next => last + 1,
        Place::Last => last,
        Place::Gap => last + 2,
        Place::First => 1,
        Place::Zero => 0,
        Place::Again(at) => match landed.get(at % landed.len().max(1)) {
            Some(commit) => return Append::new(run, Arc::clone(commit)),
            None => 1,
        },
    };
    let entries = (0..written.count).map(|at| Entry::Held { on: at % 2 == 0 }).collect();
    let owner = OwnerId(Uuid::from_bytes([written.owner; 16]));
    let at = Timestamp::from_millis(i64::try_from(first).unwrap());
    let mut append = Append::new(run, Arc::new(Commit::new(run, owner, Seq(first), at, Fence(written.fence), entries)));
    append.summary = written.summary.map(summary);
    append.relaxed = written.relaxed;
    append
}

/// What a store answers, in words: the variant and all its numbers.
fn answer(store: &Store, op: &Op, appends: &[Append]) -> String {
    match op {
        Op::Append(_) => format!("{:?}", store.journal.append(appends)),
        Op::Read { run: number, after, most } => format!("{:?}", store.journal.read(run(*number), Seq(*after), *most)),
        Op::Send { run: number, command: what } => format!("{:?}", store.mailbox.send(run(*number), &command(*what))),
        Op::Waiting => format!("{:?}", store.mailbox.waiting()),
        Op::Remove(commands) => {
            let ids: Vec<_> = commands.iter().map(|number| command(*number).id).collect();
            format!("{:?}", store.mailbox.remove(&ids))
        }
        Op::Put(bytes) => format!("{:?}", store.blobs.put(bytes)),
        Op::Get(bytes) => {
            let digest = Digest::of(bytes);
            format!("{:?} {:?}", store.blobs.get(digest), store.blobs.has(digest))
        }
        Op::List { statuses, workflow: first, since, before, most } => {
            let filter = Filter {
                statuses: statuses.iter().map(|status| STATUSES[*status].as_str()).collect(),
                workflow: first.map(|first| workflow(first).to_owned()),
                since: since.map(Timestamp::from_millis),
                before: *before,
                most: *most,
            };
            format!("{:?}", store.catalog.list(&filter))
        }
        Op::Find(number) => format!("{:?}", store.catalog.find(run(*number))),
        Op::Prefix(number, most) => format!("{:?}", store.catalog.starting_with(&format!("{number:02x}"), *most)),
        Op::Reopen => String::new(),
    }
}

fn opened(path: &Path) -> Store {
    Store::sqlite(path).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sqlite_answers_like_memory(ops in vec(op(), 1..60)) {
        // R-STORE-1, R-JRN-2
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sprag.db");
        let (memory, mut sqlite) = (Store::memory(), opened(&path));
        for op in &ops {
            let mut appends = Vec::new();
            if let Op::Append(batch) = op {
                for (ahead, written) in (0..).zip(batch) {
                    // Half of them follow each other within the batch, or would if the one before landed.
                    appends.push(append(&memory, written, ahead % 2));
                }
            }
            if matches!(op, Op::Reopen) {
                drop(sqlite);
                sqlite = opened(&path);
            }
            prop_assert_eq!(answer(&memory, op, &appends), answer(&sqlite, op, &appends), "{:?}", op);
        }
        for number in 0..5 {
            let op = Op::Read { run: number, after: 0, most: usize::MAX };
            prop_assert_eq!(answer(&memory, &op, &[]), answer(&sqlite, &op, &[]), "at the end");
        }
    }
}
