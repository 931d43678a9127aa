//! Faults that a reader of the code found, each told as what a person would have met.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use rustix::process::Signal;

use super::owner::Owner;
use super::space::Space;

/// R-JRN-2: what is taken into a journal can be read back. A value nested as deep as a reader of JSON just accepts would be
/// stored a few levels deeper than it accepts, and the run could never be read again.
#[test]
fn a_value_that_nests_too_deep_is_refused_and_the_run_stays_readable() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let space = Space::new().with("deep.json", nested(125)).with("fine.json", nested(64)).with(
        "sprag.yaml",
        "workflow: deep\nparams: { list: { type: array, default: [] } }\nnodes:\n  \
         deep: { run: cat deep.json > \"$SPRAG_OUTPUT\" }\n  fine: { run: cat fine.json > \"$SPRAG_OUTPUT\" }\n  \
         patch: { run: 'printf \"{\\\"a\\\":%s}\" \"$(cat deep.json)\" > \"$SPRAG_CONTEXT\"' }\n",
    );
    assert_eq!(space.run(&["run"]).code, Some(1));
    let shown = space.run(&["show", "--json"]);
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    let shown = shown.json();
    let node = |id: &str| shown["nodes"].as_array().unwrap().iter().find(|node| node["id"] == id).unwrap().clone();
    assert_eq!(node("deep")["error"]["code"], "INVALID_OUTPUT");
    assert_eq!(node("patch")["error"]["code"], "INVALID_OUTPUT");
    assert_eq!(node("fine")["state"], "completed");
    assert_eq!(node("fine")["output"].to_string(), nested(64));
    space.run(&["run", "-p", &format!("list={}", nested(100))]).is_refusal("INVALID_PARAM");
}

/// R-ASK-2: a run that always has something to decide listens all the same.
#[test]
fn a_busy_run_can_be_cancelled() {
    let mut file = String::from("workflow: busy\nnodes:\n  n0: { noop: {} }\n");
    for at in 1..40_000 {
        writeln!(file, "  n{at}: {{ noop: {{}}, needs: [n{}] }}", at - 1).unwrap();
    }
    let space = Space::new().with("sprag.yaml", file);
    let mut owner = Owner::start(&space, &["run"]);
    owner.said("n10: completed").unwrap();
    let cancelled = space.run(&["cancel", "@last"]);
    assert_eq!(cancelled.code, Some(0), "{}", cancelled.err);
    assert_eq!(owner.finish().code, Some(5));
}

/// R-GATE-3, R-JRN-3: Ctrl-C twice leaves although the last results cannot be written, and says so.
#[test]
fn ctrl_c_twice_leaves_a_store_that_cannot_be_written() {
    let space = Space::new().with(
        "sprag.yaml",
        "workflow: locked\nnodes:\n  first: { run: until test -e go1; do sleep 0.02; done }\n  \
         second: { run: until test -e go2; do sleep 0.02; done }\n  last: { needs: [first, second], noop: {} }\n",
    );
    let mut owner = Owner::start(&space, &["run"]);
    owner.said("second: running").unwrap();
    let mut other = Command::new("sqlite3");
    other.arg(space.path(".sprag/sprag.db")).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut other = other.spawn().unwrap();
    let mut said = BufReader::new(other.stdout.take().unwrap());
    other.stdin.as_mut().unwrap().write_all(b".timeout 5000\nBEGIN IMMEDIATE;\nSELECT 'locked';\n").unwrap();
    said.read_line(&mut String::new()).unwrap();
    // Both end while nothing can be written.
    std::fs::write(space.path("go1"), "").unwrap();
    owner.said("cannot be written").unwrap();
    std::fs::write(space.path("go2"), "").unwrap();
    owner.signal(Signal::INT);
    owner.said("stopping").unwrap();
    owner.signal(Signal::INT);
    let left = owner.finish();
    assert_eq!(left.code, Some(75), "{}", left.err);
    assert!(left.err.contains("sprag resume"), "{}", left.err);
    drop(other.stdin.take());
    other.wait().unwrap();
    assert_eq!(space.run(&["resume"]).code, Some(0));
}

/// R-CLI-8: a resumed run says what it did not have to do again: nodes, time, tokens, money.
#[test]
fn a_resume_says_what_was_saved() {
    let space = Space::new().with(
        "sprag.yaml",
        "workflow: paid\nnodes:\n  paid: { run: 'sleep 0.2; echo \"{\\\"usage\\\": {\\\"tokens_in\\\": 7, \\\"tokens_out\\\": 3, \
         \\\"usd\\\": 0.5}}\" > \"$SPRAG_OUTPUT\"' }\n  wait: { needs: [paid], run: until test -e go; do sleep 0.02; done }\n",
    );
    let mut owner = Owner::start(&space, &["run"]);
    owner.said("wait: running").unwrap();
    owner.kill();
    std::fs::write(space.path("go"), "").unwrap();
    let resumed = space.run(&["resume", "--json"]);
    assert_eq!(resumed.code, Some(0), "{}", resumed.err);
    let last: serde_json::Value = serde_json::from_str(resumed.out.lines().last().unwrap()).unwrap();
    let saved = &last["saved"];
    assert_eq!((&saved["nodes"], &saved["tokens"], &saved["usd"]), (&1.into(), &10.into(), &0.5.into()), "{last}");
    assert!(saved["seconds"].as_f64().unwrap() >= 0.2, "{last}");
}
