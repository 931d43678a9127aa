//! The values of expressions (`R-EXPR-1`): pure, total, and bounded in time, memory and size.

use std::borrow::Cow;
use std::fmt;
use std::io::{Error as WriteError, Result as WriteResult, Write};

use minijinja::{Error, Value as Working};
use serde_json::{Map, Value};

use super::form::{json_text, to_json};
use super::fuel::Fuel;
use super::names::{Fault, parsed};
use super::place::short;
use super::template::{Piece, split};
use super::tree::{Tree, reason};

/// How large a result may be, in bytes: a text as it is, anything else as compact JSON.
pub const RESULT_BYTES_MAX: usize = 1 << 20;

/// Gives the values that an expression reads.
pub trait Names {
    /// The value of a root name (`params`, `nodes`, …), or `None` if there is no such name here.
    ///
    /// `paths` are the paths under it that the expression reads, each without the root: `["fetch", "output"]`. All
    /// that lies beneath a path is wanted, and nothing else, so an empty path asks for the whole. A path may name
    /// what does not exist; leave it out then.
    fn value(&self, root: &str, paths: &[Vec<String>]) -> Option<Cow<'_, Value>>;
}

/// Why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvalError {
    /// The expression and the reason: "`output.rows > 3`: `output` has no `rows`".
    pub message: String,
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for EvalError {}

impl EvalError {
    fn new(source: &str, reason: &str) -> Self {
        Self { message: format!("`{}`: {reason}", short(source.trim())) }
    }
}

/// The value of a bare expression.
///
/// JSON integers and floats stay what they are; a number that JSON cannot hold is an error. An expression without a
/// choice (`'x' if false`) is null.
pub fn value(source: &str, names: &dyn Names) -> Result<Value, EvalError> {
    Evaluation::new(names).json(source)
}

/// Whether a condition holds. As in Jinja, false, null, 0, and what is empty do not hold.
pub fn holds(source: &str, names: &dyn Names) -> Result<bool, EvalError> {
    Evaluation::new(names).run(source, |value, _| Ok(value.is_true()))
}

/// A text with `{{ … }}`, each replaced by the value of its expression and never evaluated again.
///
/// A string stands as it is and null as nothing; all else is compact JSON: `true`, `1.5`, `["a"]`, `{"a":null}`.
pub fn text(template: &str, names: &dyn Names) -> Result<String, EvalError> {
    let pieces = pieces(template)?;
    Evaluation::new(names).text(template, &pieces)
}

/// A JSON tree in which every string is a template. Keys are not.
///
/// A string that is one `{{ … }}` and nothing else becomes the value itself, of whatever type; others become text.
pub fn json(value: &Value, names: &dyn Names) -> Result<Value, EvalError> {
    Evaluation::new(names).tree(value)
}

fn pieces(template: &str) -> Result<Vec<Piece<'_>>, EvalError> {
    split(template).map_err(|fault| EvalError::new(template, &fault.message))
}

/// One call from outside. Its expressions share what may be spent.
struct Evaluation<'names> {
    names: &'names dyn Names,
    fuel: Option<Fuel>,
    /// How many bytes the result may still take.
    room: usize,
}

impl<'names> Evaluation<'names> {
    fn new(names: &'names dyn Names) -> Self {
        Self { names, fuel: Some(Fuel::full()), room: RESULT_BYTES_MAX }
    }

    fn run<T>(
        &mut self,
        source: &str,
        use_value: impl FnOnce(Working, &mut Fuel) -> Result<T, Error>,
    ) -> Result<T, EvalError> {
        let (expr, references) = parsed(source).map_err(|Fault { message, .. }| EvalError::new(source, &message))?;
        let mut wanted: Vec<(String, Vec<Vec<String>>)> = Vec::new();
        for reference in references {
            let mut path = reference.path.into_iter();
            let Some(root) = path.next() else { continue };
            match wanted.iter_mut().find(|(name, _)| *name == root) {
                Some((_, paths)) => paths.push(path.collect()),
                None => wanted.push((root, vec![path.collect()])),
            }
        }
        let names = self.names;
        let found = |(root, paths): (String, Vec<Vec<String>>)| {
            let value = names.value(&root, &paths);
            (root, value)
        };
        let roots = wanted.into_iter().map(found).collect();
        let fuel = self.fuel.take().unwrap_or_else(Fuel::full);
        let mut tree = Tree { roots, fuel, state: None };
        let result = tree.value(&expr).and_then(|value| use_value(value, &mut tree.fuel));
        self.fuel = Some(tree.fuel);
        result.map_err(|cause| EvalError::new(source, &reason(&cause)))
    }

    /// The value of an expression, which takes its size from the room that is left.
    fn json(&mut self, source: &str) -> Result<Value, EvalError> {
        let json = self.run(source, |value, fuel| to_json(&value, fuel))?;
        self.fill(source, &json)?;
        Ok(json)
    }

    fn text(&mut self, template: &str, pieces: &[Piece<'_>]) -> Result<String, EvalError> {
        let mut whole = String::new();
        for piece in pieces {
            let part = match piece {
                Piece::Text(text) => Cow::Borrowed(*text),
                Piece::Expr { source, .. } => Cow::Owned(self.run(source, |value, fuel| {
                    if let Some(text) = value.as_str() {
                        fuel.burn(text.len())?;
                        return Ok(text.to_owned());
                    }
                    to_json(&value, fuel).and_then(json_text)
                })?),
            };
            self.room = self.room.checked_sub(part.len()).ok_or_else(|| too_large(template))?;
            whole.push_str(&part);
        }
        Ok(whole)
    }

    fn tree(&mut self, value: &Value) -> Result<Value, EvalError> {
        Ok(match value {
            Value::String(template) => match pieces(template)?.as_slice() {
                [Piece::Expr { source, .. }] => self.json(source)?,
                pieces => Value::String(self.text(template, pieces)?),
            },
            Value::Array(items) => Value::Array(items.iter().map(|item| self.tree(item)).collect::<Result<_, _>>()?),
            Value::Object(entries) => {
                let entries = entries.iter().map(|(key, value)| Ok((key.clone(), self.tree(value)?)));
                Value::Object(entries.collect::<Result<Map<_, _>, _>>()?)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        })
    }

    fn fill(&mut self, source: &str, json: &Value) -> Result<(), EvalError> {
        let mut room = Room(self.room);
        serde_json::to_writer(&mut room, json).map_err(|_| too_large(source))?;
        self.room = room.0;
        Ok(())
    }
}

fn too_large(source: &str) -> EvalError {
    let limit = RESULT_BYTES_MAX >> 20;
    EvalError::new(source, &format!("the result is larger than {limit} MiB"))
}

/// Takes what is written from the room that is left, and keeps nothing.
struct Room(usize);

impl Write for Room {
    fn write(&mut self, bytes: &[u8]) -> WriteResult<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or_else(|| WriteError::other("full"))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> WriteResult<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
