//! The JSON of a plan (`R-CLI-8`).

use serde_json::json;

use super::support::{past, planned, usual};
use crate::load::support::valid;

#[test]
fn a_plan_as_json() {
    // R-CLI-8, R-RES-3
    let definition =
        valid("workflow: w\nnodes: { a: { noop: }, b: { noop:, needs: [a] }, c: { noop:, needs: [b] } }\n");
    let past = past(&definition, "a=completed b=failed c=awaiting_approval");
    let plan = planned(&definition, &past, &usual()).unwrap();
    let usage = json!({"tokens_in": 10, "tokens_out": 5, "usd": 0.5});
    assert_eq!(
        serde_json::to_value(&plan).unwrap(),
        json!({
            "nodes": [
                {"id": "a", "action": "reuse", "reason": "it completed, and nothing before it changed", "expected": null},
                {"id": "b", "action": "execute", "reason": "it failed", "expected": usage},
                {"id": "c", "action": "execute", "reason": "it comes after `b`, which runs", "expected": usage},
            ],
            "nodes_to_execute": ["b", "c"],
            "completed_results": ["a"],
            "start_from_wave": 1,
            "start_from_phase": 0,
            "previous_token_usage": {"tokens_in": 100, "tokens_out": 50, "usd": 2.0},
            "saved": {"nodes": 1, "seconds": 1.5, "tokens": 15, "usd": 0.5},
            "changes": {"kept": ["a", "b", "c"], "invalidated": [], "new": [], "removed": []},
        })
    );
}

#[test]
fn nothing_to_do_starts_nowhere() {
    // R-RES-3
    let definition = valid("workflow: w\nnodes: { a: { noop: } }\n");
    let plan = planned(&definition, &past(&definition, "a=completed"), &usual()).unwrap();
    assert!(plan.is_done());
    assert_eq!(serde_json::to_value(&plan).unwrap()["start_from_wave"], json!(null));
}
