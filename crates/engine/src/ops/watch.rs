//! What happened to a run, read from its journal, and followed while it goes on.

use std::time::Duration;

use sprag_core::run::{Entry, OwnerId, RunId, Seq};
use sprag_store::Holder;

use super::find::{self, Which};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::events::{Event, Reader};

/// How many commits are read at once.
const PAGE: usize = 256;

/// How often the journal of another process is looked at.
const POLL: Duration = Duration::from_millis(50);

/// Reads a run's events from the first on.
#[derive(Debug)]
pub struct Watch<'engine> {
    engine: &'engine Engine,
    run: RunId,
    reader: Reader,
    seen: Seq,
    owner: Option<OwnerId>,
    ended: bool,
}

/// The events of a run.
pub fn watch<'engine>(engine: &'engine Engine, which: &Which) -> Result<Watch<'engine>, EngineError> {
    let run = find::run(engine, which)?;
    let definition = find::definition(&engine.store, run)?;
    Ok(Watch { engine, run, reader: Reader::new(run, definition), seen: Seq(0), owner: None, ended: false })
}

impl Watch<'_> {
    /// The run.
    pub const fn run(&self) -> RunId {
        self.run
    }

    /// The next events; none when all there are were read.
    pub fn read(&mut self) -> Result<Vec<Event>, EngineError> {
        let commits = self.engine.store.journal.read(self.run, self.seen, PAGE)?;
        let mut events = Vec::new();
        for commit in commits {
            self.seen = commit.last();
            for entry in &commit.entries {
                match entry {
                    Entry::Owned { owner, .. } => self.owner = Some(*owner),
                    Entry::Ended(_) => self.ended = true,
                    _ => {}
                }
            }
            events.extend(self.reader.read(&commit));
        }
        Ok(events)
    }

    /// The next events, waited for; nothing once no more can come: the run is over, or nobody runs it.
    pub fn follow(&mut self) -> Result<Option<Vec<Event>>, EngineError> {
        loop {
            let alive = self.is_alive()?;
            let events = self.read()?;
            if !events.is_empty() {
                return Ok(Some(events));
            }
            if self.ended || !alive {
                return Ok(None);
            }
            std::thread::sleep(POLL);
        }
    }

    /// Whether the run is over, as far as it was read.
    pub const fn has_ended(&self) -> bool {
        self.ended
    }

    /// Whether somebody may still write.
    pub fn is_alive(&self) -> Result<bool, EngineError> {
        match self.owner {
            // The first commit names the owner, so before it is read nothing is known.
            None => Ok(self.seen == Seq(0)),
            Some(owner) => Ok(self.engine.store.leases.holder(owner)? != Holder::Nobody),
        }
    }
}
