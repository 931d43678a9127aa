//! What commands wrote about themselves while they ran, and what must be true of it however often sprag was killed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::space::Space;

/// A line: `start`, `stop` or `late`, and who wrote it.
struct Line<'text> {
    what: &'text str,
    attempt: &'text str,
    key: &'text str,
    node: &'text str,
}

/// The processes of sprag that started what is in the ledger.
pub fn owners(space: &Space) -> BTreeSet<String> {
    let text = std::fs::read_to_string(space.path("ledger")).unwrap_or_default();
    text.lines().filter_map(|line| line.split(' ').nth(4).map(str::to_owned)).collect()
}

/// Fails unless the effects of a run are those that `show` tells of.
pub fn check(space: &Space, shown: &Value) {
    let text = std::fs::read_to_string(space.path("ledger")).unwrap();
    let lines: Vec<Line<'_>> = text
        .lines()
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(words.len(), 5, "`{line}` was written in pieces");
            Line { what: words[0], attempt: words[1], key: words[2], node: words[3] }
        })
        .collect();
    let mut keys = BTreeMap::new();
    for line in &lines {
        assert_eq!(*keys.entry(line.node).or_insert(line.key), line.key, "{} has two idempotency keys", line.node);
    }
    assert_eq!(keys.values().collect::<BTreeSet<_>>().len(), keys.len(), "two nodes share an idempotency key");
    for node in shown["nodes"].as_array().unwrap() {
        let own: Vec<&Line<'_>> = lines.iter().filter(|line| line.node == node["id"].as_str().unwrap()).collect();
        check_node(node, &own);
    }
}

fn check_node(node: &Value, lines: &[&Line<'_>]) {
    let name = &node["id"];
    let attempts = node["ledger"].as_array().unwrap();
    // R-CLAIM-1: nothing is started that was not durable before, and nothing twice.
    let started: Vec<&str> = lines.iter().filter(|line| line.what == "start").map(|line| line.attempt).collect();
    let known: Vec<&str> = attempts.iter().map(|attempt| attempt["attempt_id"].as_str().unwrap()).collect();
    let place = |id: &str| known.iter().position(|known| *known == id);
    let places: Vec<usize> =
        started.iter().map(|id| place(id).unwrap_or_else(|| panic!("{name}: attempt {id} is nowhere"))).collect();
    assert!(places.is_sorted_by(|a, b| a < b), "{name}: started {places:?}");
    for (at, attempt) in attempts.iter().enumerate() {
        let last = at + 1 == attempts.len();
        let status = attempt["status"].as_str().unwrap();
        // R-CLAIM-3: a result is the last thing that happens to a node.
        assert!(status != "completed" || last, "{name} went on after it was completed");
        let interrupted = attempt["last_error"]["code"] == "INTERRUPTED";
        assert!(interrupted || places.contains(&at), "{name}: attempt {at} is {status}, and never was");
        let stops = lines.iter().filter(|line| line.what == "stop" && line.attempt == known[at]).count();
        assert!(stops == 1 || (interrupted && stops == 0), "{name}: attempt {at} stopped {stops} times");
    }
    // R-CLAIM-2: what an owner left is gone before the next attempt begins.
    let mut newest = 0;
    for line in lines {
        let at = place(line.attempt).unwrap();
        newest = newest.max(at);
        let interrupted = attempts[at]["last_error"]["code"] == "INTERRUPTED";
        assert!(at == newest || !interrupted, "{name}: attempt {at} says {} after {newest} began", line.what);
    }
}

/// What a run came to, without what depends on the clock and on how often it was disturbed.
pub fn result(shown: &Value) -> Value {
    let nodes = shown["nodes"].as_array().unwrap().iter().map(|node| {
        // R-CLAIM-4: an interrupted attempt does not count.
        let own = |attempt: &&Value| attempt["last_error"]["code"] != "INTERRUPTED";
        let attempts = node["ledger"].as_array().unwrap().iter().filter(own).count();
        let attempts = if node["state"] == "failed" { Some(attempts) } else { None };
        serde_json::json!({
            "id": node["id"], "state": node["state"], "output": node["output"], "error": node["error"]["code"],
            "skip_reason": node["skip_reason"], "skip_cause": node["skip_cause"], "attempts": attempts,
        })
    });
    let nodes: Vec<Value> = nodes.collect();
    serde_json::json!({
        "status": shown["status"], "exit_code": shown["exit_code"], "degraded": shown["degraded"],
        "context": shown["context"], "nodes": nodes,
    })
}
