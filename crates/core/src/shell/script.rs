//! The compiled script: text with numbered references, and the values bound to them.

use std::error::Error;
use std::fmt;

use super::piece::{Piece, Placement};
use super::reason::Misplaced;
use super::scanner::place_values;

/// The longest value that may travel in a variable, in bytes. Linux refuses any single string of 128 KiB, name
/// included; the rest is room for systems that are tighter.
pub const VALUE_LIMIT: usize = 102_400;

/// A script whose values are references (`R-EXPR-2`). Plain data: it may be stored and bound later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellScript {
    /// The script with `"${SPRAG_V1}"` … in place. Unquoted values are missing from it; [`Slot::Splice`] says where.
    pub text: String,
    /// What becomes of each value, in the order of the pieces.
    pub slots: Vec<Slot>,
}

/// What becomes of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// It travels in the variable `SPRAG_V<number>`.
    Variable(usize),
    /// It becomes script text at this byte of [`ShellScript::text`].
    Splice(usize),
}

/// A script and the environment that carries its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// What `/bin/sh -c` gets.
    pub script: String,
    /// `SPRAG_V1` … and their values.
    pub environment: Vec<(String, String)>,
}

/// Why values cannot be bound to a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BindError {
    /// There are more or fewer values than the script has places for.
    Count {
        /// Places in the script.
        expected: usize,
        /// Values given.
        actual: usize,
    },
    /// A value holds a NUL character, which neither a variable nor an argument can.
    Nul {
        /// Index of the value, in the order of the pieces.
        value: usize,
    },
    /// A value is longer than [`VALUE_LIMIT`].
    TooLong {
        /// Index of the value, in the order of the pieces.
        value: usize,
        /// Its length in bytes.
        bytes: usize,
    },
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count { expected, actual } => {
                write!(f, "script has {expected} places for values, got {actual} values")
            }
            Self::Nul { value } => write!(
                f,
                "value {} of the script contains a NUL character; read it from the file `$SPRAG_INPUT` instead",
                value + 1
            ),
            Self::TooLong { value, bytes } => write!(
                f,
                "value {} of the script has {bytes} bytes, more than {VALUE_LIMIT}; \
                 read it from the file `$SPRAG_INPUT` instead",
                value + 1
            ),
        }
    }
}

impl Error for BindError {}

/// Compiles a `run` string: finds the place of every value and writes the references (`R-EXPR-2`).
///
/// # Errors
/// All misplaced values at once, in order.
pub fn compile(pieces: &[Piece<'_>]) -> Result<ShellScript, Vec<Misplaced>> {
    let mut placements = place_values(pieces)?.into_iter();
    let mut script = ShellScript { text: String::new(), slots: Vec::new() };
    let mut variables = 0;
    for piece in pieces {
        if let Piece::Text(text) = piece {
            script.text.push_str(text);
            continue;
        }
        let quotes = match placements.next() {
            // There is one placement per value; if one were missing, a reference is the safe reading.
            Some(Placement::Bare) | None => "\"",
            Some(Placement::DoubleQuoted | Placement::HereDocument) => "",
            Some(Placement::Unquoted) => {
                script.slots.push(Slot::Splice(script.text.len()));
                continue;
            }
        };
        variables += 1;
        for part in [quotes, "${", &variable(variables), "}", quotes] {
            script.text.push_str(part);
        }
        script.slots.push(Slot::Variable(variables));
    }
    Ok(script)
}

/// The name of the variable that carries a value.
fn variable(number: usize) -> String {
    format!("SPRAG_V{number}")
}

impl ShellScript {
    /// Binds values, given in the order of the pieces. The script text depends on unquoted values only.
    ///
    /// # Errors
    /// The first value that cannot travel, or a wrong number of values.
    pub fn bind(&self, values: &[&str]) -> Result<Bound, BindError> {
        if values.len() != self.slots.len() {
            return Err(BindError::Count { expected: self.slots.len(), actual: values.len() });
        }
        let mut bound = Bound { script: String::with_capacity(self.text.len()), environment: Vec::new() };
        let mut copied = 0;
        for (value, (&content, slot)) in values.iter().zip(&self.slots).enumerate() {
            if content.contains('\0') {
                return Err(BindError::Nul { value });
            }
            if content.len() > VALUE_LIMIT {
                let bytes = content.len();
                return Err(BindError::TooLong { value, bytes });
            }
            match *slot {
                Slot::Variable(number) => {
                    bound.environment.push((variable(number), content.to_owned()));
                }
                Slot::Splice(at) => {
                    bound.script.push_str(self.text.get(copied..at).unwrap_or_default());
                    bound.script.push_str(content);
                    copied = at;
                }
            }
        }
        bound.script.push_str(self.text.get(copied..).unwrap_or_default());
        Ok(bound)
    }
}
