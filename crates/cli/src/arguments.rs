//! The command line as types.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::commands::{cancel, completions, events, graph, guard, logs, resume, run, runs, schema, show, validate};

/// Durable workflows: graphs of commands that survive crashes and never repeat finished work.
#[derive(Debug, Parser)]
#[command(name = "sprag", version, max_term_width = 100, arg_required_else_help = true, disable_help_subcommand = true)]
pub struct Arguments {
    #[command(flatten)]
    pub everywhere: Everywhere,
    #[command(subcommand)]
    pub command: Command,
}

/// Flags that every command takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Everywhere")]
pub struct Everywhere {
    /// Print exactly one JSON document to standard output
    #[arg(long, global = true)]
    pub json: bool,
    /// Print nothing but errors and data
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Print without colours
    #[arg(long, global = true)]
    pub no_color: bool,
    /// Work in this folder
    #[arg(short = 'C', value_name = "DIR", global = true, default_value = ".", hide_default_value = true)]
    pub folder: PathBuf,
    /// Where runs are kept: `sqlite:FILE`, or `memory:`; by default `.sprag/sprag.db`
    #[arg(long, value_name = "URL", global = true, env = "SPRAG_STORE", hide_env_values = true)]
    pub store: Option<String>,
}

/// What sprag can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    Run(run::Run),
    Resume(resume::Resume),
    Runs(runs::Runs),
    Show(show::Show),
    Logs(logs::Logs),
    Events(events::Events),
    Cancel(cancel::Cancel),
    Kill(cancel::Kill),
    Validate(validate::Validate),
    Graph(graph::Graph),
    Schema(schema::Schema),
    Completions(completions::Completions),
    #[command(name = GUARD, hide = true)]
    Guard(guard::Guard),
}

/// The verb with which sprag starts its own guard.
pub const GUARD: &str = "guard-of-a-run";
