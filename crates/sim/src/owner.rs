//! The owner of a run in a world: it takes the run, decides, writes, and dies.

use std::sync::Arc;

use sprag_core::file::Duration;
use sprag_core::run::{Commit, Corrupt, Created, Input, OwnerId, Run, Seq, Taking};
use sprag_engine::Driver;
use sprag_store::{Append, StoreError};
use uuid::Uuid;

use crate::world::World;

impl World {
    /// The run as its journal tells it.
    pub fn folded(&self) -> Result<Run, Corrupt> {
        let commits = self.journal();
        let entries = commits.iter().flat_map(|commit| commit.entries.iter().map(|entry| (commit.at, entry)));
        Run::fold(Arc::clone(&self.definition), entries)
    }

    /// Everything that is durable.
    ///
    /// # Panics
    /// When the store cannot read what it wrote.
    #[expect(clippy::panic, reason = "this is what the simulator looks for")]
    pub fn journal(&self) -> Vec<Arc<Commit>> {
        match self.store.journal().read(self.id, Seq(0), usize::MAX) {
            Ok(commits) => commits,
            Err(StoreError::NoRun(_)) => Vec::new(),
            Err(error) => panic!("the store cannot read what it wrote: {error}"),
        }
    }

    /// A process takes the run: it creates it, or goes on from the journal.
    pub fn take(&mut self, how: Taking) -> Result<(), Corrupt> {
        self.owners += 1;
        let owner = OwnerId(Uuid::from_u128(u128::from(self.owners)));
        let journal = self.journal();
        let folded = journal.last().map_or(Seq(0), |commit| commit.last());
        let driver = if journal.is_empty() {
            let defaults = self.definition.params.iter();
            let given =
                defaults.filter_map(|(name, param)| Some((name.to_string(), param.default.as_ref()?.0.clone())));
            let first = Created::first(self.id, &self.definition, given.collect());
            let mut created = self.creation.clone().unwrap_or(Created { growth: self.growth, ..first });
            (self.prepare)(&mut created);
            Driver::create(Arc::clone(&self.definition), created, owner, self.options.slots)
        } else {
            let commits = journal.iter().map(AsRef::as_ref);
            Driver::resume(Arc::clone(&self.definition), self.id, commits, owner, how, self.options.slots)?
        };
        self.driver = Some(driver);
        if self.twice {
            self.offer(Input::Take { owner, how, folded });
        }
        Ok(())
    }

    /// The owner dies, and everything it was doing with it. Whoever comes next opens the store anew.
    ///
    /// # Panics
    /// When the store forgot what it had acknowledged (`R-JRN-1`).
    pub fn die(&mut self) {
        let acknowledged = self.driver.take().map_or(Seq(0), |driver| driver.durable_seq());
        self.store.reopen();
        let last = self.journal().last().map_or(Seq(0), |commit| commit.last());
        assert!(last >= acknowledged, "the store ends with entry {last} and had acknowledged entry {acknowledged}");
        self.landed.push(last > acknowledged);
        if let Some((append, told)) = self.unwritten.take()
            && append.commit.last() <= last
        {
            self.told.drain(..told);
        }
        self.answered.clear();
        for (name, stage) in std::mem::take(&mut self.told) {
            self.script.take_back(&name, stage);
        }
        for (node, attempt, stage) in std::mem::take(&mut self.busy).into_keys() {
            self.ends(node, attempt, stage);
        }
    }

    /// Whether somebody owns the run.
    pub const fn is_alive(&self) -> bool {
        self.driver.is_some()
    }

    /// One drain: decide, commit, and do what the durable state demands. False when there was nothing to do.
    ///
    /// # Panics
    /// When the rules contradict themselves, or the store refuses its only writer.
    #[expect(clippy::panic, reason = "this is what the simulator looks for")]
    pub fn drain(&mut self) -> bool {
        let Some(append) = self.due_write() else { return false };
        self.operations += 1;
        let crash = self.options.crash.filter(|crash| crash.operation == self.operations);
        if crash.is_some() {
            self.belated.push(append.clone());
        }
        if crash.is_some_and(|crash| !crash.after) {
            self.die();
            return true;
        }
        let unheard = crash.is_some() && self.store.brace();
        match self.store.journal().append(&[append]).pop() {
            Some(Ok(_)) if unheard => {}
            Some(Ok(last)) => self.acknowledged(last),
            Some(Err(StoreError::Unavailable { .. })) if crash.is_none() => self.waits_for_the_store(),
            Some(Err(StoreError::Unavailable { .. })) => {}
            other => panic!("the store refused its only writer: {other:?}"),
        }
        if crash.is_some() {
            self.die();
        } else if self.unwritten.is_none() {
            self.performs();
        }
        true
    }

    /// What has to be written now: what the store has not acknowledged, or else what is decided now.
    #[expect(clippy::panic, reason = "this is what the simulator looks for")]
    fn due_write(&mut self) -> Option<Append> {
        let driver = self.driver.as_mut()?;
        if let Some((append, _)) = &self.unwritten {
            return Some(append.clone());
        }
        match driver.drain(self.now) {
            Ok(Some(append)) => {
                self.unwritten = Some((append.clone(), self.told.len()));
                Some(append)
            }
            Ok(None) => {
                // A refusal may rest on entries that are durable already.
                self.replies.extend(driver.replies());
                self.told.clear();
                None
            }
            Err(corrupt) => panic!("the rules contradict themselves: {corrupt:?}"),
        }
    }

    fn acknowledged(&mut self, last: Seq) {
        if let (Some(driver), Some((_, told))) = (&mut self.driver, self.unwritten.take()) {
            driver.durable(last);
            self.told.drain(..told);
        }
    }

    fn performs(&mut self) {
        let Some(driver) = &mut self.driver else { return };
        self.replies.extend(driver.replies());
        let durable = driver.durable_seq();
        for effect in driver.effects() {
            self.perform(effect, durable);
        }
        if self.folding {
            self.fold_again();
        }
    }

    /// Time passes until the same is written again, and what was running goes on (`R-JRN-3`).
    fn waits_for_the_store(&mut self) {
        self.now = self.now.plus(Duration::from_millis(1));
        self.time_passed();
    }

    /// Writes something until the store says whether it has it.
    pub(crate) fn written(&self, append: &Append) -> Result<Seq, StoreError> {
        loop {
            match self.store.journal().append(std::slice::from_ref(append)).pop() {
                Some(Err(StoreError::Unavailable { .. })) => {}
                Some(answer) => return answer,
                None => return Err(StoreError::NoRun(append.run)),
            }
        }
    }

    /// The journal tells the same as the owner knows (`R-JRN-2`).
    #[expect(clippy::panic, reason = "this is what the simulator looks for")]
    fn fold_again(&self) {
        match (self.folded(), &self.driver) {
            (Ok(folded), Some(driver)) if folded != *driver.run() => {
                panic!("the journal tells another run:\n{folded:?}\nnot\n{:?}", driver.run());
            }
            (Err(corrupt), _) => panic!("the journal cannot be folded: {corrupt:?}"),
            (Ok(_), _) => {}
        }
    }
}
