//! Going on with a run where it stopped (`R-RES-1`): in place, with everything that it had.

use std::time::{Duration, Instant};

use sprag_core::file;
use sprag_core::run::{OwnerId, RunId, RunStatus, Taking};
use sprag_store::{Filter, Holder};

use super::find::{self, Which};
use super::live::{Live, Resumed};
use super::run::slots;
use super::runs::is_alive;
use crate::driver::Fold;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::events::Reader;
use crate::host::{self, Begin};
use crate::run_error::RunError;

/// How long a dead process's guard may take to end what the process left behind, before a person is told instead.
const GUARD_PATIENCE: Duration = Duration::from_secs(10);
const GUARD_POLL: Duration = Duration::from_millis(1);

/// How many runs are looked at for one that can be resumed.
const LOOKED_AT: usize = 1_000;

/// How a run goes on.
#[derive(Debug, Clone, Copy, Default)]
pub struct ResumeOptions {
    /// A new deadline, from now on (`R-TIME-1`).
    pub deadline: Option<file::Duration>,
    /// How many attempts may run at once.
    pub parallel: Option<u32>,
}

/// Goes on with a run; without a name, with the newest that was interrupted or is waiting.
pub fn resume(engine: &Engine, which: Option<&Which>, options: ResumeOptions) -> Result<Live, EngineError> {
    let run = match which {
        Some(which) => find::run(engine, which)?,
        None => newest_resumable(engine)?,
    };
    let fold = take_over(engine, run)?;
    if let RunStatus::Ended(_) = fold.run().status() {
        return Err(RunError::Ended { run, status: fold.run().status().as_str() }.into());
    }
    crate::support::check(fold.run().definition(), &engine.surroundings.functions)?;
    let definition = fold.definition();
    let host = engine.host()?;
    let reader = Reader::from(run, fold.run());
    let resumed = Resumed { counts: fold.run().counts(), seq: fold.run().seq() };
    let how = Taking::Person { deadline: options.deadline };
    let driver = fold
        .own(host.owner(), how, slots(&definition, options.parallel))
        .map_err(|corrupt| RunError::Corrupt { run, corrupt })?;
    let follower = host.begin(Begin { run, definition: definition.clone(), driver });
    Ok(Live::new(definition, reader, Some(resumed), host, follower))
}

/// A run that nobody owns any more, read to its end; an error while somebody does, or while anything that the last owner
/// started may still be there: only a free lock says that it is gone (`R-CLAIM-1`, `R-CLAIM-2`).
pub(super) fn take_over(engine: &Engine, run: RunId) -> Result<Fold, EngineError> {
    let mut fold = find::fold(&engine.store, run)?;
    let mut gone: Option<OwnerId> = None;
    loop {
        let owner = fold.run().ownership().map(|ownership| ownership.owner);
        // What the last owner wrote before it died is read before anything is decided.
        let Some(owner) = owner.filter(|owner| gone != Some(*owner)) else { return Ok(fold) };
        match wait_for_guard(engine, owner)? {
            Holder::Alive { pid } => return Err(RunError::Owned { run, pid }.into()),
            Holder::Ending => return Err(RunError::Ending { run, owner }.into()),
            Holder::Nobody => {}
        }
        host::clean_up(&engine.store, owner, &engine.surroundings.state)?;
        gone = Some(owner);
        find::catch_up(&engine.store, run, &mut fold)?;
    }
}

/// Who holds a lease, once nobody is on the way out; or that somebody still is, after a while.
fn wait_for_guard(engine: &Engine, owner: OwnerId) -> Result<Holder, EngineError> {
    let until = Instant::now() + GUARD_PATIENCE;
    loop {
        let holder = engine.store.leases.holder(owner)?;
        if holder != Holder::Ending || Instant::now() > until {
            return Ok(holder);
        }
        std::thread::sleep(GUARD_POLL);
    }
}

fn newest_resumable(engine: &Engine) -> Result<RunId, EngineError> {
    let statuses = vec!["created", "running", "paused"];
    let open = engine.store.catalog.list(&Filter { statuses, most: LOOKED_AT, ..Filter::default() })?;
    for listed in open {
        if !is_alive(engine, &listed.summary)? {
            return Ok(listed.run);
        }
    }
    Err(RunError::NothingToResume.into())
}
