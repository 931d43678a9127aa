//! What a resume did not have to do again (`R-CLI-8`).

use std::collections::BTreeMap;

use sprag_core::run::{Entry, RunId, Seq, Usage};

use super::find::PAGE;
use crate::engine::Engine;
use crate::error::EngineError;

/// What was finished before a run was resumed, and kept.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Saved {
    /// Nodes with a result.
    pub nodes: u32,
    /// How long their attempts took, in milliseconds.
    pub millis: u64,
    /// What they cost.
    pub usage: Usage,
}

/// What the entries up to this one had finished.
pub fn saved(engine: &Engine, run: RunId, until: Seq) -> Result<Saved, EngineError> {
    let mut saved = Saved::default();
    let mut started = BTreeMap::new();
    let mut seen = Seq(0);
    while seen < until {
        let commits = engine.store.journal.read(run, seen, PAGE)?;
        let Some(last) = commits.last() else { break };
        seen = last.last();
        for commit in commits.iter().filter(|commit| commit.last() <= until) {
            for entry in &commit.entries {
                match entry {
                    Entry::Started { node, .. } => drop(started.insert(*node, (commit.at, Usage::default()))),
                    Entry::Produced { node, product, .. } => {
                        if let (Some((_, usage)), Some(cost)) = (started.get_mut(node), &product.usage) {
                            usage.add(cost);
                        }
                    }
                    Entry::Completed { node, product, .. } => {
                        saved.nodes += 1;
                        if let Some((at, usage)) = started.remove(node) {
                            saved.millis += commit.at.since(at).millis;
                            saved.usage.add(&usage);
                        }
                        let cost = product.as_ref().and_then(|product| product.usage.as_ref());
                        saved.usage.add(cost.unwrap_or(&Usage::default()));
                    }
                    _ => {}
                }
            }
        }
    }
    Ok(saved)
}
