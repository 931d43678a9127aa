//! `sprag show`: one run in full.

use clap::Args;
use serde_json::{Value, json};
use sprag_core::run::NodeState;
use sprag_engine::Engine;
use sprag_engine::ops::{self, AttemptRecord, Decision, Message, RunState, ShownNode, ShownRun, Which};

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::table::Table;
use crate::{render, times};

/// How much of a message a table shows.
const MESSAGE_SHOWN: usize = 100;

/// Show a run: the state of every node, its attempts and results
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sprag show\n  sprag show 0199f3\n  sprag show @last --json | jq '.nodes[] | .output'"
)]
pub struct Show {
    /// The run: its id, the beginning of it, or `@last`
    #[arg(value_name = "RUN", default_value = "@last")]
    run: Which,
}

impl Show {
    pub fn run(self, context: &Context) -> Result<Exit, Failure> {
        let engine = Engine::open(&context.project()?, context.store())?;
        let shown = ops::show(&engine, &self.run)?;
        if context.json {
            context.document(&document(&shown))?;
        } else {
            context.data(&text(&shown))?;
        }
        Ok(Exit::OK)
    }
}

fn text(shown: &ShownRun) -> String {
    let mut facts =
        vec![("run", shown.run.to_string()), ("workflow", shown.created.workflow.to_string()), ("state", state(shown))];
    if let Some(started) = shown.started_at {
        facts.push(("started", times::moment(started)));
        if let Some(ended) = shown.ended_at {
            facts.push(("took", times::length(ended.since(started).millis)));
        }
    }
    if let Some(failure) = shown.ending.as_ref().and_then(|ending| ending.failure.as_ref()) {
        facts.push(("error", format!("{}: {}", failure.error.code, line(&failure.error.message))));
    }
    if shown.state.is_resumable() {
        facts.push(("resume", format!("sprag resume {}", shown.run)));
    }
    let facts: Vec<_> = facts.into_iter().map(|(name, fact)| format!("{name:<9} {fact}\n")).collect();
    let mut table = Table::new(&["WAVE", "NODE", "STATE", "TRIES", "TOOK", ""]);
    for node in &shown.nodes {
        table.row([
            node.wave.to_string(),
            node.id.clone(),
            word(node).to_owned(),
            node.attempts.len().to_string(),
            took(node),
            remark(node),
        ]);
    }
    format!("{}\n{}", facts.concat(), table.text())
}

fn state(shown: &ShownRun) -> String {
    let degraded = shown.ending.as_ref().is_some_and(|ending| ending.degraded);
    let word = shown.state.as_str();
    if degraded { format!("{word} (degraded)") } else { word.to_owned() }
}

/// A failure that will be retried is shown as such (`R-STATE-4`).
const fn word(node: &ShownNode) -> &'static str {
    match (node.state, node.settled) {
        (NodeState::Failed, false) => "retrying",
        (state, _) => state.as_str(),
    }
}

fn took(node: &ShownNode) -> String {
    let length = |attempt: &AttemptRecord| Some(attempt.ended_at?.since(attempt.started_at).millis);
    match node.attempts.iter().filter_map(length).collect::<Vec<_>>().as_slice() {
        [] => String::new(),
        lengths => times::length(lengths.iter().sum()),
    }
}

fn remark(node: &ShownNode) -> String {
    let remark = match (&node.error, &node.skipped) {
        (Some(error), _) => format!("{}: {}", error.code, error.message),
        (None, Some((reason, Some(cause)))) => format!("{}: {cause}", reason.as_str()),
        (None, Some((reason, None))) => reason.as_str().to_owned(),
        (None, None) if node.tainted => "not its own result".to_owned(),
        (None, None) => String::new(),
    };
    line(&remark)
}

/// A message as one line of a table.
fn line(message: &str) -> String {
    let message = render::visible(message);
    let line = message.lines().next().unwrap_or_default();
    if line.chars().count() > MESSAGE_SHOWN {
        line.chars().take(MESSAGE_SHOWN).chain(['…']).collect()
    } else {
        line.to_owned()
    }
}

/// The stable shape of `R-CLI-8`.
fn document(shown: &ShownRun) -> Value {
    let created = &shown.created;
    json!({
        "run_id": shown.run,
        "workflow": created.workflow,
        "version": shown.version,
        "status": shown.state.as_str(),
        // The default of `R-MODE-1`; nothing can be reused yet, and no other mode be asked for.
        "mode": "incremental",
        "graph_hash": created.graph_hash,
        "previous_run_id": created.previous_run,
        "retry_count": created.retry_count,
        "params": created.params,
        "started_at": shown.started_at.map(|at| at.to_string()),
        "ended_at": shown.ended_at.map(|at| at.to_string()),
        "exit_code": shown.ending.as_ref().map(|ending| ending.exit),
        "degraded": shown.ending.as_ref().is_some_and(|ending| ending.degraded),
        "resumable": shown.state.is_resumable(),
        "not_resumable_because": not_resumable(shown.state),
        "checkpoint_id": null,
        "context": shown.context,
        "messages": shown.messages.iter().map(message).collect::<Vec<_>>(),
        "decisions": shown.decisions.iter().map(decision).collect::<Vec<_>>(),
        "counts": shown.counts,
        "usage": shown.usage,
        "nodes": shown.nodes.iter().map(node).collect::<Vec<_>>(),
    })
}

const fn not_resumable(state: RunState) -> Option<&'static str> {
    match state {
        RunState::Interrupted | RunState::Paused => None,
        RunState::Created | RunState::Running => Some("a process is running it"),
        RunState::Completed | RunState::Failed | RunState::Cancelled => Some("it is over"),
    }
}

fn decision(decision: &Decision) -> Value {
    json!({
        "at": decision.at.to_string(),
        "by": decision.by,
        "why": decision.why,
        "what": decision.verb,
        "question": decision.question,
        "node": decision.node,
        "choice": decision.choice,
        "refused": decision.refused,
    })
}

fn message(message: &Message) -> Value {
    json!({
        "at": message.at.to_string(),
        "by": message.by,
        "kind": message.kind,
        "name": message.name,
        "data": message.data,
    })
}

fn node(node: &ShownNode) -> Value {
    json!({
        "id": node.id,
        "kind": node.kind,
        "state": node.state.as_str(),
        "settled": node.settled,
        "attempts": node.attempts.len(),
        "reused": false,
        "wave": node.wave,
        "phase": null,
        "output": node.output,
        "error": node.error,
        "skip_reason": node.skipped.as_ref().map(|(reason, _)| reason.as_str()),
        "skip_cause": node.skipped.as_ref().and_then(|(_, cause)| cause.as_deref()),
        "tainted": node.tainted,
        "due": node.due.map(|due| due.to_string()),
        "ledger": node.attempts.iter().map(attempt).collect::<Vec<_>>(),
    })
}

fn attempt(record: &AttemptRecord) -> Value {
    json!({
        "attempt": record.attempt,
        "attempt_id": record.attempt_id,
        "strategy": null,
        "reason": null,
        "model": null,
        "usd": null,
        "outcome": record.status,
        "status": record.status,
        "last_error": record.error,
        "retry_after_ms": record.retry_after_ms,
        "lock_owner": record.owner,
        "lease_expires_at": null,
        "started_at": record.started_at.to_string(),
        "ended_at": record.ended_at.map(|at| at.to_string()),
        "checkpoint_token": record.fence,
    })
}
