//! A chain of four commands that note each execution, and what must be true of it whatever happened.

use serde_json::{Value, json};

use crate::space::{Ran, Space};

const CHAIN: &str = "
workflow: chain
nodes:
  a: {run: 'echo a >> ledger; echo from a'}
  b: {run: 'echo b >> ledger; echo from b', needs: [a]}
  c: {run: 'echo c >> ledger; echo from c', needs: [b]}
  d: {run: 'echo d >> ledger; echo from d', needs: [c]}
";

/// A folder with the chain, not run yet.
pub fn fresh() -> Space {
    Space::new().with("sprag.yaml", CHAIN)
}

/// A folder in which the chain was run once, so that its store is made and knows the workflow.
pub fn used() -> Space {
    let space = fresh();
    let ran = space.run(&["run"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    std::fs::remove_file(space.path("ledger")).unwrap();
    space
}

/// Which nodes were executed, in order.
pub fn ledger(space: &Space) -> Vec<String> {
    let text = std::fs::read_to_string(space.path("ledger")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Fails unless the newest run has completed with its own results.
pub fn is_complete(space: &Space) {
    let shown = space.run(&["show", "--json"]).json();
    assert_eq!(shown["status"], json!("completed"), "{shown}");
    let outputs: Vec<&Value> = shown["nodes"].as_array().unwrap().iter().map(|node| &node["output"]).collect();
    assert_eq!(outputs, ["from a", "from b", "from c", "from d"]);
}

/// Fails unless each node was executed exactly once.
pub fn ran_once(space: &Space) {
    assert_eq!(ledger(space), ["a", "b", "c", "d"]);
}

/// Fails unless a command ended like this, with a code, and with words that help.
pub fn said(ran: &Ran, exit: i32, code: &str, words: &[&str]) {
    assert_eq!(ran.code, Some(exit), "{}", ran.err);
    assert!(ran.err.contains(&format!("error[{code}]")), "expected {code} in: {}", ran.err);
    for word in words.iter().chain(&["help: "]) {
        assert!(ran.err.contains(word), "expected `{word}` in: {}", ran.err);
    }
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
}
