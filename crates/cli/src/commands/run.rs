//! `sprag run`: starts a new run and stays with it until it ends.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use sprag_core::file::{Duration, Scheduling};
use sprag_core::params::Given;
use sprag_engine::ops::{self, RunOptions};
use sprag_engine::{Engine, Overrides};

use super::validate;
use crate::context::{Context, guard_program};
use crate::failure::{Exit, Failure};
use crate::live::{self, Asked};

/// Run a workflow
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sprag run\n  sprag run release.yaml -p version=1.2.0\n  \
                        sprag run --params-file production.yaml --parallel 8\n  sprag run --json | jq .\n\n\
                        Ctrl-C once lets running nodes end and saves; twice kills them. `sprag resume` goes on.")]
pub struct Run {
    /// The workflow file
    #[arg(value_name = "FILE", default_value = "sprag.yaml")]
    file: PathBuf,
    /// A parameter; anything but text is written as JSON
    #[arg(short, long = "param", value_name = "NAME=VALUE", value_parser = pair)]
    param: Vec<(String, String)>,
    /// A YAML or JSON file with parameters; `-p` wins
    #[arg(long, value_name = "FILE")]
    params_file: Option<PathBuf>,
    /// How many nodes run at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    parallel: Option<u32>,
    /// Whether a wave ends before the next starts
    #[arg(long, value_name = "HOW")]
    scheduling: Option<How>,
    /// How long the run may take, such as `90m`
    #[arg(long, value_name = "TIME")]
    deadline: Option<Duration>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum How {
    /// Every node of a wave is settled before the next wave starts
    Waves,
    /// A node starts as soon as its own edges allow
    Frontier,
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write it as NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

impl Run {
    pub fn run(self, context: &Context) -> Result<Exit, Failure> {
        let project = context.project()?;
        let checked = ops::open(&project, &context.path(&self.file));
        let Some(definition) = checked.definition else {
            return validate::refuse(context, &checked);
        };
        let options = RunOptions { params: self.params(context)?, overrides: self.overrides() };
        // Only now: a file that is not there or not right leaves no state folder behind.
        let engine = Engine::create(&project, context.store())?.guarded_by(guard_program());
        // Before anything is started: a signal that nobody hears would end what runs.
        let asked = Asked::listen();
        let live = ops::run(&engine, definition, checked.source.as_deref(), options)?;
        live::drive(context, &engine, live, asked)
    }

    fn overrides(&self) -> Overrides {
        Overrides {
            scheduling: self.scheduling.map(|how| match how {
                How::Waves => Scheduling::Waves,
                How::Frontier => Scheduling::Frontier,
            }),
            parallel: self.parallel,
            deadline_ms: self.deadline.map(|deadline| deadline.millis),
        }
    }

    fn params(&self, context: &Context) -> Result<BTreeMap<String, Given>, Failure> {
        let mut params = match &self.params_file {
            Some(file) => params_of(&context.path(file))?,
            None => BTreeMap::new(),
        };
        params.extend(self.param.iter().map(|(name, value)| (name.clone(), Given::Text(value.clone()))));
        Ok(params)
    }
}

fn params_of(path: &Path) -> Result<BTreeMap<String, Given>, Failure> {
    let values = ops::params_of(path)?;
    Ok(values.into_iter().map(|(name, value)| (name, Given::Value(value))).collect())
}
