//! `sprag events`: what happened to a run, entry by entry.

use clap::Args;
use sprag_engine::Engine;
use sprag_engine::events::Event;
use sprag_engine::ops::{self, Which};

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::live::line;

/// Print what happened to a run
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sprag events @last\n  sprag events -f 0199f3\n  sprag events --json @last | jq .type"
)]
pub struct Events {
    /// The run: its id, the beginning of it, or `@last`
    #[arg(value_name = "RUN", default_value = "@last")]
    run: Which,
    /// Go on until the run ends, or nobody runs it
    #[arg(short, long)]
    follow: bool,
}

impl Events {
    pub fn run(self, context: &Context) -> Result<Exit, Failure> {
        let engine = Engine::open(&context.project()?, context.store())?;
        let mut watch = ops::watch(&engine, &self.run)?;
        while let Some(events) = if self.follow { watch.follow()? } else { watch.read()? } {
            context.data(&events.iter().map(|event| text(context, event)).collect::<String>())?;
        }
        Ok(Exit::OK)
    }
}

fn text(context: &Context, event: &Event) -> String {
    if context.json {
        return serde_json::to_string(event).map(|line| line + "\n").unwrap_or_default();
    }
    format!("{} {:>5}  {}\n", event.at, event.seq.0, line::of(event))
}
