//! The last word about a run: what happened, what was kept, and the exact command to go on (`R-CLI-4`, `R-CLI-8`).

use std::time::Duration;

use serde_json::json;
use sprag_core::codes::Code;
use sprag_core::facts::Facts;
use sprag_core::run::{Ending, RunId, RunStatus, Summary};
use sprag_engine::host::Outcome;
use sprag_engine::ops::{self, Resumed, RunState, Saved};
use sprag_engine::{Engine, EngineError, RunError};

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::render::visible;
use crate::times;

/// Says how a run came to its end here, and exits accordingly.
pub fn tell(
    context: &Context,
    engine: &Engine,
    run: RunId,
    outcome: &Outcome,
    resumed: Option<Resumed>,
) -> Result<Exit, Failure> {
    let (exit, state) = match outcome {
        Outcome::Ended(ending) => (Exit(ending.exit), state_of(ending)),
        Outcome::Waiting => (Exit::WAITING, RunState::Paused),
        Outcome::Interrupted => (Exit::INTERRUPTED, RunState::Interrupted),
        Outcome::TakenOver => return taken_over(context, engine, run, resumed),
        Outcome::Unavailable(why) | Outcome::Broken(why) => {
            let help = match engine.store().catalog.find(run) {
                Ok(None) => {
                    "nothing of the run was stored or started: run it anew when the store can be written".into()
                }
                Ok(Some(_)) | Err(_) => format!("when it can be written again: `sprag resume {run}`"),
            };
            return Err(Failure::Run { message: why.clone(), facts: Facts::new(Code::STORE_UNAVAILABLE, help) });
        }
        Outcome::Damaged { code, why } => {
            let help =
                "restore the store from a backup, or move it away and start anew; nothing repairs it by guessing";
            return Err(Failure::Run { message: why.clone(), facts: Facts::new(*code, help) });
        }
        Outcome::Faulty(why) => {
            let message = format!("a bug in sprag, noticed before anything wrong was written: {why}");
            let help = format!("please report it; what was saved is not lost: `sprag show {run}`");
            return Err(Failure::Run { message, facts: Facts::new(Code::INTERNAL, help) });
        }
    };
    let summary = ops::summary(engine, run)?;
    let resume = state.is_resumable().then(|| format!("sprag resume {run}"));
    if context.json {
        let saved = match resumed {
            Some(Resumed { seq, .. }) => ops::saved(engine, run, seq)?,
            None => Saved::default(),
        };
        let document = document(run, &summary, state, exit, saved, resume.as_deref());
        // Nobody may be reading any more; the exit code says the same.
        drop(context.document(&document));
    } else {
        context.say(&text(run, &summary, state, resumed, resume.as_deref()));
    }
    Ok(exit)
}

/// Somebody else wrote the journal: a process that goes on with the run, or one that ended it.
fn taken_over(context: &Context, engine: &Engine, run: RunId, resumed: Option<Resumed>) -> Result<Exit, Failure> {
    let summary = ops::summary(engine, run)?;
    match (summary.status, summary.exit) {
        (RunStatus::Ended(status), Some(exit)) => {
            let Summary { degraded, .. } = summary;
            let ending = Ending { status, exit, degraded, failure: None, superseded_by: None };
            tell(context, engine, run, &Outcome::Ended(ending), resumed)
        }
        _ => Err(EngineError::from(RunError::Owned { run, pid: None }).into()),
    }
}

const fn state_of(ending: &Ending) -> RunState {
    use sprag_core::run::EndStatus;
    match ending.status {
        EndStatus::Completed => RunState::Completed,
        EndStatus::Failed => RunState::Failed,
        EndStatus::Cancelled => RunState::Cancelled,
    }
}

fn document(
    run: RunId,
    summary: &Summary,
    state: RunState,
    exit: Exit,
    saved: Saved,
    resume: Option<&str>,
) -> serde_json::Value {
    let counts = summary.counts;
    json!({
        "type": "run",
        "run_id": run,
        "status": state.as_str(),
        "exit_code": exit.0,
        "degraded": summary.degraded,
        "counts": {
            "nodes": counts.nodes,
            "completed": counts.completed,
            "reused": counts.reused,
            "failed": counts.failed,
            "skipped": counts.skipped,
            "cancelled": counts.cancelled,
        },
        "usage": summary.usage,
        "saved": {
            "nodes": saved.nodes,
            "seconds": Duration::from_millis(saved.millis).as_secs_f64(),
            "tokens": saved.usage.tokens_in.saturating_add(saved.usage.tokens_out),
            "usd": saved.usage.usd,
        },
        "error": summary.failure,
        "resume": resume,
    })
}

fn text(run: RunId, summary: &Summary, state: RunState, resumed: Option<Resumed>, resume: Option<&str>) -> String {
    let counts = summary.counts;
    let mut parts = vec![format!("{} of {} nodes completed", counts.completed, counts.nodes)];
    for (count, word) in [(counts.failed, "failed"), (counts.skipped, "skipped"), (counts.cancelled, "cancelled")] {
        if count > 0 {
            parts.push(format!("{count} {word}"));
        }
    }
    if let Some(Resumed { counts, .. }) = resumed.filter(|resumed| resumed.counts.completed > 0) {
        parts.push(format!("{} of them before and not repeated", counts.completed));
    }
    if let Some(ended) = summary.ended_at {
        parts.push(format!("in {}", times::length(ended.since(summary.started_at).millis)));
    }
    let degraded = if summary.degraded { " (degraded)" } else { "" };
    let mut lines = vec![format!("run {run} {}{degraded}: {}", state.as_str(), parts.join(", "))];
    if let Some(failure) = &summary.failure {
        let what = visible(&failure.message).lines().collect::<Vec<_>>().join(" ");
        let whose = failure.node.as_ref().map(|node| format!("{node}: ")).unwrap_or_default();
        lines.push(format!("  because of {whose}{}: {what}", failure.code));
        lines.extend(failure.node.as_ref().map(|node| format!("  its output: sprag logs {run} {node}")));
    }
    lines.extend(resume.map(|resume| format!("  everything that finished is saved; go on with: {resume}")));
    lines.into_iter().flat_map(|line| [line, "\n".to_owned()]).collect()
}
