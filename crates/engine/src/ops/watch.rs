//! What happened to a run, read from its journal, and followed while it goes on.

use std::sync::Arc;
use std::time::Duration;

use sprag_core::definition::Definition;
use sprag_core::run::{Entry, OwnerId, RunId, Seq};
use sprag_store::Holder;

use super::find::{self, PAGE, Which};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::events::{Event, Reader};

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
    Ok(Watch::new(engine, run, definition))
}

impl<'engine> Watch<'engine> {
    fn new(engine: &'engine Engine, run: RunId, definition: Arc<Definition>) -> Self {
        Self { engine, run, reader: Reader::new(run, definition), seen: Seq(0), owner: None, ended: false }
    }

    /// The run.
    pub const fn run(&self) -> RunId {
        self.run
    }

    /// The workflow that was stored with it.
    pub(super) fn definition(&self) -> &Definition {
        self.reader.definition()
    }

    /// The next events; nothing when all there are were read. A page of commits may hold none that people hear of, and
    /// more may follow it.
    pub fn read(&mut self) -> Result<Option<Vec<Event>>, EngineError> {
        let commits = self.engine.store.journal.read(self.run, self.seen, PAGE)?;
        if commits.is_empty() {
            return Ok(None);
        }
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
        Ok(Some(events))
    }

    /// The next events, waited for, as by [`Self::read`]; nothing once no more can come: the run is over, or nobody runs it.
    pub fn follow(&mut self) -> Result<Option<Vec<Event>>, EngineError> {
        loop {
            let alive = self.is_alive()?;
            match self.read()? {
                Some(events) => return Ok(Some(events)),
                None if self.ended || !alive => return Ok(None),
                None => std::thread::sleep(POLL),
            }
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use sprag_core::limits::Limits;
    use sprag_core::load::load;
    use sprag_core::run::{Commit, Created, EndStatus, Ending, Entry, Fence, OwnerId, RunId, Seq, Timestamp};
    use sprag_store::{Append, Store};
    use uuid::Uuid;

    use super::{PAGE, Watch};
    use crate::engine::Engine;
    use crate::events::What;
    use crate::host::{Functions, Surroundings};

    /// R-CLI-8: what people hear nothing of does not end what they hear.
    #[test]
    fn a_page_without_events_is_not_the_end() {
        let store = Store::memory();
        let definition = load("workflow: w\nnodes: { a: { noop: } }\n", &Limits::default()).unwrap().definition;
        let definition = Arc::new(definition);
        let run = RunId(Uuid::from_u128(1));
        let created = Created::first(run, &definition, [].into());
        let owned = Entry::Owned { owner: OwnerId(Uuid::from_u128(2)), fence: Fence(1), person: false };
        let ending =
            Ending { status: EndStatus::Completed, exit: 0, degraded: false, failure: None, superseded_by: None };
        let silent = (0..2 * PAGE).map(|at| Entry::Held { on: at % 2 == 0 });
        let entries = [Entry::Created(Box::new(created)), owned].into_iter().chain(silent);
        for (seq, entry) in (1..).map(Seq).zip(entries.chain([Entry::Ended(Box::new(ending))])) {
            let id = Uuid::from_u128(u128::from(seq.0));
            let commit =
                Commit { first: seq, at: Timestamp::from_millis(0), fence: Fence(1), id, entries: vec![entry] };
            store.journal.append(&[Append::new(run, Arc::new(commit))]).remove(0).unwrap();
        }
        let surroundings =
            Surroundings { root: ".".into(), state: ".".into(), functions: Functions::new(), guard: None };
        let engine = Engine::with(store, surroundings);
        for follow in [false, true] {
            let mut watch = Watch::new(&engine, run, Arc::clone(&definition));
            let mut heard = Vec::new();
            while let Some(events) = if follow { watch.follow() } else { watch.read() }.unwrap() {
                heard.extend(events);
            }
            assert_eq!(heard.len(), 3);
            assert!(matches!(heard[2].what, What::RunEnded { .. }) && watch.has_ended());
        }
    }
}
