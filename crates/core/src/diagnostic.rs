//! A problem in a file, with everything a person or an editor needs to find and mend it.

use serde::Serialize;

use crate::codes::Code;

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing runs.
    Error,
    /// It runs, but probably not as meant.
    Warning,
}

/// A byte range in the text of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The range as indices.
    pub const fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A second place that belongs to a problem, such as the first of two duplicates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What is there.
    pub text: String,
}

/// One problem at one place in one file (`R-FILE-1`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The stable code.
    pub code: Code,
    /// Error or warning.
    pub severity: Severity,
    /// What is wrong, as a lower-case fragment.
    pub message: String,
    /// The place.
    pub span: Span,
    /// Other places that explain it.
    pub labels: Vec<Label>,
    /// What to do.
    pub help: Option<String>,
}

/// Line and column of a byte offset, both counted from 1, the column in characters as editors count it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// Finds lines by byte offset; made once per report.
#[derive(Debug)]
pub struct LineIndex<'text> {
    text: &'text str,
    starts: Vec<usize>,
}

impl<'text> LineIndex<'text> {
    /// Indexes the lines of `text`.
    pub fn new(text: &'text str) -> Self {
        let starts =
            std::iter::once(0).chain(text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1));
        Self { text, starts: starts.collect() }
    }

    /// The position of a byte offset; an offset past the end is the end.
    pub fn position(&self, offset: u32) -> Position {
        let offset = (offset as usize).min(self.text.len());
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let column = self.text.get(start..offset).map_or(0, |before| before.chars().count());
        Position { line, column: column + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::{LineIndex, Position};

    #[test]
    fn columns_count_characters_not_bytes() {
        let index = LineIndex::new("a\nüö: x\n");
        for (offset, line, column) in [(0, 1, 1), (2, 2, 1), (6, 2, 3), (8, 2, 5), (99, 3, 1)] {
            assert_eq!(index.position(offset), Position { line, column }, "offset {offset}");
        }
    }
}
