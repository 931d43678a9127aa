//! `sprag resume`: goes on with a run where it stopped.

use clap::Args;
use sprag_core::file::Duration;
use sprag_engine::Engine;
use sprag_engine::ops::{self, ResumeOptions, Which};

use crate::context::{Context, guard_program};
use crate::failure::{Exit, Failure};
use crate::live::{self, Asked};

/// Go on with a run that was interrupted
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sprag resume\n  sprag resume @last\n  sprag resume 0199f3 --deadline 2h\n\n\
                        What has finished is kept and not repeated; what was running is tried again.")]
pub struct Resume {
    /// The run: its id, the beginning of it, or `@last`; without one, the newest that was interrupted
    #[arg(value_name = "RUN")]
    run: Option<Which>,
    /// A new deadline, from now on
    #[arg(long, value_name = "TIME")]
    deadline: Option<Duration>,
    /// How many nodes run at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    parallel: Option<u32>,
}

impl Resume {
    pub fn run(self, context: &Context) -> Result<Exit, Failure> {
        let engine = Engine::open(&context.project()?, context.store())?.guarded_by(guard_program());
        let options = ResumeOptions { deadline: self.deadline, parallel: self.parallel };
        // Before anything is started: a signal that nobody hears would end what runs.
        let asked = Asked::listen();
        let live = ops::resume(&engine, self.run.as_ref(), options)?;
        live::drive(context, &engine, live, asked)
    }
}
