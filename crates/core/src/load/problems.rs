//! Collects what is wrong, each at its place.

use std::ops::Range;

use super::trail::Trail;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Label, Severity, Span};
use crate::expr::Fault;
use crate::yaml::{Place, Reader};

/// A report that nobody reads to its end helps nobody.
const REPORTED: usize = 200;

/// The problems of one file.
#[derive(Debug)]
pub(super) struct Problems<'a, 'tree, 'text> {
    reader: &'a Reader<'tree, 'text>,
    found: Vec<Diagnostic>,
}

impl<'a, 'tree, 'text> Problems<'a, 'tree, 'text> {
    pub const fn new(reader: &'a Reader<'tree, 'text>, found: Vec<Diagnostic>) -> Self {
        Self { reader, found }
    }

    /// An error about a value.
    pub fn at(&mut self, code: Code, trail: &Trail<'_>, message: impl Into<String>, help: impl Into<String>) {
        self.push(code, Severity::Error, &trail.path().value(), message.into(), Some(help.into()));
    }

    /// An error about a key.
    pub fn at_key(&mut self, code: Code, trail: &Trail<'_>, message: impl Into<String>, help: impl Into<String>) {
        self.push(code, Severity::Error, &trail.path().name(), message.into(), Some(help.into()));
    }

    /// An error about a stretch of a text.
    pub fn in_text(
        &mut self,
        code: Code,
        trail: &Trail<'_>,
        range: Range<usize>,
        message: String,
        help: Option<String>,
    ) {
        self.push(code, Severity::Error, &trail.path().stretch(range), message, help);
    }

    /// A fault in a text.
    pub fn fault(&mut self, code: Code, trail: &Trail<'_>, fault: Fault) {
        self.in_text(code, trail, fault.range, fault.message, fault.help);
    }

    /// Something worth a look.
    pub fn warn(&mut self, code: Code, trail: &Trail<'_>, message: impl Into<String>, help: impl Into<String>) {
        self.push(code, Severity::Warning, &trail.path().name(), message.into(), Some(help.into()));
    }

    /// Adds a second place to the latest problem.
    pub fn label(&mut self, trail: &Trail<'_>, text: impl Into<String>) {
        let span = self.reader.locate(&trail.path().name());
        if let Some(problem) = self.found.last_mut() {
            problem.labels.push(Label { span, text: text.into() });
        }
    }

    fn push(&mut self, code: Code, severity: Severity, place: &Place, message: String, help: Option<String>) {
        let span = self.reader.locate(place);
        self.found.push(Diagnostic { code, severity, message, span, labels: Vec::new(), help });
    }

    /// Whether something at or below this place could not be read and was left out.
    pub fn is_damaged(&self, trail: &Trail<'_>) -> bool {
        self.reader.is_damaged(&trail.path())
    }

    /// Whether a mapping of the file has this key, read or left out.
    pub fn has_raw_key(&self, trail: &Trail<'_>, key: &str) -> bool {
        self.reader.has_raw_key(&trail.path(), key)
    }

    /// Whether anything was left out at all.
    pub fn is_whole(&self) -> bool {
        self.reader.is_whole()
    }

    pub fn has_errors(&self) -> bool {
        self.found.iter().any(|problem| problem.severity == Severity::Error)
    }

    /// All problems in the order of the file, errors before warnings at one place.
    pub fn finish(self) -> Vec<Diagnostic> {
        let mut found = self.found;
        let key = |problem: &Diagnostic| (problem.span.start, problem.severity, problem.code);
        found.sort_by_key(key);
        found.dedup_by(|later, earlier| {
            later.span == earlier.span && later.code == earlier.code && later.message == earlier.message
        });
        if found.len() > REPORTED {
            let left_out = found.len() - REPORTED;
            found.truncate(REPORTED);
            found.push(Diagnostic {
                code: Code::TOO_LARGE,
                severity: Severity::Error,
                message: format!("{left_out} more problems are not shown"),
                span: Span::default(),
                labels: Vec::new(),
                help: Some("mend the ones above first; many problems often have one cause".into()),
            });
        }
        found
    }
}
