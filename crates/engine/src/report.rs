//! What a check of files found, with the text that belongs to each problem.

use std::path::PathBuf;

use sprag_core::diagnostic::{Diagnostic, LineIndex, Position, Severity};

use crate::error::EngineError;

/// One file and the problems in it.
#[derive(Debug)]
pub struct FileReport {
    /// The file as it was named.
    pub path: PathBuf,
    /// Its text; empty if it could not be read.
    pub text: String,
    /// What was found in the text.
    pub diagnostics: Vec<Diagnostic>,
    /// Why there is no text.
    pub unreadable: Option<EngineError>,
}

/// A problem with its place resolved, as JSON and lists show it.
#[derive(Debug)]
pub struct Problem<'report> {
    /// The file.
    pub file: &'report FileReport,
    /// The diagnostic.
    pub diagnostic: &'report Diagnostic,
    /// Line and column.
    pub position: Position,
}

/// What a check of one or more files found.
#[derive(Debug, Default)]
pub struct Report {
    /// The files, in the order they were named, sub-workflow files behind the file that names them.
    pub files: Vec<FileReport>,
}

impl FileReport {
    /// Whether nothing here stops a run.
    pub fn is_valid(&self) -> bool {
        self.unreadable.is_none() && self.diagnostics.iter().all(|diagnostic| diagnostic.severity != Severity::Error)
    }

    /// The problems with line and column.
    pub fn problems(&self) -> impl Iterator<Item = Problem<'_>> {
        let index = LineIndex::new(&self.text);
        self.diagnostics.iter().map(move |diagnostic| Problem {
            file: self,
            diagnostic,
            position: index.position(diagnostic.span.start),
        })
    }
}

impl Report {
    /// Whether nothing stops a run.
    pub fn is_valid(&self) -> bool {
        self.files.iter().all(FileReport::is_valid)
    }
}
