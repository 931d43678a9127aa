//! From the arguments to the exit code.

use std::io::Write as _;

use clap::Parser as _;
use sprag_core::codes::Code;

use crate::arguments::{Arguments, Command};
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::render;

/// Parses the command line, runs the verb, and says how it ended.
pub fn main() -> Exit {
    explain_panics();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are answers, not mistakes; clap prints each to the right stream.
            if error.use_stderr() && std::env::args_os().any(|argument| argument == "--json") {
                return usage_as_json(&error);
            }
            drop(error.print());
            return if error.use_stderr() { Exit::INVALID } else { Exit::OK };
        }
    };
    let context = Context::new(arguments.everywhere);
    let outcome = match arguments.command {
        Command::Guard(command) => return command.run(),
        Command::Run(command) => command.run(&context),
        Command::Resume(command) => command.run(&context),
        Command::Runs(command) => command.run(&context),
        Command::Show(command) => command.run(&context),
        Command::Logs(command) => command.run(&context),
        Command::Events(command) => command.run(&context),
        Command::Cancel(command) => command.run(&context),
        Command::Kill(command) => command.run(&context),
        Command::Validate(command) => command.run(&context),
        Command::Graph(command) => command.run(&context),
        Command::Schema(command) => command.run(&context),
        Command::Completions(command) => command.run(&context),
    };
    outcome.unwrap_or_else(|failure| fail(&context, &failure))
}

/// Whoever asked for JSON gets JSON, even if the rest of the line cannot be understood.
fn usage_as_json(error: &clap::Error) -> Exit {
    let text = error.to_string();
    // What is missing is named in lines of its own, before the first empty one.
    let lines = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    let message = lines.trim_start_matches("error: ");
    let document = serde_json::json!({
        "error": { "code": Code::USAGE.as_str(), "message": message, "help": "see `sprag --help`", "exit_code": Code::USAGE.exit() }
    });
    drop(writeln!(std::io::stdout(), "{document}"));
    Exit(Code::USAGE.exit())
}

/// A panic is a bug: it is said so, without a trace that means nothing to the person who meets it.
fn explain_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(String::new, |place| {
            let file = std::path::Path::new(place.file()).file_name().unwrap_or_default();
            format!(" at {}:{}", file.display(), place.line())
        });
        let message = panic.payload_as_str().unwrap_or("unknown");
        let report = format!(
            "error[{code}]: a bug in sprag{place}: {message}\n  = help: please report it together with the command; nothing that was saved is lost\n",
            code = Code::INTERNAL,
        );
        drop(std::io::stderr().write_all(report.as_bytes()));
        std::process::exit(i32::from(Code::INTERNAL.exit()));
    }));
}

fn fail(context: &Context, failure: &Failure) -> Exit {
    match failure {
        Failure::ClosedPipe => return Exit::OK,
        _ if context.json => drop(context.document(&render::failure_json(failure))),
        _ => context.complain(&render::failure_text(failure)),
    }
    Exit(failure.facts().code.exit())
}
