//! The world: a clock, a store, executors that follow a script, and one owner at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sprag_core::definition::Definition;
use sprag_core::file::Duration;
use sprag_core::graph::NodeIndex;
use sprag_core::limits::Limits;
use sprag_core::load::load;
use sprag_core::run::{Choice, Created, Effect, GrowthLimits, Input, RunId, Seq, Stage, Timestamp};
use sprag_engine::{Driver, Reply};
use sprag_store::{Append, Memory};
use uuid::Uuid;

use crate::keep::Keep;
use crate::rng::Rng;
use crate::script::Script;

/// How a world behaves where the script says nothing.
#[derive(Debug, Clone, Copy)]
pub struct WorldOptions {
    /// What the lengths of unscripted executions and the order of simultaneous events are drawn from.
    pub seed: u64,
    /// How many attempts the owner may run at once.
    pub slots: u32,
    /// The longest unscripted execution, in milliseconds; each takes at least one.
    pub longest_ms: u64,
    /// The store operation around which the owner dies.
    pub crash: Option<Crash>,
}

/// Where an owner dies: around its k-th store operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crash {
    /// Which operation, from 1.
    pub operation: u64,
    /// Whether the store has it when the owner dies.
    pub after: bool,
}

impl Default for WorldOptions {
    fn default() -> Self {
        Self { seed: 1, slots: 4, longest_ms: 1, crash: None }
    }
}

impl WorldOptions {
    /// How a world is for a seed.
    pub fn drawn(seed: u64) -> Self {
        let mut rng = Rng::new(seed ^ 0x0bad);
        let slots = 1 + u32::try_from(rng.below(5)).unwrap_or(0);
        Self { seed, slots, longest_ms: 1 + rng.below(20), crash: None }
    }
}

/// One execution, as the world saw it: the side-effect ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    /// The node.
    pub node: NodeIndex,
    /// The attempt.
    pub attempt: u32,
    /// What was done.
    pub stage: Stage,
    /// When it began.
    pub began: Timestamp,
    /// When it ended, whichever way.
    pub ended: Option<Timestamp>,
    /// The last durable entry when it began.
    pub durable: Seq,
}

/// Watches for a run that wants to be woken and then does nothing, again and again.
#[derive(Debug, Default)]
pub(crate) struct Idle {
    seen: (Timestamp, u64, usize),
    times: u32,
}

impl Idle {
    /// Another step was made.
    pub fn look(&mut self, world: &World) {
        let seen = (world.now, world.operations, world.busy.len());
        self.times = if seen == self.seen { self.times + 1 } else { 0 };
        self.seen = seen;
        assert!(self.times < 1_000, "at {} nothing happens, again and again", world.now);
    }
}

/// A world around one run.
#[derive(Debug)]
pub struct World {
    pub(crate) definition: Arc<Definition>,
    pub(crate) store: Box<dyn Keep>,
    pub(crate) id: RunId,
    pub(crate) now: Timestamp,
    pub(crate) options: WorldOptions,
    pub(crate) script: Script,
    pub(crate) growth: GrowthLimits,
    pub(crate) prepare: fn(&mut Created),
    /// How the run begins, where that is not from nothing.
    pub(crate) creation: Option<Created>,
    pub(crate) driver: Option<Driver>,
    /// Running executions and when they end.
    pub(crate) busy: BTreeMap<(NodeIndex, u32, Stage), Option<Timestamp>>,
    /// Everything that was ever executed.
    pub ledger: Vec<Execution>,
    /// Attempts that somebody was told to stop, and whether at once.
    pub aborts: Vec<(NodeIndex, u32, bool)>,
    /// Replies to inputs, in order.
    pub replies: Vec<Reply>,
    /// What people will answer by themselves, by node.
    pub(crate) answers: BTreeMap<String, Choice>,
    pub(crate) answered: BTreeSet<String>,
    pub(crate) owners: u64,
    pub(crate) commands: u64,
    /// Whether everything that happens outside is told twice.
    pub(crate) twice: bool,
    /// Whether the journal is folded after every drain and compared with the state of the owner.
    pub(crate) folding: bool,
    /// The last writes of owners that died, which may still reach the store.
    pub(crate) belated: Vec<Append>,
    /// Every report so far, for those that come again.
    pub(crate) reported: Vec<Input>,
    /// Reports that are not durable yet: if the owner dies, those attempts ended for nobody.
    pub(crate) told: Vec<(String, Stage)>,
    /// A commit that the store has not acknowledged. Nothing else is decided until it has: the same is repeated.
    /// With it, how many of the reports are in it.
    pub(crate) unwritten: Option<(Append, usize)>,
    /// For each death, whether the store had more than it had told.
    pub landed: Vec<bool>,
    pub(crate) operations: u64,
    rng: Rng,
}

/// Where time starts in every world.
const DAWN: Timestamp = Timestamp::from_millis(1_800_000_000_000);

/// Reads a workflow file that must be fine.
#[expect(clippy::panic, reason = "a scenario that cannot be read is a mistake in the test")]
pub(crate) fn read(text: &str) -> Arc<Definition> {
    match load(text, &Limits::default()) {
        Ok(loaded) => Arc::new(loaded.definition),
        Err(problems) => panic!("{text}\n{problems:?}"),
    }
}

impl World {
    /// A world around a workflow file that must be fine.
    ///
    /// # Panics
    /// When the file is not: then the scenario itself is wrong.
    pub fn of(text: &str) -> Self {
        Self::with(text, WorldOptions::default())
    }

    /// A world around a workflow file, with options.
    ///
    /// # Panics
    /// When the file is not fine.
    pub fn with(text: &str, options: WorldOptions) -> Self {
        Self::around(read(text), options)
    }

