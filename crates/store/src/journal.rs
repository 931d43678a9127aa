//! The journal port: append if nothing moved, read from a place.

use std::sync::Arc;

use sprag_core::run::{Commit, RunId, Seq, Summary};

use crate::error::StoreError;

/// A commit for one run.
#[derive(Debug, Clone)]
pub struct Append {
    /// The run.
    pub run: RunId,
    /// What becomes durable. Its first entry follows the last one that the writer knows; `Seq(1)` makes the run.
    pub commit: Arc<Commit>,
    /// What lists show of the run from now on; nothing if that has not changed.
    pub summary: Option<Box<Summary>>,
    /// The ids of its nodes, in the order of their indices, given with the first commit, for views that people read.
    /// Stores without such views ignore them.
    pub names: Option<Arc<[String]>>,
    /// Whether the caller waits only for the write, not for the flush (`durability: relaxed`, `R-JRN-1`): what a killed
    /// process wrote stays, what a power cut took may be lost.
    pub relaxed: bool,
}

impl Append {
    /// A commit that is to be flushed and changes no list.
    pub const fn new(run: RunId, commit: Arc<Commit>) -> Self {
        Self { run, commit, summary: None, names: None, relaxed: false }
    }
}

/// Keeps the journals of runs.
///
/// One writer gathers what all runs want to append and hands it over together, so `append` takes many and may make them
/// durable with one flush; each succeeds or fails alone, whole or not at all.
pub trait Journal: Send + Sync {
    /// Appends commits. For each, in order:
    /// - one whose id is already at its place is success: it landed before and the answer was lost;
    /// - a fence below the run's is [`StoreError::Fenced`], one above it takes the run over;
    /// - a first entry that does not follow the last one there is, or no entry at all, is [`StoreError::Conflict`].
    ///
    /// On success the last entry of the run is returned, and the commit is durable; its summary is kept with it.
    fn append(&self, appends: &[Append]) -> Vec<Result<Seq, StoreError>>;

    /// The commits of a run that hold entries after `after`, in order, at most so many, and fewer where they are large; at
    /// least one if there is any.
    fn read(&self, run: RunId, after: Seq, most: usize) -> Result<Vec<Arc<Commit>>, StoreError>;
}
