//! The catalog port: runs as lists show them. It can be made again from the journals.

use sprag_core::run::{RunId, Summary, Timestamp};

use crate::error::StoreError;

/// A run in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// Its place in the order of creation, from 1. Clocks may jump; this does not.
    pub number: u64,
    /// The run.
    pub run: RunId,
    /// What is shown of it. It may be a second older than the journal.
    pub summary: Summary,
}

/// Which runs a list shows, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only runs in one of these states, by the words of [`sprag_core::run::RunStatus::as_str`]; empty for all.
    pub statuses: Vec<&'static str>,
    /// Only runs of this workflow.
    pub workflow: Option<String>,
    /// Only runs that started at this time or later.
    pub since: Option<Timestamp>,
    /// Only runs created before this one, by [`Listed::number`]; the next page of a list.
    pub before: Option<u64>,
    /// At most so many.
    pub most: usize,
}

/// Lists runs.
pub trait Catalog: Send + Sync {
    /// The runs that fit, newest first.
    fn list(&self, filter: &Filter) -> Result<Vec<Listed>, StoreError>;

    /// One run.
    fn find(&self, run: RunId) -> Result<Option<Listed>, StoreError>;

    /// Runs whose id starts like this (lower-case hexadecimal digits and dashes), newest first, at most so many.
    fn starting_with(&self, prefix: &str, most: usize) -> Result<Vec<RunId>, StoreError>;
}
