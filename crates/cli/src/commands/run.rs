//! From the arguments to the exit code.

use clap::Parser as _;

use super::super::arguments::{Arguments, Command};
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::render;

/// Parses the command line, runs the verb, and says how it ended.
pub fn main() -> Exit {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are answers, not mistakes; clap prints each to the right stream.
            drop(error.print());
            return if error.use_stderr() { Exit::INVALID } else { Exit::OK };
        }
    };
    let context = Context::new(arguments.everywhere);
    let outcome = match arguments.command {
        Command::Validate(command) => command.run(&context),
        Command::Graph(command) => command.run(&context),
        Command::Schema(command) => command.run(&context),
        Command::Completions(command) => command.run(&context),
    };
    outcome.unwrap_or_else(|failure| fail(&context, &failure))
}

fn fail(context: &Context, failure: &Failure) -> Exit {
    match failure {
        Failure::ClosedPipe => return Exit::OK,
        _ if context.json => drop(context.document(&render::failure_json(failure))),
        _ => context.complain(&render::failure_text(failure)),
    }
    Exit(failure.facts().code.exit())
}
