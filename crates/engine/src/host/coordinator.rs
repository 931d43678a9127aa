//! The thread that decides and writes for all runs of a process. What all of them decided since the last time is written
//! together, with one flush; nothing is handed to a slot before what caused it is durable (`R-JRN-1`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde_json::Value;
use sprag_core::definition::Kind;
use sprag_core::graph::NodeIndex;
use sprag_core::run::{CommandId, Effect, Input, Known, NodeError, OwnerId, Product, Report, RunId, Stage, Verb};
use sprag_store::{Append, Store};

use super::clock::Clock;
use super::outcome::{Notice, Outcome};
use super::owned::Owned;
use super::prepare::{self, Place};
use super::slots::{Assignment, Slots};
use super::start::Surroundings;
use super::writing::{Writing, Written};
use crate::driver::Reply;
use crate::exec::{Abort, Stop};

/// How long the outcomes of other attempts are waited for before those that are known are written.
const GATHERED: Duration = Duration::from_micros(120);

/// How often the mailbox is looked into.
const MAIL_EVERY: Duration = Duration::from_millis(100);

/// What comes to the coordinator from other threads.
pub(super) enum Event {
    /// A run to drive.
    Begin(Box<Owned>),
    /// A slot is done with an attempt.
    Returned { run: RunId, node: NodeIndex, attempt: u32, report: Report },
    /// Start nothing more and leave when what runs has ended.
    Leave,
    /// Leave at once: what runs is killed and counts as interrupted.
    Stop,
    /// Nobody will say anything more.
    Close,
}

pub(super) struct Coordinator {
    pub owner: OwnerId,
    pub store: Store,
    pub surroundings: Surroundings,
    pub inbox: Receiver<Event>,
    pub slots: Slots,
    pub guarding: super::start::Guarding,
    runs: BTreeMap<RunId, Owned>,
    clock: Clock,
    writing: Writing,
    mail_seen: Instant,
    /// Commands that were taken from the mailbox and not yet removed from it.
    mail_taken: BTreeSet<CommandId>,
    leaving: bool,
    closed: bool,
}

impl Coordinator {
    pub fn new(
        owner: OwnerId,
        store: Store,
        surroundings: Surroundings,
        inbox: Receiver<Event>,
        slots: Slots,
        guarding: super::start::Guarding,
    ) -> Self {
        Self {
            owner,
            store,
            surroundings,
            inbox,
            slots,
            guarding,
            runs: BTreeMap::new(),
            clock: Clock::default(),
            writing: Writing::new(),
            mail_seen: Instant::now(),
            mail_taken: BTreeSet::new(),
            leaving: false,
            closed: false,
        }
    }

    /// Drives runs until nobody wants anything any more.
    pub fn run(mut self) {
        while !(self.closed && self.runs.is_empty()) {
            match self.patience() {
                None => match self.inbox.recv() {
                    Ok(event) => self.take(event),
                    Err(_) => self.take(Event::Close),
                },
                Some(patience) => match self.inbox.recv_timeout(patience) {
                    Ok(event) => self.take(event),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => self.take(Event::Close),
                },
            }
            self.gather();
            self.read_mail();
            // Whatever came in meanwhile shares the next flush. Runs that always have something to decide keep nobody
            // waiting: neither those who steer them nor those that are done.
            while self.step() {
                while let Ok(event) = self.inbox.try_recv() {
                    self.take(event);
                }
                self.read_mail();
                self.let_go();
            }
            self.let_go();
        }
        // The threads first: what they started is theirs to end.
        drop(self.slots);
        self.guarding.end();
    }

    /// Attempts that began with the same flush tend to end together. Waiting a moment for the others lets them share the
    /// next flush too, where the later one would wait for two.
    fn gather(&mut self) {
        let until = Instant::now() + GATHERED;
        while self.runs.values().any(Owned::is_working) {
            let left = until.saturating_duration_since(Instant::now());
            match self.inbox.recv_timeout(left) {
                Ok(event) => self.take(event),
                Err(_) => return,
            }
        }
    }

