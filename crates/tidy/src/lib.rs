//! The rules of the house that a machine can check.
//!
//! [`Tree::read`] loads the sources, [`check`] judges them. Every broken rule is a [`Finding`] that names the place,
//! what is wrong and what to do about it. The crate is used by its own test only and is never published.

mod codes;
mod rules;
mod source;
mod tree;

use std::fmt;

pub use codes::{CODES_FILE, Code, read_codes};
pub use rules::RULES;
pub use tree::Tree;

/// One place where the tree breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Path from the root of the tree, with `/` between its parts.
    pub path: String,
    /// Line in that file, from 1; a finding about the file as a whole names line 1.
    pub line: usize,
    /// What is wrong, and what to do.
    pub what: String,
}

impl Finding {
    pub(crate) fn new(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// A rule of the house.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Short name, used by tests.
    pub name: &'static str,
    /// Judges a tree, given the error codes of the project.
    pub check: fn(&Tree, &[Code]) -> Vec<Finding>,
}

/// Judges a tree by every rule. The findings are sorted by path and line.
#[must_use]
pub fn check(tree: &Tree, codes: &[Code]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = RULES.iter().flat_map(|rule| (rule.check)(tree, codes)).collect();
    findings.sort();
    findings
}
