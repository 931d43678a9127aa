//! Drives one run: gathers inputs, decides, and lets nothing out before its entries are durable. A struct without I/O;
//! whoever owns it moves commits to the store and effects to executors.

use std::collections::VecDeque;
use std::sync::Arc;

use sprag_core::definition::Definition;
use sprag_core::run::{
    Commit, Corrupt, CorruptDetail, Created, Effect, Entry, Input, OwnerId, Ownership, Refused, Run, RunId, Seq,
    Taking, Timestamp,
};
use sprag_store::Append;

/// Drives one run for one owner.
///
/// The way of an input: [`Driver::offer`], [`Driver::drain`], the store, [`Driver::durable`], and then its effects and
/// its reply are handed out by [`Driver::effects`] and [`Driver::replies`]. The next drain may be decided while a commit
/// is being written. When the store says `Conflict` or `Fenced`, the driver is thrown away and the journal folded again:
/// there is no undo.
#[derive(Debug)]
pub struct Driver {
    run: Run,
    id: RunId,
    owner: OwnerId,
    slots: u32,
    /// The last entry when the journal was folded; claims before it are not this driver's.
    folded: Seq,
    /// The first entry of a new run, until the first drain.
    creation: Option<Entry>,
    inbox: VecDeque<Input>,
    /// Entries that are decided and not yet in a commit.
    decided: Vec<Entry>,
    /// The last entry that is in a commit.
    committed: Seq,
    durable: Seq,
    handed: Seq,
    replies: VecDeque<Reply>,
    /// When the last commit was decided.
    latest: Timestamp,
}

/// A run that is read from its journal, commit by commit.
#[derive(Debug)]
pub struct Fold {
    run: Run,
    id: RunId,
    latest: Timestamp,
}

impl Fold {
    /// Before the first commit.
    pub fn new(definition: Arc<Definition>, id: RunId) -> Self {
        Self { run: Run::new(definition), id, latest: Timestamp::from_millis(0) }
    }

    /// Takes the next commit in.
    pub fn take(&mut self, commit: &Commit) -> Result<(), Corrupt> {
        let seq = self.run.seq().next();
        if commit.first != seq {
            return Err(Corrupt { seq, detail: CorruptDetail::Other("is missing") });
        }
        self.latest = commit.at;
        commit.entries.iter().try_for_each(|entry| self.run.apply(commit.at, entry))
    }

    /// The run so far.
    pub const fn run(&self) -> &Run {
        &self.run
    }

    /// The workflow.
    pub fn definition(&self) -> Arc<Definition> {
        self.run.shared_definition()
    }

    /// A driver that owns the run with its next commit.
    pub fn own(self, owner: OwnerId, how: Taking, slots: u32) -> Result<Driver, Corrupt> {
        let folded = self.run.seq();
        if self.run.id() != Some(self.id) {
            return Err(Corrupt { seq: folded, detail: CorruptDetail::Other("belongs to another run") });
        }
        let mut driver = Driver::around(self.run, self.id, owner, slots);
        driver.folded = folded;
        driver.committed = folded;
        driver.durable = folded;
        driver.latest = self.latest;
        driver.offer(Input::Take { owner, how, folded });
        Ok(driver)
    }
}

/// What became of an input, told once what it rests on is durable.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The input.
    pub input: Input,
    /// Whether it was taken.
    pub outcome: Result<(), Refused>,
    /// The last entry that the outcome rests on.
    resting_on: Seq,
}

impl Driver {
    /// A new run, created and owned with its first commit.
    pub fn create(definition: Arc<Definition>, created: Created, owner: OwnerId, slots: u32) -> Self {
        let mut driver = Self::around(Run::new(definition), created.run, owner, slots);
        driver.creation = Some(Entry::Created(Box::new(created)));
        driver.offer(Input::Take { owner, how: Taking::Automatic, folded: Seq(0) });
        driver
    }

