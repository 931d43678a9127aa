//! The one expression language: `MiniJinja` expressions, bare or as `{{ … }}` in text (`R-EXPR-1`).
//!
//! Only expressions: there are no statements, so every template is total, and a `{{ }}` in a shell script can be
//! compiled to a reference instead of being pasted (`R-EXPR-2`).

mod allowed;
mod names;
mod script;
mod template;

pub use names::{Fault, Reference, references};
pub use script::{script, script_argument, script_of};
pub use template::{Piece, split};
