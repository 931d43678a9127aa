//! What every error says about itself, so that text, JSON and HTTP are renderings of one thing.

use crate::codes::Code;

/// The facts of one error: its code, and what the person can do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The stable code; exit code and HTTP status follow from it.
    pub code: Code,
    /// What to do next, where that can be said.
    pub help: Option<String>,
}

impl Facts {
    /// Facts with help.
    pub fn new(code: Code, help: impl Into<String>) -> Self {
        Self { code, help: Some(help.into()) }
    }

    /// Facts of an error whose message already says all there is to do.
    pub const fn bare(code: Code) -> Self {
        Self { code, help: None }
    }
}