    /// How long nothing can happen by itself; nothing if it cannot at all.
    fn patience(&mut self) -> Option<Duration> {
        if self.runs.is_empty() {
            return None;
        }
        let now = self.clock.now();
        let mail = MAIL_EVERY.saturating_sub(self.mail_seen.elapsed());
        // What is due while the store rests is written when it has rested.
        let due = match self.writing.patience() {
            Some(rest) => Some(rest),
            None => self.runs.values().filter_map(|owned| owned.due_in(now)).min(),
        };
        due.map_or(Some(mail), |due| Some(due.min(mail)))
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Begin(mut owned) => {
                if self.leaving {
                    owned.driver.set_slots(0);
                }
                self.clock.not_before(owned.driver.latest());
                self.runs.insert(owned.id, *owned);
            }
            Event::Returned { run, node, attempt, report } => {
                if let Some(owned) = self.runs.get_mut(&run) {
                    owned.returned(node, attempt, report);
                }
            }
            Event::Leave => self.leave(),
            Event::Stop => self.stop(),
            Event::Close => {
                self.closed = true;
                self.stop();
            }
        }
    }

    fn leave(&mut self) {
        self.leaving = true;
        for owned in self.runs.values_mut() {
            owned.driver.set_slots(0);
        }
    }

    fn stop(&mut self) {
        self.leave();
        for owned in self.runs.values_mut() {
            owned.discarding = true;
            owned.abort_all(Stop::Now);
        }
    }

    /// Decides, writes and hands out once. Whether there is more to decide at once.
    fn step(&mut self) -> bool {
        if self.writing.rests() {
            return false;
        }
        let now = self.clock.now();
        let mut appends: Vec<Append> = Vec::new();
        let mut faulty = Vec::new();
        for owned in self.runs.values_mut() {
            match owned.drain(now) {
                Ok(append) => appends.extend(append),
                Err(corrupt) => faulty.push((owned.id, corrupt.to_string())),
            }
        }
        for (run, why) in faulty {
            self.abandon(run, Outcome::Faulty(why));
        }
        if appends.is_empty() {
            return false;
        }
        let round = self.writing.write(self.store.journal.as_ref(), &appends);
        if round.back {
            self.runs.values().for_each(|owned| owned.tail.notice(Notice::StoreBack));
        }
        for (append, written) in appends.iter().zip(round.outcomes) {
            match written {
                Written::Done => self.perform(append),
                Written::Later(None) => {}
                Written::Later(Some(why)) => {
                    if let Some(owned) = self.runs.get(&append.run) {
                        owned.tail.notice(Notice::StoreUnavailable(why));
                    }
                }
                Written::TakenOver => self.abandon(append.run, Outcome::TakenOver),
                Written::Broken(why) => self.abandon(append.run, Outcome::Broken(why)),
                Written::Damaged(code, why) => self.abandon(append.run, Outcome::Damaged { code, why }),
            }
        }
        true
    }

    /// Does what the durable state of a run demands.
    fn perform(&mut self, append: &Append) {
        let Some(owned) = self.runs.get_mut(&append.run) else { return };
        let (effects, replies) = owned.written(&append.commit);
        for effect in effects {
            match effect {
                Effect::Execute { node, attempt, stage } => self.execute(append.run, node, attempt, stage),
                Effect::Abort { node, attempt, kill } => {
                    let stop = if kill { Stop::Now } else { Stop::Gently };
                    self.runs.get(&append.run).into_iter().for_each(|owned| owned.abort(node, attempt, stop));
                }
                // Questions are read from the run by whoever shows them, and so is its end.
                Effect::Ask { .. } | Effect::Finish => {}
            }
        }
        self.answered(&replies);
    }

    fn execute(&mut self, run: RunId, node: NodeIndex, attempt: u32, stage: Stage) {
        let Some(owned) = self.runs.get_mut(&run) else { return };
        let kind = owned.driver.run().definition().node(node).kind;
        let report = match stage {
            Stage::Work if kind == Kind::Noop => Report::Produced(Product::default()),
            Stage::Check => match owned.checks.check(node, owned.driver.run().output(node).unwrap_or(&Value::Null)) {
                Ok(()) => Report::Checked,
                Err(error) => Report::Failed(Stage::Check, error),
            },
            Stage::Work => match self.begin(run, node, attempt, kind) {
                Ok(()) => return,
                Err(error) => Report::Failed(Stage::Work, error),
            },
            // What is not carried out yet was refused before the run began.
            Stage::Probe
            | Stage::Decompose
            | Stage::Grow
            | Stage::Children
            | Stage::Evaluate
            | Stage::Gate
            | Stage::Done => {
                Report::Failed(stage, NodeError::new(Known::INTERNAL, "this stage is not carried out here"))
            }
        };
        if let Some(owned) = self.runs.get_mut(&run) {
            owned.report(node, attempt, report);
        }
    }

    /// Hands the work of an attempt to a slot.
    fn begin(&mut self, run: RunId, node: NodeIndex, attempt: u32, kind: Kind) -> Result<(), NodeError> {
        let unavailable = |what: &str, error: std::io::Error| {
            NodeError::new(Known::UNAVAILABLE, format!("{what} cannot be had: {error}"))
        };
        let Some(owned) = self.runs.get_mut(&run) else { return Ok(()) };
        let Surroundings { root, state, functions, .. } = &self.surroundings;
        let place = Place { owner: self.owner, root, state, functions };
        let abort = Abort::new().map_err(|error| unavailable("an event", error))?;
        let task = match kind {
            Kind::Run => {
                self.guarding.begin().map_err(|error| unavailable("the guard process", error))?;
                prepare::command(&place, owned.driver.run(), &mut owned.secrets, node, attempt)?
            }
            Kind::Call => prepare::call(&place, owned.driver.run(), node, attempt, &abort)?,
            _ => return Err(NodeError::new(Known::INTERNAL, format!("`{}` is not carried out here", kind.as_str()))),
        };
        let assignment = Assignment { run, node, attempt, task, abort: abort.clone() };
        self.slots.assign(assignment).map_err(|error| unavailable("a slot", error))?;
        // What it reports is read by this thread, so never before this.
        owned.works(node, attempt, abort);
        Ok(())
    }

    /// Commands whose outcome is durable need no mailbox any more.
    fn answered(&mut self, replies: &[Reply]) {
        let taken = &self.mail_taken;
        let ids = replies.iter().filter_map(|reply| match &reply.input {
            Input::Command(command) => taken.contains(&command.id).then_some(command.id),
            Input::Take { .. } | Input::Report { .. } | Input::Supersede { .. } => None,
        });
        let ids: Vec<CommandId> = ids.collect();
        if !ids.is_empty() && self.store.mailbox.remove(&ids).is_ok() {
            self.mail_taken.retain(|id| !ids.contains(id));
        }
    }

    /// Takes commands that other processes left for runs of this one (`R-ASK-2`).
    fn read_mail(&mut self) {
        if self.runs.is_empty() || self.mail_seen.elapsed() < MAIL_EVERY {
            return;
        }
        self.mail_seen = Instant::now();
        // A mailbox that cannot be read now is read a moment later.
        for (run, command) in self.store.mailbox.waiting().unwrap_or_default() {
            let Some(owned) = self.runs.get_mut(&run) else { continue };
            if matches!(command.verb, Verb::Cancel { kill: true }) {
                // Also for a run that was cancelled before and waits for its processes to end.
                owned.abort_all(Stop::Now);
            }
            if owned.driver.run().ended().is_some() {
                // No entry can answer it. If it cannot be removed now it is met again.
                drop(self.store.mailbox.remove(&[command.id]));
            } else if self.mail_taken.insert(command.id) {
                owned.offer(Input::Command(command));
            }
        }
    }

    /// A run that this process may not or cannot go on with: nothing it runs is kept.
    fn abandon(&mut self, run: RunId, outcome: Outcome) {
        if let Some(owned) = self.runs.remove(&run) {
            owned.abort_all(Stop::Now);
            owned.tail.finish(outcome);
        }
    }

    /// Lets go of the runs that need this process no longer.
    fn let_go(&mut self) {
        let done: Vec<_> =
            self.runs.values().filter_map(|owned| Some((owned.id, owned.outcome(self.leaving)?))).collect();
        for (run, outcome) in done {
            if let Some(owned) = self.runs.remove(&run) {
                owned.tail.finish(outcome);
            }
        }
        if self.runs.is_empty() {
            // What was taken for runs that are gone needs no remembering: whoever drives them next reads it again.
            self.mail_taken.clear();
        }
    }
}
