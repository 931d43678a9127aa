//! The views for people, through the `sqlite3` tool of the system (`R-CLAIM-1`, `R-STORE-1`).

use std::io::Write as _;

use super::rig::{Going, gate, sql};
use crate::space::Space;

const RUNS: &str = "SELECT workflow, status, nodes, failed, exit_code, error_code, failed_node FROM runs";
const NODES: &str = "SELECT node, state, attempts, error_code, error_message, reason FROM nodes ORDER BY node_index";
const ATTEMPTS: &str = "SELECT node_id, attempt, status, last_error, retry_after_ms, started_at IS NOT NULL, \
                        ended_at IS NOT NULL, checkpoint_token IS NOT NULL FROM attempts ORDER BY node_id, attempt";

/// They tell the same while a run goes on and afterwards, and looking at them disturbs nobody.
#[test]
fn while_a_run_goes_on_and_afterwards() {
    let space = Space::new().with(
        "sprag.yaml",
        "
workflow: watched
nodes:
  a: {run: 'test $SPRAG_ATTEMPT = 2 || { echo too early >&2; exit 3; }', \
       retry: {max_attempts: 2, initial_delay: 1ms, jitter: 0}}
  b: {run: 'read go < gate', needs: [a]}
  c: {run: 'echo no >&2; exit 1', needs: [b]}
  d: {run: echo d, needs: [c]}
",
    );
    let mut gate = gate(&space, "gate");
    let mut command = space.command();
    command.arg("run");
    let mut going = Going::start(command);
    going.until("b: running");
    assert_eq!(sql(&space, "SELECT workflow, status, nodes, exit_code FROM runs"), "watched|running|4|\n");
    assert_eq!(sql(&space, NODES), "a|completed|2|||\nb|running|1|||\nc|pending|0|||\nd|pending|0|||\n");
    assert_eq!(
        sql(&space, ATTEMPTS),
        "a|1|failed|TOOL_ERROR: too early|1|1|1|1\na|2|completed|||1|1|1\nb|1|running|||1|0|1\n"
    );
    let owner = sql(&space, "SELECT owner FROM runs");
    assert_eq!(sql(&space, "SELECT DISTINCT lock_owner FROM attempts"), owner);

    gate.write_all(b"go\n").unwrap();
    let ran = going.end();
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert_eq!(sql(&space, RUNS), "watched|failed|4|1|1|TOOL_ERROR|c\n");
    assert_eq!(
        sql(&space, NODES),
        "a|completed|2|||\nb|completed|1|||\nc|failed|1|TOOL_ERROR|no|\nd|skipped|0|||dependency_failed\n"
    );
    assert_eq!(
        sql(&space, ATTEMPTS),
        "a|1|failed|TOOL_ERROR: too early|1|1|1|1\na|2|completed|||1|1|1\nb|1|completed|||1|1|1\n\
         c|1|failed|TOOL_ERROR: no||1|1|1\n"
    );
    // The tool may have taken the log away with it; sprag does not mind.
    assert_eq!(space.run(&["show", "--json"]).json()["status"], "failed");
}
