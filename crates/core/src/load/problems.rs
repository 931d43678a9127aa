//! Collects what is wrong, each at its place.

use std::ops::Range;

use super::trail::Trail;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Label, Severity, Span};
use crate::expr::Fault;
use crate::suggest;
use crate::yaml::{Place, Reader};

/// A report that nobody reads to its end helps nobody, and each problem costs time to place.
pub(super) const REPORTED: usize = 200;

/// The problems of one file.
#[derive(Debug)]
pub(super) struct Problems<'a, 'tree, 'text> {
    reader: &'a Reader<'tree, 'text>,
    found: Vec<Diagnostic>,
    left_out: usize,
    /// How many more names are compared with what was written.
    comparisons: usize,
}

impl<'a, 'tree, 'text> Problems<'a, 'tree, 'text> {
    pub const fn new(reader: &'a Reader<'tree, 'text>, found: Vec<Diagnostic>) -> Self {
        Self { reader, found, left_out: 0, comparisons: 60_000 }
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
        if self.left_out > 0 {
            return;
        }
        let span = self.reader.locate(&trail.path().name());
        if let Some(problem) = self.found.last_mut() {
            problem.labels.push(Label { span, text: text.into() });
        }
    }

    fn push(&mut self, code: Code, severity: Severity, place: &Place, message: String, help: Option<String>) {
        if self.is_full() {
            self.left_out += 1;
            return;
        }
        let span = self.reader.locate(place);
        self.found.push(Diagnostic { code, severity, message, span, labels: Vec::new(), help });
    }

    /// Whether enough has been said; what is dear to say need not be worked out then.
    pub fn is_full(&self) -> bool {
        self.found.len() >= REPORTED
    }

    /// Whether a misspelt key has already been taken for this one.
    pub fn suggests(&self, key: &str) -> bool {
        let quoted = format!("`{key}`");
        self.found.iter().any(|problem| {
            problem.code == Code::UNKNOWN_KEY && problem.help.as_ref().is_some_and(|help| help.contains(&quoted))
        })
    }

    /// The nearest of many names, as long as looking for it is cheap: a large file with many mistakes has many names.
    pub fn did_you_mean<'n>(&mut self, written: &str, known: impl ExactSizeIterator<Item = &'n str>) -> Option<String> {
        self.comparisons = self.comparisons.checked_sub(known.len())?;
        suggest::did_you_mean(written, known)
    }

    /// The nodes of a mapping whose edges could not all be read.
    pub fn nodes_with_unread_needs(&self, nodes: &Trail<'_>) -> std::collections::BTreeSet<&str> {
        self.reader.entries_with_unread(&nodes.path(), "needs")
    }

    /// Whether something at or below this place could not be read and was left out.
    pub fn is_damaged(&self, trail: &Trail<'_>) -> bool {
        self.reader.is_damaged(&trail.path())
    }

    /// Whether a node of this name is written in the file, readable or not.
    pub fn is_written_node(&self, id: &str) -> bool {
        self.reader.has_node(id)
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

    /// All errors in the order of the file; without any, the warnings. A mistake often causes a warning elsewhere, and
    /// that would only distract from it.
    pub fn finish(self) -> Vec<Diagnostic> {
        let has_errors = self.has_errors();
        let mut found = self.found;
        found.retain(|problem| !has_errors || problem.severity == Severity::Error);
        for problem in &mut found {
            problem.span = whole_characters(self.reader.tree.text(), problem.span);
        }
        let key = |problem: &Diagnostic| (problem.span.start, problem.severity, problem.code);
        found.sort_by_key(key);
        found.dedup_by(|later, earlier| {
            later.span == earlier.span && later.code == earlier.code && later.message == earlier.message
        });
        found.truncate(REPORTED);
        if found.len() == REPORTED
            && let Some(last) = found.last_mut()
        {
            let more = format!("a report ends after {REPORTED} problems; mend these, and ask again");
            last.help = Some(last.help.take().map_or_else(|| more.clone(), |help| format!("{help}; {more}")));
        }
        found
    }
}

/// A span that ends inside a character is widened to its end: what a parser counts in bytes people see in characters.
fn whole_characters(text: &str, span: Span) -> Span {
    let at = |offset: u32| (offset as usize).min(text.len());
    let start = (0..=at(span.start)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let end = (at(span.end).max(start)..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Span { start: offset(start), end: offset(end) }
}
