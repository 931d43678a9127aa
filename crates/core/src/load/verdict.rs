//! How a check of a name ends.

use crate::codes::Code;
use crate::suggest;

/// Why a name is refused: code, message, help.
pub(super) type Refusal = (Code, String, Option<String>);
/// Whether a name is allowed.
pub(super) type Verdict = Result<(), Refusal>;

pub(super) fn refuse(code: Code, message: impl Into<String>, help: impl Into<String>) -> Verdict {
    Err((code, message.into(), Some(help.into())))
}

pub(super) fn not_before(id: &str, whom: &str) -> Verdict {
    let help = "an expression reads ancestors and nodes of earlier phases";
    refuse(Code::NOT_AN_ANCESTOR, format!("`{id}` has not run before {whom}"), help)
}

/// One of a fixed set of attributes, or none.
pub(super) fn part(whole: &str, rest: &[&str], known: &[&'static str]) -> Verdict {
    match rest.first() {
        Some(name) if !known.contains(name) => {
            let help = suggest::did_you_mean(name, known.iter().copied())
                .unwrap_or_else(|| format!("`{whole}` has {}", suggest::listed(known.iter().copied())));
            refuse(Code::UNDEFINED_NAME, format!("`{whole}` has no `{name}`"), help)
        }
        _ => Ok(()),
    }
}
