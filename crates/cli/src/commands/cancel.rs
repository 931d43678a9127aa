//! `sprag cancel` and `sprag kill`: end a run, from any terminal.

use clap::Args;
use serde_json::json;
use sprag_engine::Engine;
use sprag_engine::ops::{self, Which};

use crate::context::{Context, person};
use crate::failure::{Exit, Failure};

/// End a run; its processes get ten seconds
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sprag cancel @last\n  sprag cancel 0199f3 --why \"wrong branch\"")]
pub struct Cancel {
    /// The run: its id, the beginning of it, or `@last`
    #[arg(value_name = "RUN")]
    run: Which,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    why: Option<String>,
}

/// End a run at once; its processes are killed
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sprag kill @last\n  sprag kill 0199f3")]
pub struct Kill {
    /// The run: its id, the beginning of it, or `@last`
    #[arg(value_name = "RUN")]
    run: Which,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    why: Option<String>,
}

impl Cancel {
    pub fn run(self, context: &Context) -> Result<Exit, Failure> {
        end(context, &self.run, false, self.why)
    }
}

impl Kill {
    pub fn run(self, context: &Context) -> Result<Exit, Failure> {
        end(context, &self.run, true, self.why)
    }
}

fn end(context: &Context, which: &Which, kill: bool, why: Option<String>) -> Result<Exit, Failure> {
    let engine = Engine::open(&context.project()?, context.store())?;
    let steered = ops::cancel(&engine, which, kill, &person(), why)?;
    if context.json {
        context.document(&json!({ "run_id": steered.run, "status": steered.status }))?;
    } else {
        context.say(&format!("run {} is {}\n", steered.run, steered.status));
    }
    Ok(Exit::OK)
}
