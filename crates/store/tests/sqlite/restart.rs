//! What is there after the process is gone.

use std::io::Write as _;

use sprag_core::run::Seq;
use sprag_store::Append;

use super::sample::{Place, append, commit, filled, in_process, last, process, run, said};

#[test]
fn everything_is_there_after_a_restart() {
    // R-JRN-1, R-JRN-2
    let place = Place::new();
    let store = place.open();
    filled(&store, 1, 5);
    let digest = store.blobs.put(b"bytes").unwrap();
    drop(store);
    let store = place.open();
    assert_eq!(last(&store, 1), 5);
    assert_eq!(store.blobs.get(digest).unwrap().unwrap(), b"bytes");
    append(&store, 1, 1, 6).unwrap();
    assert_eq!(store.journal.read(run(1), Seq(4), 9).unwrap().len(), 2);
    drop(store);
    // A store that is closed is whole without its log, and damage to what is left of the log is no damage to the store.
    let log = place.folder().join("sprag.db-wal");
    let whole = std::fs::read(&log).unwrap();
    for at in (0..whole.len()).step_by(whole.len().div_ceil(40).max(1)) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        let copy = Place::new();
        std::fs::copy(place.path(), copy.path()).unwrap();
        std::fs::write(copy.folder().join("sprag.db-wal"), damaged).unwrap();
        assert_eq!(last(&copy.open(), 1), 6, "byte {at}");
    }
    let copy = Place::new();
    std::fs::copy(place.path(), copy.path()).unwrap();
    assert_eq!(last(&copy.open(), 1), 6);
}

/// Appends for ever and says what is durable; nothing when it is run as a test.
#[test]
fn append_for_ever() {
    let Some(store) = in_process() else { return };
    for first in 1.. {
        let mut one = Append::new(run(1), commit(1, 1, first));
        one.relaxed = first % 2 == 0;
        store.journal.append(&[one]).remove(0).unwrap();
        let mut out = std::io::stdout().lock();
        writeln!(out, "said {first}").unwrap();
        out.flush().unwrap();
    }
}

#[test]
fn a_killed_process_loses_nothing_that_it_was_told_is_stored() {
    // R-JRN-1
    let place = Place::new();
    let mut child = process("restart::append_for_ever", &place.path());
    let mut lines = said(&mut child);
    for _ in 0..50 {
        lines.next().unwrap();
    }
    child.kill().unwrap();
    let told: u64 = lines.last().map_or(50, |line| line.parse().unwrap());
    child.wait().unwrap();
    let store = place.open();
    let there = last(&store, 1);
    assert!(there >= told, "{there} of {told}");
    // Whoever does not know whether the last one landed repeats it.
    append(&store, 1, 1, there).unwrap();
    append(&store, 1, 1, there + 1).unwrap();
    assert_eq!(last(&store, 1), there + 1);
}
