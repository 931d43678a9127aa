//! What the planning tests share: pasts written as text, plans read as text.

use serde_json::json;
use sprag_core::definition::{Definition, Kind};
use sprag_core::hash::Digest;
use sprag_core::plan::{Action, Mode, Past, PastNode, Plan, PlanError, Request, ResumeOptions, no_task_hashes, plan};
use sprag_core::run::{
    CancelCause, Cost, EndStatus, KeptResult, Known, NodeError, NodeState, Product, RunId, SkipReason, Usage,
};

/// The cost of every node that ran.
pub const COST: Cost = Cost { usage: Usage { tokens_in: 10, tokens_out: 5, usd: 0.5 }, millis: 1_500 };

/// A run id with a number.
pub fn run(number: u128) -> RunId {
    serde_json::from_value(json!(format!("{:08x}-0000-7000-8000-000000000000", number))).unwrap()
}

/// A node in a state: `completed`, `failed`, `stopped` (skipped by a stop), `lost` (completed, result missing),
/// `retrying` (failed, not settled), `unmet` (skipped by a condition), `after:x` (skipped because `x` failed), ….
pub fn node(kind: Kind, hash: Digest, state: &str) -> PastNode {
    let (word, cause) = state.split_once(':').map_or((state, None), |(word, cause)| (word, Some(cause.to_owned())));
    let skipped = |reason| {
        let mut node = PastNode::new(kind, hash, NodeState::Skipped);
        node.skip = Some((reason, cause.clone()));
        node
    };
    let mut node = match word {
        "stopped" => skipped(SkipReason::RunStopped),
        "unmet" => skipped(SkipReason::ConditionNotMet),
        "after" => skipped(SkipReason::DependencyFailed),
        "lost" => PastNode::new(kind, hash, NodeState::Completed),
        "retrying" => PastNode { settled: false, ..PastNode::new(kind, hash, NodeState::Failed) },
        word => PastNode::new(kind, hash, NodeState::from_name(word).unwrap()),
    };
    if word == "completed" {
        node.result = Some(KeptResult::of(Product::of(json!("done"))));
    }
    if node.state == NodeState::Failed {
        node.error = Some(NodeError::new(Known::TOOL_ERROR, "it broke"));
    }
    if node.state == NodeState::Cancelled {
        node.cancelled = Some(CancelCause::Stopped);
    }
    if !matches!(node.state, NodeState::Pending | NodeState::Ready | NodeState::Skipped) {
        node.cost = Some(COST);
    }
    node
}

/// A run of a definition that failed with its nodes in these states: `a=completed b=failed`.
pub fn past(definition: &Definition, states: &str) -> Past {
    let mut past = Past::empty(run(1), run(1), definition.graph_hash);
    past.ending = Some(EndStatus::Failed);
    past.context = definition.context.clone();
    past.usage = Usage { tokens_in: 100, tokens_out: 50, usd: 2.0 };
    for pair in states.split_whitespace() {
        let (id, state) = pair.split_once('=').unwrap();
        let compiled = definition.node(definition.graph.find(id).unwrap());
        past.nodes.insert(id.to_owned(), node(compiled.kind, compiled.hash, state));
    }
    past
}

/// A plan in the ordinary mode, without task hashes.
pub fn planned(definition: &Definition, past: &Past, options: &ResumeOptions) -> Result<Plan, PlanError> {
    plan(&Request {
        definition,
        past: Some(past),
        mode: Mode::Incremental,
        options,
        in_place: false,
        params: None,
        task_hashes: &no_task_hashes,
    })
}

/// Options that name nodes.
pub fn named(nodes: &[&str]) -> ResumeOptions {
    let re_execute_nodes = nodes.iter().map(|node| (*node).to_owned()).collect();
    ResumeOptions { re_execute_nodes, ..ResumeOptions::default() }
}

/// Options of `--no-retry-failed`.
pub fn no_retry() -> ResumeOptions {
    ResumeOptions { retry_failed: false, ..ResumeOptions::default() }
}

/// Options of `--re-execute-completed`.
pub fn everything() -> ResumeOptions {
    ResumeOptions { re_execute_completed: true, ..ResumeOptions::default() }
}

/// A plan as text: `+a` executes, `=a` is kept, `?a` waits.
pub fn brief(plan: &Plan) -> String {
    let sign = |action| match action {
        Action::Execute => '+',
        Action::Reuse => '=',
        Action::Wait => '?',
    };
    let nodes: Vec<String> = plan.nodes.iter().map(|node| format!("{}{}", sign(node.action()), node.id)).collect();
    nodes.join(" ")
}

/// The reason of a node, in words.
pub fn reason(plan: &Plan, address: &str) -> String {
    plan.node(address).unwrap().reason.to_string()
}

/// Options of a plain `resume`.
pub fn usual() -> ResumeOptions {
    ResumeOptions::default()
}
