//! Verbs on a run from outside: through its owner if it has one, else in its place (`R-ASK-2`).

use std::time::{Duration, Instant};

use sprag_core::run::{Command, CommandId, Entry, Input, OwnerId, Ownership, Refusal, RunId, RunStatus, Taking, Verb};
use sprag_store::{Holder, StoreError};
use uuid::Uuid;

use super::find::{self, Which};
use super::resume::take_over;
use crate::driver::Fold;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::host::Clock;
use crate::run_error::RunError;

/// How long an owner has to answer.
const ANSWER_PATIENCE: Duration = Duration::from_secs(5);
const ANSWER_POLL: Duration = Duration::from_millis(20);

/// How often taking a run is tried while others take it too.
const TRIES: usize = 20;

/// What a verb did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Steered {
    /// The run.
    pub run: RunId,
    /// Its state afterwards, in a word.
    pub status: &'static str,
}

/// Ends a run; with `kill` its processes get no time to end.
pub fn cancel(
    engine: &Engine,
    which: &Which,
    kill: bool,
    by: &str,
    why: Option<String>,
) -> Result<Steered, EngineError> {
    let run = find::run(engine, which)?;
    let command = Command { id: CommandId(Uuid::new_v4()), by: by.to_owned(), why, verb: Verb::Cancel { kill } };
    steer(engine, run, &command)
}

fn steer(engine: &Engine, run: RunId, command: &Command) -> Result<Steered, EngineError> {
    for _ in 0..TRIES {
        let fold = match take_over(engine, run) {
            Ok(fold) => fold,
            Err(EngineError::Run(RunError::Owned { .. })) => match through_owner(engine, run, command)? {
                Some(steered) => return Ok(steered),
                // The owner died with the command unread.
                None => continue,
            },
            Err(error) => return Err(error),
        };
        if let RunStatus::Ended(_) = fold.run().status() {
            return Err(RunError::Ended { run, status: fold.run().status().as_str() }.into());
        }
        if let Some(steered) = in_its_place(engine, run, fold, command)? {
            return Ok(steered);
        }
    }
    Err(RunError::NotYetApplied { run }.into())
}

/// Leaves the command for the owner and waits for the entry that answers it; nothing if the owner died first.
fn through_owner(engine: &Engine, run: RunId, command: &Command) -> Result<Option<Steered>, EngineError> {
    let store = &engine.store;
    let mut fold = find::fold(store, run)?;
    if let RunStatus::Ended(_) = fold.run().status() {
        return after_the_end(engine, run, &fold, command).map(Some);
    }
    let mut seen = fold.run().seq();
    store.mailbox.send(run, command)?;
    let until = Instant::now() + ANSWER_PATIENCE;
    loop {
        for commit in store.journal.read(run, seen, usize::MAX)? {
            fold.take(&commit).map_err(|corrupt| RunError::Corrupt { run, corrupt })?;
            seen = commit.last();
            if let Some(answer) = commit.entries.iter().find_map(|entry| answer(entry, command.id)) {
                answer.map_err(RunError::Refused)?;
                find::catch_up(store, run, &mut fold)?;
                return Ok(Some(Steered { run, status: fold.run().status().as_str() }));
            }
        }
        if let RunStatus::Ended(_) = fold.run().status() {
            // Nobody answers it any more.
            store.mailbox.remove(&[command.id])?;
            return Err(RunError::Ended { run, status: fold.run().status().as_str() }.into());
        }
        let owner = fold.run().ownership().map(|ownership| ownership.owner);
        if owner.is_none_or(|owner| matches!(store.leases.holder(owner), Ok(Holder::Nobody))) {
            return Ok(None);
        }
        if Instant::now() > until {
            return Err(RunError::NotYetApplied { run }.into());
        }
        std::thread::sleep(ANSWER_POLL);
    }
}

/// A cancelled run is over at once, while its owner may still wait for processes that do not listen. `kill` is for them;
/// anything else comes too late.
fn after_the_end(engine: &Engine, run: RunId, fold: &Fold, command: &Command) -> Result<Steered, EngineError> {
    let store = &engine.store;
    let status = fold.run().status().as_str();
    let owner = fold.run().ownership().filter(|_| matches!(command.verb, Verb::Cancel { kill: true }));
    let Some(Ownership { owner, .. }) = owner else { return Err(RunError::Ended { run, status }.into()) };
    store.mailbox.send(run, command)?;
    let until = Instant::now() + ANSWER_PATIENCE;
    // Nothing may be written about it, so that it is taken from the mailbox is the answer.
    while store.mailbox.waiting()?.iter().any(|(_, waiting)| waiting.id == command.id) {
        if store.leases.holder(owner)? == Holder::Nobody {
            store.mailbox.remove(&[command.id])?;
            break;
        }
        if Instant::now() > until {
            return Err(RunError::NotYetApplied { run }.into());
        }
        std::thread::sleep(ANSWER_POLL);
    }
    Ok(Steered { run, status })
}

/// What an entry says about a command: taken, or why not.
fn answer(entry: &Entry, id: CommandId) -> Option<Result<(), Refusal>> {
    match entry {
        Entry::Command(record) if record.command.id == id => Some(record.refused.clone().map_or(Ok(()), Err)),
        _ => None,
    }
}

/// Takes the run, applies the command, and lets the run go again; starts no node. Nothing if somebody else was quicker.
fn in_its_place(engine: &Engine, run: RunId, fold: Fold, command: &Command) -> Result<Option<Steered>, EngineError> {
    let store = &engine.store;
    let owner = OwnerId(Uuid::new_v4());
    let lease = store.leases.hold(owner, "")?;
    let corrupt = |corrupt| EngineError::from(RunError::Corrupt { run, corrupt });
    let mut driver = fold.own(owner, Taking::Automatic, 0).map_err(corrupt)?;
    driver.offer(Input::Command(command.clone()));
    let mut clock = Clock::default();
    clock.not_before(driver.latest());
    let Some(mut append) = driver.drain(clock.now()).map_err(corrupt)? else { return Ok(None) };
    append.summary = driver.run().summary().map(Box::new);
    match store.journal.append(&[append]).pop() {
        Some(Ok(seq)) => driver.durable(seq),
        Some(Err(StoreError::Conflict { .. } | StoreError::Fenced { .. })) | None => return Ok(None),
        Some(Err(error)) => return Err(error.into()),
    }
    drop(lease);
    store.mailbox.remove(&[command.id])?;
    let refused = driver.replies().into_iter().find_map(|reply| match (reply.input, reply.outcome) {
        (Input::Command(asked), Err(refused)) if asked.id == command.id => Some(refused),
        _ => None,
    });
    match refused {
        Some(refused) => {
            let refusal = Refusal { code: refused.facts().code, message: refused.to_string() };
            Err(RunError::Refused(refusal).into())
        }
        None => Ok(Some(Steered { run, status: driver.run().status().as_str() })),
    }
}
