//! What people see with the sqlite3 tool.

use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sprag_core::run::{Commit, Fence, Seq, Timestamp, entries_from_json};
use sprag_store::{Append, Store};

use super::sample::{Place, owner, run};

const AT: i64 = 1_769_851_800_250;

fn write(store: &Store, by: u8, fence: u64, first: u64, names: &[&str], entries: &[String]) {
    let entries = entries_from_json(&format!(r#"{{"v":1,"entries":[{}]}}"#, entries.join(","))).unwrap();
    let at = Timestamp::from_millis(AT + i64::try_from(first).unwrap());
    let commit = Arc::new(Commit::new(run(1), owner(by), Seq(first), at, Fence(fence), entries));
    let mut one = Append::new(run(1), commit);
    one.names = (!names.is_empty()).then(|| names.iter().map(|name| (*name).to_owned()).collect());
    store.journal.append(&[one]).remove(0).unwrap();
}

fn rows(place: &Place, sql: &str) -> Vec<String> {
    let connection = rusqlite::Connection::open(place.path()).unwrap();
    let mut statement = connection.prepare(sql).unwrap();
    let columns = statement.column_count();
    let shown = |row: &rusqlite::Row<'_>| {
        let texts = (0..columns).map(|at| match row.get_unwrap(at) {
            rusqlite::types::Value::Null => "-".to_owned(),
            rusqlite::types::Value::Integer(number) => number.to_string(),
            rusqlite::types::Value::Text(text) => text,
            other => format!("{other:?}"),
        });
        Ok(texts.collect::<Vec<_>>().join(" "))
    };
    let found = statement.query_map([], shown).unwrap().map(Result::unwrap).collect();
    // The tool on this machine, which may be years older, says the same.
    match Command::new("sqlite3").args(["-separator", " ", "-nullvalue", "-"]).arg(place.path()).arg(sql).output() {
        Ok(output) => assert_eq!(String::from_utf8(output.stdout).unwrap().lines().collect::<Vec<_>>(), found),
        Err(_) => println!("not compared with the sqlite3 tool: it is not installed"),
    }
    found
}

/// Six nodes, each of which ends in another way, and a second owner who finds one interrupted.
fn story(store: &Store) {
    let error = |code: &str| format!(r#"{{"code":"{code}","message":"it's bad"}}"#);
    let node = |kind: &str, node: u8| format!(r#"{{"{kind}":{{"node":{node}}}}}"#);
    let attempt = |kind: &str, node: u8| format!(r#"{{"{kind}":{{"node":{node},"attempt":1}}}}"#);
    let owned = |number: u8, fence: u8| format!(r#"{{"owned":{{"owner":"{}","fence":{fence}}}}}"#, owner(number));
    let mut first = vec![owned(1, 1)];
    for number in 0..5 {
        first.extend([node("ready", number), attempt("started", number)]);
    }
    write(store, 1, 1, 1, &["fine", "retried", "final", "broken", "asked", "never"], &first);
    let due = AT + 9_000;
    let digest = "ab".repeat(32);
    write(
        store,
        1,
        1,
        12,
        &[],
        &[
            attempt("completed", 0),
            format!(r#"{{"failed":{{"node":1,"attempt":1,"error":{},"due":{due}}}}}"#, error("TIMEOUT")),
            format!(r#"{{"failed":{{"node":2,"attempt":1,"error":{},"due":{due}}}}}"#, error("TIMEOUT")),
            format!(r#"{{"asked":{{"id":"q1","kind":"gate","node":4,"attempt":1,"shown":"?","digest":"{digest}"}}}}"#),
        ],
    );
    write(
        store,
        2,
        9,
        16,
        &[],
        &[
            owned(2, 9),
            format!(r#"{{"failed":{{"node":3,"attempt":1,"error":{}}}}}"#, error("INTERRUPTED")),
            node("finalised", 2),
            node("ready", 1),
            r#"{"started":{"node":1,"attempt":2}}"#.to_owned(),
            r#"{"cancelled":{"node":4,"cause":"rejected"}}"#.to_owned(),
            r#"{"skipped":{"node":5,"reason":"dependency_failed","cause":3}}"#.to_owned(),
        ],
    );
}

#[test]
fn nodes_are_shown_with_their_names_and_states() {
    let place = Place::new();
    let store = place.open();
    story(&store);
    let sql = "SELECT node, state, attempts, error_code, error_message, reason, retry_at, since FROM nodes";
    assert_eq!(
        rows(&place, sql),
        [
            "fine completed 1 - - - - 2026-01-31T09:30:00.262Z",
            "retried running 2 - - - - 2026-01-31T09:30:00.266Z",
            "final failed 1 TIMEOUT it's bad - - 2026-01-31T09:30:00.262Z",
            "broken failed 1 INTERRUPTED it's bad - - 2026-01-31T09:30:00.266Z",
            "asked cancelled 1 - - rejected - 2026-01-31T09:30:00.266Z",
            "never skipped 0 - - dependency_failed - 2026-01-31T09:30:00.266Z",
        ]
    );
}

#[test]
fn attempts_are_shown_as_the_contract_lists_them() {
    // R-CLAIM-1
    let place = Place::new();
    let store = place.open();
    story(&store);
    let sql = "SELECT run_id = (SELECT id FROM run), node_id, attempt, status, last_error, retry_after_ms,
        substr(lock_owner, 1, 4), lease_expires_at, started_at, ended_at, checkpoint_token FROM attempts";
    let (start, middle, end) = ("2026-01-31T09:30:00.251Z", "2026-01-31T09:30:00.262Z", "2026-01-31T09:30:00.266Z");
    assert_eq!(
        rows(&place, sql),
        [
            format!("1 fine 1 completed - - 0101 - {start} {middle} 1"),
            format!("1 retried 1 failed TIMEOUT: it's bad 8988 0101 - {start} {middle} 1"),
            format!("1 retried 2 running - - 0202 - {end} - 9"),
            format!("1 final 1 failed TIMEOUT: it's bad 8988 0101 - {start} {middle} 1"),
            format!("1 broken 1 failed INTERRUPTED: it's bad - 0101 - {start} {end} 1"),
            format!("1 asked 1 cancelled - - 0101 - {start} {end} 1"),
        ]
    );
}

#[test]
fn runs_and_entries_are_shown() {
    let place = Place::new();
    let store = place.open();
    story(&store);
    assert_eq!(rows(&place, "SELECT number, run_id, status FROM runs"), [format!("1 {} -", run(1))]);
    let sql = "SELECT seq, kind, body FROM entries WHERE seq IN (2, 16) ORDER BY seq";
    assert_eq!(
        rows(&place, sql),
        [r#"2 ready {"node":0}"#.to_owned(), format!(r#"16 owned {{"owner":"{}","fence":9}}"#, owner(2))]
    );
}

#[test]
fn ten_thousand_nodes_are_shown_in_a_moment() {
    const NODES: usize = 10_000;
    let place = Place::new();
    let store = place.open();
    let names: Vec<String> = (0..NODES).map(|number| format!("node_{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let all = |kind: &str, rest: &str| -> Vec<String> {
        (0..NODES).map(|node| format!(r#"{{"{kind}":{{"node":{node}{rest}}}}}"#)).collect()
    };
    write(&store, 1, 1, 1, &names, &all("ready", ""));
    write(&store, 1, 1, 10_001, &[], &all("started", r#","attempt":1"#));
    write(&store, 1, 1, 20_001, &[], &all("completed", r#","attempt":1"#));
    for view in ["nodes", "attempts"] {
        let began = Instant::now();
        let sql = format!("SELECT * FROM {view} WHERE run_id = '{}'", run(1));
        assert_eq!(rows(&place, &sql).len(), NODES);
        assert!(began.elapsed() < Duration::from_secs(10), "{view}: {:?}", began.elapsed());
    }
}
