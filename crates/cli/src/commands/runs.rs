//! `sprag runs`: the runs of a project, newest first.

use clap::Args;
use serde_json::{Value, json};
use sprag_core::file::Duration;
use sprag_core::run::Timestamp;
use sprag_engine::host::Clock;
use sprag_engine::ops::{self, RunLine, RunState};
use sprag_engine::{Engine, EngineError, RunError};
use sprag_store::Filter;

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::table::Table;
use crate::times;

/// List runs, newest first
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sprag runs\n  sprag runs --status failed --since 24h\n  \
                        sprag runs --workflow release --limit 5 --json")]
pub struct Runs {
    /// Only runs in this state; may be given several times
    #[arg(long, value_name = "STATE", value_parser = state)]
    status: Vec<RunState>,
    /// Only runs of this workflow
    #[arg(long, value_name = "ID")]
    workflow: Option<String>,
    /// Only runs that started within this time, such as `24h`
    #[arg(long, value_name = "TIME")]
    since: Option<Duration>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Only runs before this one: `next` of an earlier list
    #[arg(long, value_name = "NUMBER")]
    before: Option<u64>,
}

fn state(text: &str) -> Result<RunState, String> {
    let known = || RunState::ALL.into_iter().map(RunState::as_str);
    // The other spellings of `R-STATE-6`.
    let text = match text {
        "succeeded" => "completed",
        "canceled" => "cancelled",
        text => text,
    };
    RunState::ALL
        .into_iter()
        .find(|state| state.as_str() == text)
        .ok_or_else(|| format!("it is one of {}", known().collect::<Vec<_>>().join(", ")))
}

impl Runs {
    pub fn run(self, context: &Context) -> Result<Exit, Failure> {
        let now = Clock::default().now();
        let filter = Filter {
            workflow: self.workflow,
            since: self
                .since
                .map(|since| Timestamp::from_millis(now.millis - i64::try_from(since.millis).unwrap_or(0))),
            before: self.before,
            most: self.limit as usize,
            ..Filter::default()
        };
        let (lines, next) = match Engine::open(&context.project()?, context.store()) {
            Ok(engine) => ops::list(&engine, &self.status, filter)?,
            // Nothing has been run here, which is a list too.
            Err(EngineError::Run(RunError::NoRuns)) => (Vec::new(), None),
            Err(error) => return Err(error.into()),
        };
        if context.json {
            let runs: Vec<_> = lines.iter().map(json).collect();
            context.document(&json!({ "runs": runs, "next": next }))?;
            return Ok(Exit::OK);
        }
        if lines.is_empty() {
            context.say("no runs\n");
            return Ok(Exit::OK);
        }
        let mut table = Table::new(&["RUN", "WORKFLOW", "STATE", "STARTED", "TOOK", "NODES"]);
        for line in &lines {
            let summary = &line.listed.summary;
            let end = summary.ended_at.unwrap_or(now);
            table.row([
                line.listed.run.to_string(),
                summary.workflow.to_string(),
                if summary.degraded {
                    format!("{} (degraded)", line.state.as_str())
                } else {
                    line.state.as_str().into()
                },
                times::moment(summary.started_at),
                if line.state.is_resumable() {
                    "-".into()
                } else {
                    times::length(end.since(summary.started_at).millis)
                },
                format!("{}/{}", summary.counts.settled(), summary.counts.nodes),
            ]);
        }
        context.data(&table.text())?;
        if let Some(next) = next.filter(|_| lines.len() == self.limit as usize) {
            context.say(&format!("more with --before {next}\n"));
        }
        Ok(Exit::OK)
    }
}

fn json(line: &RunLine) -> Value {
    let summary = &line.listed.summary;
    json!({
        "run_id": line.listed.run,
        "number": line.listed.number,
        "workflow": summary.workflow,
        "version": summary.version,
        "graph_hash": summary.graph_hash,
        "status": line.state.as_str(),
        "exit_code": summary.exit,
        "degraded": summary.degraded,
        "previous_run_id": summary.previous_run,
        "retry_count": summary.retry_count,
        "started_at": summary.started_at.to_string(),
        "ended_at": summary.ended_at.map(|at| at.to_string()),
        "counts": summary.counts,
        "usage": summary.usage,
        "error": summary.failure,
    })
}
