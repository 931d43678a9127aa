//! Rows that are not what was written.

use sprag_core::hash::Digest;
use sprag_core::run::Seq;
use sprag_store::{Append, Store, StoreError};

use super::sample::{Place, append, commit, filled, run};

/// The entry from which a journal cannot be trusted.
fn corrupt_at(store: &Store, after: u64) -> Option<u64> {
    match store.journal.read(run(1), Seq(after), usize::MAX) {
        Err(StoreError::Corrupt { run: which, seq, detail }) => {
            assert_eq!(which, run(1));
            assert!(!detail.is_empty());
            Some(seq.0)
        }
        Ok(_) => None,
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn a_change_in_any_column_is_noticed() {
    // R-JRN-2
    for change in [
        "entries = replace(entries, 'true', 'false')",
        "entries = entries || ' '",
        "checksum = zeroblob(16)",
        "checksum = x''",
        "checksum = CAST(substr(checksum, 1, 15) || x'00' AS BLOB)",
        "fence = fence + 1",
        "at = at + 1",
        "last_seq = last_seq + 1",
        "commit_id = '00000000-0000-0000-0000-000000000000'",
        "commit_id = 'nonsense'",
        "first_seq = 99",
        "run = 2",
    ] {
        let place = Place::new();
        let store = place.open();
        filled(&store, 1, 5);
        assert_eq!(corrupt_at(&store, 0), None);
        place.tamper(&format!("UPDATE commits SET {change} WHERE first_seq = 3"));
        assert_eq!(corrupt_at(&store, 0), Some(3), "{change}");
        assert_eq!(corrupt_at(&store, 1), Some(3), "{change}");
        assert_eq!(corrupt_at(&store, 2), Some(3), "{change}");
        // What comes before is still good.
        assert_eq!(store.journal.read(run(1), Seq(0), 2).unwrap().len(), 2, "{change}");
    }
}

#[test]
fn every_bit_of_the_stored_text_counts() {
    let place = Place::new();
    let store = place.open();
    filled(&store, 1, 2);
    let connection = rusqlite::Connection::open(place.path()).unwrap();
    let select = "SELECT entries FROM commits WHERE first_seq = 2";
    let text: String = connection.query_row(select, [], |row| row.get(0)).unwrap();
    let set = |bytes: &[u8]| {
        let sql = "UPDATE commits SET entries = CAST(?1 AS TEXT) WHERE first_seq = 2";
        connection.execute(sql, [bytes]).unwrap();
    };
    for at in 0..text.len() {
        for bit in 0..8 {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1 << bit;
            set(&bytes);
            assert_eq!(corrupt_at(&store, 0), Some(2), "bit {bit} of byte {at}");
        }
    }
    set(text.as_bytes());
    assert_eq!(corrupt_at(&store, 0), None);
}

#[test]
fn rows_that_are_missing_swapped_or_of_another_run_are_noticed() {
    for (sql, seq) in [
        ("DELETE FROM commits WHERE run = 1 AND first_seq = 1", 1),
        ("DELETE FROM commits WHERE run = 1 AND first_seq = 3", 3),
        ("DELETE FROM commits WHERE run = 1", 1),
        // Places are swapped, and with them the numbers of the entries.
        (
            "UPDATE commits SET first_seq = 103 WHERE run = 1 AND first_seq = 3;
             UPDATE commits SET first_seq = 3, last_seq = 3 WHERE run = 1 AND first_seq = 4;
             UPDATE commits SET first_seq = 4, last_seq = 4 WHERE run = 1 AND first_seq = 103;",
            3,
        ),
        // The row of another run, which fits its own chain.
        (
            "DELETE FROM commits WHERE run = 1 AND first_seq = 4;
             UPDATE commits SET run = 1 WHERE run = 2 AND first_seq = 4;",
            4,
        ),
    ] {
        let place = Place::new();
        let store = place.open();
        filled(&store, 1, 5);
        filled(&store, 2, 5);
        place.tamper(sql);
        assert_eq!(corrupt_at(&store, 0), Some(seq), "{sql}");
    }
}

#[test]
fn entries_of_a_newer_sprag_say_so() {
    let place = Place::new();
    let store = place.open();
    filled(&store, 1, 1);
    drop(store);
    // With a checksum that fits, as a newer sprag would write it.
    let text = r#"{"v":2,"entries":[{"teleported":{}}]}"#;
    let checksum = checksum(&commit(1, 1, 1), text);
    let connection = rusqlite::Connection::open(place.path()).unwrap();
    connection.execute("UPDATE commits SET entries = ?1, checksum = ?2", rusqlite::params![text, checksum]).unwrap();
    drop(connection);
    match place.open().journal.read(run(1), Seq(0), 9) {
        Err(StoreError::Corrupt { detail, .. }) => assert!(detail.contains("newer"), "{detail}"),
        other => panic!("{other:?}"),
    }
}

/// The checksum of a first commit with another text, computed from what is documented about it alone.
fn checksum(commit: &sprag_core::run::Commit, text: &str) -> Vec<u8> {
    let mut bytes = vec![0; 16];
    bytes.extend([1; 16]);
    for number in [commit.first.0, commit.last().0, commit.at.millis.cast_unsigned()] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(commit.id.as_bytes());
    bytes.extend(commit.fence.0.to_le_bytes());
    bytes.extend(text.as_bytes());
    Digest::of(&bytes).0[..16].to_vec()
}

#[test]
fn a_damaged_run_does_not_harm_the_others() {
    let place = Place::new();
    let store = place.open();
    filled(&store, 1, 2);
    filled(&store, 2, 2);
    place.tamper("UPDATE commits SET checksum = x'' WHERE run = 1");
    let batch = [1, 2].map(|number| Append::new(run(number), commit(number, 1, 3)));
    let answers = store.journal.append(&batch);
    assert!(matches!(answers[0], Err(StoreError::Corrupt { seq: Seq(2), .. })), "{answers:?}");
    assert!(matches!(answers[1], Ok(Seq(3))), "{answers:?}");
}

#[test]
fn other_rows_that_were_changed_are_noticed() {
    let place = Place::new();
    let store = place.open();
    let digest = store.blobs.put(b"bytes").unwrap();
    append(&store, 1, 1, 1).unwrap();
    place.tamper("UPDATE blob SET bytes = x'00'");
    assert!(matches!(store.blobs.get(digest), Err(StoreError::Damaged { .. })));
    place.tamper("INSERT INTO mailbox (id, run, command) VALUES ('x', 'y', '{}')");
    assert!(matches!(store.mailbox.waiting(), Err(StoreError::Damaged { .. })));
    place.tamper("UPDATE run SET summary = '{}'");
    assert!(matches!(store.catalog.find(run(1)), Err(StoreError::Damaged { .. })));
    place.tamper("DROP TABLE blob");
    assert!(matches!(store.blobs.get(digest), Err(StoreError::Damaged { .. })));
}
