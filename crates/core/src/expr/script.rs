//! A `run` string as a shell script whose values travel beside it (`R-EXPR-2`).

use super::evaluate::{EvalError, Names, text as rendered};
use super::names::{Fault, is_unquoted};
use super::template::{Piece, split};
use crate::shell;

/// A value inside the script that a list hands to a shell: `[sh, -c, "echo {{ x }}"]`. The list needs no quoting, but
/// the shell that it starts reads the argument as code.
pub fn script_argument<'a>(arguments: impl Iterator<Item = &'a str>) -> Option<(usize, Fault)> {
    let mut shell = None;
    let mut wants_script = false;
    let mut remote = false;
    for (at, argument) in arguments.enumerate() {
        if wants_script && !argument.starts_with(['-', '+']) {
            let message = format!("a value in the script of `{}`, which reads it as code", shell?);
            let help = "hand it over behind the script: `[sh, -c, 'echo \"$1\"', _, \"{{ x }}\"]`";
            return argument.contains("{{").then(|| (at, Fault::new(0..argument.len(), message, help)));
        }
        if at > 0 && remote && argument.contains("{{") {
            let message = "a value in a command line for `ssh`, which hands it to a shell on the other side";
            let help =
                "send it through standard input, or use a `run` string with what the other side reads from a file";
            return Some((at, Fault::new(0..argument.len(), message, help)));
        }
        remote |= argument == "ssh" || argument.ends_with("/ssh");
        if let Some(name) = shell::shell_named(argument) {
            shell = Some(name);
        } else if shell.is_some() && argument.starts_with('-') && !argument.starts_with("--") && argument.contains('c')
        {
            wants_script = true;
        }
    }
    None
}

/// Splits a `run` string and places its values. Every value that the shell could read as code is a fault.
pub fn script(text: &str) -> Result<shell::ShellScript, Vec<Fault>> {
    script_of(&split(text).map_err(|fault| vec![fault])?)
}

/// A `run` string with the values of its expressions, ready for `/bin/sh -c`. The text was checked when the file was
/// loaded; what goes wrong here is a value that does not exist or cannot travel.
pub fn bound_script(text: &str, names: &dyn Names) -> Result<shell::Bound, EvalError> {
    if !text.contains("{{") {
        return Ok(shell::Bound { script: text.to_owned(), environment: Vec::new() });
    }
    let refused = |faults: Vec<Fault>| EvalError {
        message: faults.into_iter().next().map_or_else(|| "the script cannot be read".into(), |fault| fault.message),
    };
    let pieces = split(text).map_err(|fault| refused(vec![fault]))?;
    let script = script_of(&pieces).map_err(refused)?;
    let mut values = Vec::new();
    for piece in &pieces {
        if let Piece::Expr { source, offset } = piece {
            // The braces belong to the template, so that a value is rendered as anywhere else.
            values.push(rendered(&text[offset - 2..offset + source.len() + 2], names)?);
        }
    }
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    script.bind(&values).map_err(|error| EvalError { message: error.to_string() })
}

/// Places the values of a `run` string that is split already.
pub fn script_of(pieces: &[Piece<'_>]) -> Result<shell::ShellScript, Vec<Fault>> {
    let shell_pieces: Vec<_> = pieces
        .iter()
        .map(|piece| match piece {
            Piece::Text(text) => shell::Piece::Text(text),
            Piece::Expr { source, .. } => shell::Piece::Value { unquoted: is_unquoted(source) },
        })
        .collect();
    shell::compile(&shell_pieces).map_err(|misplaced| {
        misplaced
            .into_iter()
            .map(|misplaced| {
                let range = match pieces.get(misplaced.piece) {
                    Some(Piece::Expr { source, offset }) => offset - 2..offset + source.len() + 2,
                    _ => 0..0,
                };
                Fault::new(range, misplaced.reason.message(), misplaced.reason.help())
            })
            .collect()
    })
}
