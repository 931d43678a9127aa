//! The command line as types.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::commands::{completions, graph, schema, validate};

/// Durable workflows: graphs of commands, HTTP calls, agent steps and approvals.
///
/// This version checks and draws workflow files; running them comes next.
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
}

/// What sprag can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    Validate(validate::Validate),
    Graph(graph::Graph),
    Schema(schema::Schema),
    Completions(completions::Completions),
}
