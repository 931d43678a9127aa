//! Several processes at one file.

use std::sync::mpsc;

use sprag_core::run::Seq;
use sprag_store::{Append, StoreError};

use super::sample::{Place, append, commit, filled, in_process, last, process, run};

const PLACES: u64 = 25;

#[test]
fn stores_in_one_process_see_each_other() {
    let place = Place::new();
    let (one, two) = (place.open(), place.open());
    append(&one, 1, 1, 1).unwrap();
    append(&two, 1, 1, 2).unwrap();
    assert!(matches!(append(&one, 1, 2, 2), Err(StoreError::Conflict { actual: Seq(2), .. })));
    assert_eq!((last(&one, 1), last(&two, 1)), (2, 2));
    drop(two);
    // Closing one store must not take the locks of the other, or another process would clear up its log.
    append(&one, 1, 1, 3).unwrap();
    let mut child = process("several::look_and_leave", &place.path());
    assert!(child.wait().unwrap().success());
    append(&one, 1, 1, 4).unwrap();
    assert_eq!((last(&one, 1), last(&place.open(), 1)), (4, 4));
}

/// Opens and closes the store; nothing when it is run as a test.
#[test]
fn look_and_leave() {
    if let Some(store) = in_process() {
        assert_eq!(last(&store, 1), 3);
    }
}

/// Takes whatever place it gets in run 1, and all of its own run; nothing when it is run as a test.
#[test]
fn compete() {
    let Some(store) = in_process() else { return };
    let me = u8::try_from(std::process::id() % 200).unwrap() + 2;
    filled(&store, me, PLACES);
    for first in 1..=PLACES {
        match append(&store, 1, me, first) {
            Ok(_) | Err(StoreError::Conflict { .. }) => {}
            Err(other) => panic!("{other:?}"),
        }
    }
}

#[test]
fn of_several_processes_one_wins_each_place() {
    // R-CLAIM-1
    let place = Place::new();
    let children: Vec<_> = (0..3).map(|_| process("several::compete", &place.path())).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let store = place.open();
    let commits = store.journal.read(run(1), Seq(0), usize::MAX).unwrap();
    assert_eq!(commits.iter().map(|commit| commit.first.0).collect::<Vec<_>>(), (1..=PLACES).collect::<Vec<_>>());
}

#[test]
fn readers_do_not_wait_for_a_writer_and_a_writer_waits_for_another() {
    let place = Place::new();
    let store = place.open();
    filled(&store, 1, 1);
    let other = rusqlite::Connection::open(place.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE; DELETE FROM commits;").unwrap();
    assert_eq!(last(&store, 1), 1);
    assert_eq!(store.mailbox.waiting().unwrap(), []);
    let (send, receive) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let answer = append(&store, 1, 1, 2);
            send.send(()).unwrap();
            answer.unwrap();
        });
        assert!(receive.try_recv().is_err(), "it waits");
        other.execute_batch("ROLLBACK").unwrap();
    });
    assert_eq!(last(&store, 1), 2);
}

#[test]
fn a_writer_gives_up_when_another_does_not_end() {
    // R-JRN-3
    let place = Place::new();
    let store = place.open();
    filled(&store, 1, 1);
    let other = rusqlite::Connection::open(place.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let batch = [Append::new(run(1), commit(1, 1, 2)), Append::new(run(1), commit(1, 1, 9))];
    for answer in store.journal.append(&batch) {
        assert!(matches!(answer, Err(StoreError::Unavailable { .. })), "{answer:?}");
    }
    other.execute_batch("COMMIT").unwrap();
    let answers = store.journal.append(&batch);
    assert!(matches!(answers[..], [Ok(Seq(2)), Err(StoreError::Conflict { .. })]), "{answers:?}");
}