    /// A run from its journal, to be owned with the next commit.
    pub fn resume<'commit>(
        definition: Arc<Definition>,
        id: RunId,
        commits: impl IntoIterator<Item = &'commit Commit>,
        owner: OwnerId,
        how: Taking,
        slots: u32,
    ) -> Result<Self, Corrupt> {
        let mut fold = Fold::new(definition, id);
        commits.into_iter().try_for_each(|commit| fold.take(commit))?;
        fold.own(owner, how, slots)
    }

    const fn around(run: Run, id: RunId, owner: OwnerId, slots: u32) -> Self {
        Self {
            run,
            id,
            owner,
            slots,
            folded: Seq(0),
            creation: None,
            inbox: VecDeque::new(),
            decided: Vec::new(),
            committed: Seq(0),
            durable: Seq(0),
            handed: Seq(0),
            replies: VecDeque::new(),
            latest: Timestamp::from_millis(0),
        }
    }

    /// The run as it is decided, which may be ahead of what is durable.
    pub const fn run(&self) -> &Run {
        &self.run
    }

    /// When the last commit was decided. Times of a journal do not go back.
    pub const fn latest(&self) -> Timestamp {
        self.latest
    }

    /// The last entry that is known to be durable.
    pub const fn durable_seq(&self) -> Seq {
        self.durable
    }

    /// How many attempts may run at once from now on; none while the owner is about to leave.
    pub const fn set_slots(&mut self, slots: u32) {
        self.slots = slots;
    }

    /// Something happened outside.
    pub fn offer(&mut self, input: Input) {
        self.inbox.push_back(input);
    }

    /// Decides everything that waits, and what became due, and returns it as one commit.
    ///
    /// The error is a fault of the rules themselves, caught before anything illegal was written: the driver is of no
    /// further use.
    pub fn drain(&mut self, now: Timestamp) -> Result<Option<Append>, Corrupt> {
        if let Some(creation) = self.creation.take() {
            self.run.apply(now, &creation)?;
            self.decided.push(creation);
        }
        while let Some(input) = self.inbox.pop_front() {
            let outcome = match self.run.take_in(now, self.slots, &input, &mut self.decided) {
                Err(Refused::Illegal(corrupt)) => return Err(corrupt),
                outcome => outcome,
            };
            self.replies.push_back(Reply { input, outcome, resting_on: self.run.seq() });
        }
        self.run.come_to_rest(now, self.slots, &mut self.decided)?;
        let Some(ownership) = self.run.ownership().filter(|_| !self.decided.is_empty()) else { return Ok(None) };
        let entries = std::mem::take(&mut self.decided);
        let commit = Commit::new(self.id, self.owner, self.committed.next(), now, ownership.fence, entries);
        self.committed = commit.last();
        Ok(Some(Append::new(self.id, Arc::new(commit))))
    }

    /// The store has everything up to here.
    pub fn durable(&mut self, seq: Seq) {
        self.durable = self.durable.max(seq);
    }

    /// What the durable state demands and was not handed out before; nothing until the ownership itself is durable. A run
    /// that is over has no owner to be, and still wants to be finished.
    pub fn effects(&mut self) -> Vec<Effect> {
        let owned = |ownership: &Ownership| {
            let claimed = ownership.owner == self.owner && ownership.fence.0 > self.folded.0;
            claimed && ownership.fence.0 <= self.durable.0
        };
        if self.run.ended().is_none() && !self.run.ownership().as_ref().is_some_and(owned) {
            return Vec::new();
        }
        let effects = self.run.owed(self.handed, self.durable).collect();
        self.handed = self.durable;
        effects
    }

    /// What became of inputs whose outcome is durable.
    pub fn replies(&mut self) -> Vec<Reply> {
        let ready = self.replies.iter().take_while(|reply| reply.resting_on <= self.durable).count();
        self.replies.drain(..ready).collect()
    }

    /// When to drain again even if nothing happens.
    pub fn next_wake(&self) -> Option<Timestamp> {
        self.run.next_wake()
    }
}
