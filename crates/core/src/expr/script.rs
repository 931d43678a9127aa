//! A `run` string as a shell script whose values travel beside it (`R-EXPR-2`).

use super::names::{Fault, is_unquoted};
use super::template::{Piece, split};
use crate::shell;

/// Splits a `run` string and places its values. Every value that the shell could read as code is a fault.
pub fn script(text: &str) -> Result<shell::ShellScript, Vec<Fault>> {
    script_of(&split(text).map_err(|fault| vec![fault])?)
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
                Fault { range, message: misplaced.reason.message(), help: Some(misplaced.reason.help()) }
            })
            .collect()
    })
}
