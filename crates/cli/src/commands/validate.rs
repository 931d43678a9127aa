//! `sprag validate`: every problem of a workflow file in one go.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use sprag_core::definition::Definition;
use sprag_core::diagnostic::Severity;
use sprag_engine::ops::{self, Checked};

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::render;

/// Check workflow files and report every problem
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sprag validate\n  sprag validate release.yaml nightly.yaml\n  \
                        sprag validate --json release.yaml\n  generate-workflow | sprag validate -")]
pub struct Validate {
    /// Workflow files; `-` reads standard input
    #[arg(value_name = "FILE", default_value = "sprag.yaml")]
    files: Vec<PathBuf>,
}

impl Validate {
    pub fn run(self, context: &Context) -> Result<Exit, Failure> {
        let project = context.project()?;
        let checked: Vec<Checked> =
            self.files.iter().map(|file| ops::validate(&project, &context.path(file))).collect();
        let valid = checked.iter().all(|checked| checked.definition.is_some());
        if context.json {
            context.document(&document(&checked, valid))?;
        } else {
            for checked in &checked {
                explain(context, checked);
                if let (Some(definition), Some(file)) = (&checked.definition, checked.report.files.first()) {
                    context.say(&format!("{}: valid, {}\n", render::shown(file), size(definition)));
                }
            }
        }
        Ok(checked.iter().map(exit).max().unwrap_or(Exit::OK))
    }
}

/// Ends a command that was given a file which is not right: the first problem stands for all of them.
pub fn refuse(context: &Context, checked: &Checked) -> Result<Exit, Failure> {
    let exit = exit(checked);
    if context.json {
        let problems: Vec<_> =
            checked.report.files.iter().flat_map(|file| render::file_json(file, Severity::Error)).collect();
        let first = problems.first().cloned().unwrap_or_default();
        context.document(&json!({
            "error": {
                "code": first["code"],
                "message": first["message"],
                "help": first["help"],
                "exit_code": exit.0,
                "problems": problems,
            }
        }))?;
    } else {
        explain(context, checked);
    }
    Ok(exit)
}

/// How a command ends that was given this file: the gravest code decides.
fn exit(checked: &Checked) -> Exit {
    let files = &checked.report.files;
    let in_text = files.iter().flat_map(|file| &file.diagnostics).map(|diagnostic| diagnostic.code.exit());
    let unread = files.iter().filter_map(|file| file.unreadable.as_ref()).map(|error| error.facts().code.exit());
    Exit(in_text.chain(unread).max().unwrap_or(0))
}

/// Prints the problems of a file and of the files it names.
fn explain(context: &Context, checked: &Checked) {
    let width = context.width;
    let mut codes = Vec::new();
    let mut counts = (0, 0);
    for file in &checked.report.files {
        context.complain(&render::file_text(file, width, context.quiet));
        counts.0 += render::file_json(file, Severity::Error).len();
        counts.1 += render::file_json(file, Severity::Warning).len();
        let errors = file.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
        codes.extend(errors.map(|diagnostic| diagnostic.code));
        codes.extend(file.unreadable.as_ref().map(|error| error.facts().code));
    }
    if counts.0 > 0 {
        let found = [plural(counts.0, "error"), plural(counts.1, "warning")];
        let found: Vec<_> = found.into_iter().flatten().collect();
        let names: Vec<_> = codes.iter().map(|code| code.as_str()).collect();
        context.say(&format!("{}; {}\n", found.join(", "), render::pages(&names)));
    }
}

fn plural(count: usize, word: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("1 {word}")),
        _ => Some(format!("{count} {word}s")),
    }
}

fn size(definition: &Definition) -> String {
    let waves: u32 = definition.graph.waves().iter().sum();
    let parts = [
        plural(definition.graph.len(), "node"),
        plural(definition.graph.edges().len(), "edge"),
        plural(usize::try_from(waves).unwrap_or(usize::MAX), "wave"),
        plural(definition.phases.len(), "phase"),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The stable shape of `R-CLI-8`, with the checked workflows added.
fn document(checked: &[Checked], valid: bool) -> Value {
    let files = || checked.iter().flat_map(|checked| &checked.report.files);
    let list = |severity| files().flat_map(|file| render::file_json(file, severity)).collect::<Vec<_>>();
    let workflows = checked.iter().filter_map(|checked| checked.definition.as_ref()).map(|definition| {
        json!({
            "workflow": definition.id.as_str(),
            "version": definition.version,
            "graph_hash": definition.graph_hash.to_string(),
            "nodes": definition.graph.len(),
        })
    });
    json!({
        "valid": valid,
        "errors": list(Severity::Error),
        "warnings": list(Severity::Warning),
        "workflows": workflows.collect::<Vec<_>>(),
    })
}