    /// A world around a definition. The run does not exist yet.
    pub fn around(definition: Arc<Definition>, options: WorldOptions) -> Self {
        Self {
            definition,
            store: Box::new(Memory::new()),
            id: RunId(Uuid::from_u128(u128::from(options.seed) << 64 | 7)),
            now: DAWN,
            options,
            script: Script::default(),
            growth: GrowthLimits::default(),
            prepare: |_| {},
            creation: None,
            driver: None,
            busy: BTreeMap::new(),
            ledger: Vec::new(),
            aborts: Vec::new(),
            replies: Vec::new(),
            answers: BTreeMap::new(),
            answered: BTreeSet::new(),
            owners: 0,
            commands: 0,
            twice: false,
            folding: false,
            belated: Vec::new(),
            reported: Vec::new(),
            told: Vec::new(),
            unwritten: None,
            landed: Vec::new(),
            operations: 0,
            rng: Rng::new(options.seed),
        }
    }

    /// The same, with its journal somewhere else.
    #[must_use]
    pub fn kept_in(mut self, store: Box<dyn Keep>) -> Self {
        self.store = store;
        self
    }

    /// How far the run may grow; before it begins.
    pub const fn grows_to(&mut self, nodes: u32, depth: u32) -> &mut Self {
        self.growth = GrowthLimits { nodes, depth };
        self
    }

    /// What else the run begins with; before it does.
    pub const fn begins_with(&mut self, prepare: fn(&mut Created)) -> &mut Self {
        self.prepare = prepare;
        self
    }

    /// The script that executions follow.
    pub const fn script(&mut self) -> &mut Script {
        &mut self.script
    }

    /// The workflow.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// The time.
    pub const fn now(&self) -> Timestamp {
        self.now
    }

    /// How many store operations there were.
    pub const fn operations(&self) -> u64 {
        self.operations
    }

    /// The address of a node, as far as the owner of the run knows it.
    pub(crate) fn name(&self, node: NodeIndex) -> String {
        self.driver.as_ref().map(|driver| driver.run().address(node)).unwrap_or_default()
    }

    pub(crate) fn perform(&mut self, effect: Effect, durable: Seq) {
        match effect {
            Effect::Execute { node, attempt, stage } => {
                let name = self.name(node);
                let drawn = 1 + self.rng.below(self.options.longest_ms);
                let length = self.script.length_of(&name).unwrap_or(Duration::from_millis(drawn));
                let hangs = stage == Stage::Work && self.script.hangs(&name);
                let ends = (!hangs).then(|| self.now.plus(length));
                self.busy.insert((node, attempt, stage), ends);
                self.ledger.push(Execution { node, attempt, stage, began: self.now, ended: None, durable });
            }
            Effect::Abort { node, attempt, kill } => {
                self.aborts.push((node, attempt, kill));
                let aborted: Vec<_> =
                    self.busy.keys().copied().filter(|(of, number, _)| (*of, *number) == (node, attempt)).collect();
                for (node, attempt, stage) in aborted {
                    self.ends(node, attempt, stage);
                }
            }
            Effect::Ask { .. } | Effect::Finish => {}
        }
    }

    /// An execution is over, whichever way.
    pub(crate) fn ends(&mut self, node: NodeIndex, attempt: u32, stage: Stage) {
        self.busy.remove(&(node, attempt, stage));
        let now = self.now;
        let open = self
            .ledger
            .iter_mut()
            .rev()
            .find(|done| (done.node, done.attempt, done.stage) == (node, attempt, stage) && done.ended.is_none());
        if let Some(open) = open {
            open.ended = Some(now);
        }
    }

    /// An execution ends as the script says.
    pub(crate) fn finish(&mut self, node: NodeIndex, attempt: u32, stage: Stage) {
        self.ends(node, attempt, stage);
        let name = self.name(node);
        let report = self.script.report(&name, stage);
        self.told.push((name, stage));
        let input = Input::Report { node, attempt, report };
        self.reported.push(input.clone());
        self.offer(input);
    }

    /// Something happens outside.
    pub fn offer(&mut self, input: Input) {
        if let Some(driver) = &mut self.driver {
            if self.twice {
                driver.offer(input.clone());
            }
            driver.offer(input);
        }
    }

    /// The next thing that happens by itself: an execution ends, somebody answers, time passes. False when nothing will.
    pub fn advance(&mut self) -> bool {
        while self.drain() {}
        let Some(driver) = &self.driver else { return false };
        if driver.run().ended().is_some() {
            return false;
        }
        if self.somebody_answers() {
            return true;
        }
        let first = self.busy.values().flatten().min().copied();
        let wake = self.driver.as_ref().and_then(Driver::next_wake);
        let Some(next) = [first, wake].into_iter().flatten().min() else { return false };
        self.now = self.now.max(next);
        self.time_passed();
        true
    }

    /// Executions end whose time has come.
    pub(crate) fn time_passed(&mut self) {
        let ending: Vec<_> =
            self.busy.iter().filter(|(_, ends)| ends.is_some_and(|at| at <= self.now)).map(|(key, _)| *key).collect();
        let count = ending.len();
        let turn = usize::try_from(self.rng.below(count.max(1) as u64)).unwrap_or(0);
        for at in 0..count {
            let (node, attempt, stage) = ending[(at + turn) % count];
            self.finish(node, attempt, stage);
        }
    }

    /// Runs until nothing happens by itself any more.
    ///
    /// # Panics
    /// When that takes too long for any scenario.
    pub fn settle(&mut self) -> &mut Self {
        let mut steps = 0_u64;
        let mut idle = Idle::default();
        while self.advance() {
            steps += 1;
            assert!(steps < 1_000_000, "this run never ends");
            idle.look(self);
        }
        self
    }
}
