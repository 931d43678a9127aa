//! The one expression language: `MiniJinja` expressions, bare or as `{{ … }}` in text (`R-EXPR-1`).
//!
//! Only expressions: there are no statements, so every template is total, and a `{{ }}` in a shell script can be
//! compiled to a reference instead of being pasted (`R-EXPR-2`).

mod allowed;
mod environment;
mod evaluate;
mod form;
mod fuel;
mod guard;
mod names;
mod own;
mod place;
mod plain;
mod script;
mod template;
mod tree;

pub use evaluate::{EvalError, Names, RESULT_BYTES_MAX, holds, json, text, value};
pub use names::{Fault, Reference, references};
pub use plain::plain;
pub use script::{bound_script, script, script_argument, script_of};
pub use template::{Piece, split};
