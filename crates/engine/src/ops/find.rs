//! Which run a person means: an id, a unique beginning of one, or `@last` (`R-CLI-2`).

use std::str::FromStr;
use std::sync::Arc;

use sprag_core::definition::Definition;
use sprag_core::run::{Entry, RunId, Seq};
use sprag_store::{Filter, Store};

use crate::driver::Fold;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::run_error::RunError;
use crate::stored;

/// How many commits are read at once.
pub(super) const PAGE: usize = 512;

/// A run as a person names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// The newest.
    Last,
    /// By id, or the beginning of one.
    Named(String),
}

impl FromStr for Which {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(if text == "@last" { Self::Last } else { Self::Named(text.to_lowercase()) })
    }
}

/// The run that is meant.
pub(super) fn run(engine: &Engine, which: &Which) -> Result<RunId, EngineError> {
    let catalog = &engine.store.catalog;
    match which {
        Which::Last => {
            let newest = catalog.list(&Filter { most: 1, ..Filter::default() })?;
            newest.first().map(|listed| listed.run).ok_or_else(|| RunError::NoRuns.into())
        }
        Which::Named(name) => {
            let found = match name.parse::<RunId>() {
                Ok(run) => catalog.find(run)?.map(|listed| vec![listed.run]).unwrap_or_default(),
                // Anything else than the beginning of an id finds nothing, rather than everything.
                Err(_) if !name.is_empty() && name.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-') => {
                    catalog.starting_with(name, 3)?
                }
                Err(_) => Vec::new(),
            };
            match found.as_slice() {
                [run] => Ok(*run),
                [] => Err(RunError::NotFound { name: name.clone() }.into()),
                _ => Err(RunError::Ambiguous { name: name.clone(), runs: found }.into()),
            }
        }
    }
}

/// The workflow that was stored with a run.
pub(super) fn definition(store: &Store, run: RunId) -> Result<Arc<Definition>, EngineError> {
    let first = store.journal.read(run, Seq(0), 1)?;
    let created = first.first().and_then(|commit| match commit.entries.first() {
        Some(Entry::Created(created)) => created.definition,
        _ => None,
    });
    match created {
        Some(digest) => stored::get(store, digest),
        None => Err(EngineError::definition("the journal does not name it")),
    }
}

/// Reads a run from its journal.
pub(super) fn fold(store: &Store, run: RunId) -> Result<Fold, EngineError> {
    let mut fold = Fold::new(definition(store, run)?, run);
    catch_up(store, run, &mut fold)?;
    Ok(fold)
}

/// Takes in what came since.
pub(super) fn catch_up(store: &Store, run: RunId, fold: &mut Fold) -> Result<(), EngineError> {
    loop {
        let commits = store.journal.read(run, fold.run().seq(), PAGE)?;
        for commit in &commits {
            fold.take(commit).map_err(|corrupt| RunError::Corrupt { run, corrupt })?;
        }
        if commits.is_empty() {
            return Ok(());
        }
    }
}
