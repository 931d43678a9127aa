//! Results that are checked before anybody sees them, and how much of them waits for the disk (`R-CACHE-3`,
//! `R-SCHED-5`, `R-JRN-1`).

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;

use super::rig::{may_inject, sql, traced};
use crate::space::Space;

fn node(space: &Space, id: &str) -> Value {
    let shown = space.run(&["show", "--json"]).json();
    shown["nodes"].as_array().unwrap().iter().find(|node| node["id"] == id).unwrap().clone()
}

/// R-CACHE-3: only what this attempt wrote counts, it has to be there, and its digest is in the journal.
#[test]
fn declared_outputs() {
    let space = Space::new()
        .with("made/old", "of an earlier time")
        .with("missing", "of an earlier time")
        .with("kept", "not declared")
        .with(
            "sprag.yaml",
            "
workflow: results
policy: {fail_fast: false}
nodes:
  makes: {run: 'ls made > seen 2>&1; mkdir made; echo 1 > made/one; echo 2 > made/two', outputs: [made]}
  misses: {run: 'echo nothing', outputs: [missing]}
  leaves: {run: 'ln -s /etc/hostname link', outputs: [link]}
  retries: {run: 'test ! -e half && echo gone >> tries; echo half > half; test $SPRAG_ATTEMPT = 2', outputs: [half], \
             retry: {max_attempts: 2, initial_delay: 1ms}}
  after: {run: echo after, needs: [misses]}
",
        );
    let ran = space.run(&["run"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert_eq!(node(&space, "makes")["state"], "completed");
    assert!(
        fs::read_to_string(space.path("seen")).unwrap().contains("No such file"),
        "it was there before the attempt"
    );
    assert_eq!(node(&space, "misses")["error"]["code"], "INVALID_OUTPUT");
    assert_eq!(node(&space, "after")["state"], "skipped");
    assert_eq!(node(&space, "leaves")["error"]["code"], "SCOPE_VIOLATION");
    assert!(fs::exists("/etc/hostname").unwrap() || !fs::exists("/etc").unwrap());
    assert_eq!(node(&space, "retries")["state"], "completed");
    assert_eq!(fs::read_to_string(space.path("tries")).unwrap(), "gone\ngone\n", "leftovers of the first attempt");
    assert_eq!(fs::read_to_string(space.path("kept")).unwrap(), "not declared");

    // The digest of R-CACHE-3, made with other tools.
    let mut framed = Vec::new();
    for (path, content) in [("made/one", "1\n"), ("made/two", "2\n")] {
        for part in [path, content] {
            framed.extend((part.len() as u64).to_be_bytes());
            framed.extend(part.as_bytes());
        }
    }
    fs::write(space.path("framed"), framed).unwrap();
    let tool = std::process::Command::new("sha256sum").arg(space.path("framed")).output().unwrap();
    let digest = String::from_utf8(tool.stdout).unwrap()[..64].to_owned();
    let stored = sql(&space, "SELECT group_concat(body) FROM entries WHERE kind IN ('produced', 'completed')");
    assert!(stored.contains(&digest), "{digest} in {stored}");
    // Of attempts that failed nothing is harvested.
    assert_eq!(stored.matches("\"half\"").count(), 1, "{stored}");
    assert!(!stored.contains("\"missing\"") && !stored.contains("\"link\""), "{stored}");
    let events = space.run(&["events", "--json"]).out;
    assert!(events.contains("\"to\":\"completed\""), "{events}");
}

/// R-CACHE-3: removing what is declared never reaches outside of the project.
#[test]
fn a_link_in_the_way_is_not_followed() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("precious"), "data").unwrap();
    let space = Space::new().with(
        "sprag.yaml",
        "
workflow: links
policy: {fail_fast: false}
nodes:
  through: {run: 'echo ran >> ran', outputs: [door/precious]}
  itself: {run: 'echo new > alias', outputs: [alias]}
",
    );
    symlink(outside.path(), space.path("door")).unwrap();
    symlink(outside.path().join("precious"), space.path("alias")).unwrap();
    assert_eq!(space.run(&["run"]).code, Some(1));
    assert_eq!(node(&space, "through")["error"]["code"], "SCOPE_VIOLATION");
    assert!(!space.path("ran").exists());
    assert_eq!(node(&space, "itself")["state"], "completed");
    assert_eq!(fs::read_to_string(outside.path().join("precious")).unwrap(), "data");
}

/// R-SCHED-5: what does not fit a schema fails the node that made it, and nobody downstream sees it.
#[test]
fn schemas() {
    let space = Space::new().with(
        "sprag.yaml",
        r#"
workflow: shapes
policy: {fail_fast: false}
nodes:
  own: {run: 'echo "[1, 2]"', output: json, output_schema: {type: object}}
  after-own: {run: 'echo seen >> seen', needs: [own]}
  theirs: {run: 'echo "{\"n\": \"x\"}"', output: json}
  after-theirs: {run: 'echo seen >> seen', needs: [theirs],
    input_schema: {theirs: {type: object, properties: {n: {type: integer}}}}}
  fits: {run: 'echo "{\"n\": 1}"', output: json, output_schema: {type: object, required: [n]}}
  after-fits: {run: 'echo fine', needs: [fits], input_schema: {fits: {type: object}}}
"#,
    );
    let ran = space.run(&["run"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    for (id, follower) in [("own", "after-own"), ("theirs", "after-theirs")] {
        let made = node(&space, id);
        assert_eq!((&made["state"], &made["error"]["code"]), (&"failed".into(), &"SCHEMA_MISMATCH".into()), "{made}");
        assert_eq!(made["output"], Value::Null);
        assert_eq!(node(&space, follower)["state"], "skipped");
    }
    assert!(!space.path("seen").exists());
    assert_eq!(node(&space, "after-fits")["output"], "fine");
}

/// R-JRN-1: `strict` waits for the disk once a node, `relaxed` does not wait for it at all while the run goes on.
#[test]
fn how_often_the_disk_is_waited_for() {
    const NODES: usize = 40;
    if !may_inject("counting flushes") {
        return;
    }
    let flushes = |durability: &str| {
        let mut text = format!("workflow: idle\npolicy: {{durability: {durability}}}\nnodes:\n  n0: {{noop: }}\n");
        for at in 1..NODES {
            let _ = writeln!(text, "  n{at}: {{noop: , needs: [n{}]}}", at - 1);
        }
        let space = Space::new().with("sprag.yaml", text);
        // The first one makes the store.
        assert_eq!(space.run(&["run"]).code, Some(0));
        let ran = traced(&space, &[], &["run"]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert_eq!(space.run(&["show", "--json"]).json()["counts"]["completed"], NODES);
        let trace = fs::read_to_string(space.path("trace")).unwrap();
        trace.lines().filter(|line| line.contains("fsync(") || line.contains("fdatasync(")).count()
    };
    let (strict, relaxed) = (flushes("strict"), flushes("relaxed"));
    println!("{NODES} nodes: {strict} flushes strict, {relaxed} relaxed");
    assert!((NODES..NODES + 8).contains(&strict), "{strict}");
    assert!(relaxed < 6, "{relaxed}");
}
