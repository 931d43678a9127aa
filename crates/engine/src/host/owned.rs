//! One run that this process owns: its driver, what is being done for it, and what still has to be written.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sprag_core::definition::Definition;
use sprag_core::file::Durability;
use sprag_core::graph::NodeIndex;
use sprag_core::run::{Commit, Corrupt, Effect, Input, Report, RunId, RunStatus, Seq, Timestamp};
use sprag_store::Append;

use super::outcome::Outcome;
use super::secrets::Secrets;
use super::tail::Tail;
use crate::check::Checks;
use crate::driver::{Driver, Reply};
use crate::exec::{Abort, Stop};

/// How often a list is told about a run that only moves on.
const SUMMARY_EVERY: Duration = Duration::from_secs(1);

pub(super) struct Owned {
    pub id: RunId,
    pub driver: Driver,
    pub checks: Checks,
    pub secrets: Secrets,
    pub tail: Arc<Tail>,
    /// What slots are doing for it.
    working: BTreeMap<(NodeIndex, u32), Abort>,
    /// A commit that the store has not taken yet. Nothing else is decided until it has: the same is repeated.
    unwritten: Option<Append>,
    relaxed: bool,
    /// Whether something came in since the last drain.
    dirty: bool,
    /// Whether what slots report is dropped: the attempts count as interrupted.
    pub discarding: bool,
    shown: Option<(RunStatus, Instant)>,
}

/// Whoever follows must not wait for ever, whatever ended the thread that drives.
impl Drop for Owned {
    fn drop(&mut self) {
        self.tail.finish(Outcome::Faulty("the thread that drives runs has ended".into()));
    }
}

impl Owned {
    pub fn new(id: RunId, driver: Driver, definition: Arc<Definition>, tail: Arc<Tail>, secrets: Secrets) -> Self {
        let relaxed = definition.policy.durability.is_some_and(Durability::is_relaxed);
        Self {
            id,
            driver,
            checks: Checks::new(definition),
            secrets,
            tail,
            working: BTreeMap::new(),
            unwritten: None,
            relaxed,
            dirty: true,
            discarding: false,
            shown: None,
        }
    }

    /// Something happened to the run.
    pub fn offer(&mut self, input: Input) {
        self.driver.offer(input);
        self.dirty = true;
    }

    /// An executor has something to say.
    pub fn report(&mut self, node: NodeIndex, attempt: u32, report: Report) {
        self.offer(Input::Report { node, attempt, report });
    }

    /// A slot is done with an attempt.
    pub fn returned(&mut self, node: NodeIndex, attempt: u32, report: Report) {
        let abort = self.working.remove(&(node, attempt));
        // What was aborted has its outcome already.
        if !self.discarding && abort.is_some_and(|abort| abort.asked().is_none()) {
            self.report(node, attempt, report);
        }
    }

    /// Whether slots are doing something for it.
    pub fn is_working(&self) -> bool {
        !self.working.is_empty()
    }

    /// A slot works on an attempt from now on.
    pub fn works(&mut self, node: NodeIndex, attempt: u32, abort: Abort) {
        self.working.insert((node, attempt), abort);
    }

    /// Stops what is being done for an attempt.
    pub fn abort(&self, node: NodeIndex, attempt: u32, stop: Stop) {
        if let Some(abort) = self.working.get(&(node, attempt)) {
            abort.stop(stop);
        }
    }

    /// Stops everything at once.
    pub fn abort_all(&self, stop: Stop) {
        self.working.values().for_each(|abort| abort.stop(stop));
    }

    /// How long until something becomes due by itself.
    pub fn due_in(&self, now: Timestamp) -> Option<Duration> {
        let wake = self.driver.next_wake().filter(|_| self.unwritten.is_none())?;
        Some(Duration::from_millis(wake.since(now).millis))
    }

    /// What has to be written now: what the store did not take, or else what is decided now.
    pub fn drain(&mut self, now: Timestamp) -> Result<Option<Append>, Corrupt> {
        if let Some(unwritten) = &self.unwritten {
            return Ok(Some(unwritten.clone()));
        }
        if !self.dirty && self.driver.next_wake().is_none_or(|wake| wake > now) {
            return Ok(None);
        }
        self.dirty = false;
        let Some(mut append) = self.driver.drain(now)? else { return Ok(None) };
        append.relaxed = self.relaxed;
        let run = self.driver.run();
        let status = run.status();
        let known = self.shown.is_some_and(|(shown, at)| shown == status && at.elapsed() < SUMMARY_EVERY);
        if !known {
            append.summary = run.summary().map(Box::new);
            self.shown = Some((status, Instant::now()));
        }
        if append.commit.first == Seq(1) {
            let graph = &run.definition().graph;
            append.names = Some(graph.nodes().map(|node| graph.id(node).to_string()).collect());
        }
        self.unwritten = Some(append.clone());
        Ok(Some(append))
    }

    /// The store has the commit: what it demands may happen now.
    pub fn written(&mut self, commit: &Arc<Commit>) -> (Vec<Effect>, Vec<Reply>) {
        self.unwritten = None;
        self.driver.durable(commit.last());
        self.tail.push(Arc::clone(commit));
        (self.driver.effects(), self.driver.replies())
    }

    /// Whether nothing is left to do here, and how that came. `leaving`: nothing new is started.
    pub fn outcome(&self, leaving: bool) -> Option<Outcome> {
        if !self.working.is_empty() {
            return None;
        }
        if self.unwritten.is_some() {
            let given_up = || Outcome::Unavailable("the last results could not be saved".into());
            return self.discarding.then(given_up);
        }
        if self.dirty {
            return None;
        }
        let run = self.driver.run();
        match run.ended() {
            Some(ending) => Some(Outcome::Ended(ending.clone())),
            None if leaving => Some(Outcome::Interrupted),
            None => matches!(run.status(), RunStatus::Paused(_)).then_some(Outcome::Waiting),
        }
    }
}
