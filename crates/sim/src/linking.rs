//! Runs that go on from others: each is a world of its own, which knows of the one before only what its creation says.
#![expect(clippy::panic, clippy::missing_panics_doc, reason = "a story that goes wrong stops here and says why")]

use std::sync::Arc;

use sprag_core::definition::Definition;
use sprag_core::plan::{Mode, NewRun, Past, Plan, Request, ResumeOptions, fork, forked, link, no_task_hashes, plan};
use sprag_core::run::{Created, RunId};
use uuid::Uuid;

use crate::world::{World, WorldOptions, read};

impl World {
    /// What the run left, from its journal alone.
    pub fn past(&self) -> Past {
        let commits = self.journal();
        let entries = commits.iter().flat_map(|commit| commit.entries.iter().map(|entry| (commit.at, entry)));
        let past = self.folded().ok().and_then(|run| Past::of(&run, entries));
        past.unwrap_or_else(|| panic!("the run does not exist"))
    }

    /// The plan of a linked run of a definition.
    pub fn planned(&self, definition: &Definition, options: &ResumeOptions) -> Plan {
        let past = self.past();
        let request = Request {
            definition,
            past: Some(&past),
            mode: Mode::Incremental,
            options,
            in_place: false,
            params: None,
            task_hashes: &no_task_hashes,
        };
        plan(&request).unwrap_or_else(|error| panic!("no plan: {error}"))
    }

    /// A linked run goes on from this one: a new world, in which scripted work goes on where it was.
    #[must_use]
    pub fn linked(&self, options: &ResumeOptions) -> Self {
        self.linked_as(Arc::clone(&self.definition), options)
    }

    /// The same, with another workflow file.
    #[must_use]
    pub fn linked_to(&self, text: &str, options: &ResumeOptions) -> Self {
        self.linked_as(read(text), options)
    }

    fn linked_as(&self, definition: Arc<Definition>, options: &ResumeOptions) -> Self {
        let plan = self.planned(&definition, options);
        let created = link(&self.past(), &plan, NewRun::new(self.next_id(), &definition));
        self.goes_on(definition, created)
    }

    /// Another branch of this run, from before a node first started, or from where it is.
    #[must_use]
    pub fn forked(&self, from: Option<&str>) -> Self {
        let past = self.past();
        let plan = fork(&self.definition, &past, from, &no_task_hashes);
        let plan = plan.unwrap_or_else(|error| panic!("no plan: {error}"));
        let created = forked(&past, &plan, NewRun::new(self.next_id(), &self.definition));
        self.goes_on(Arc::clone(&self.definition), created)
    }

    /// A world in which a run begins as told.
    #[must_use]
    pub fn goes_on(&self, definition: Arc<Definition>, created: Created) -> Self {
        let options = WorldOptions { seed: self.options.seed.wrapping_add(1), ..self.options };
        let mut world = Self::around(definition, options);
        world.id = created.run;
        world.now = self.now;
        world.script = self.script.clone();
        world.answers.clone_from(&self.answers);
        world.growth = self.growth;
        world.folding = true;
        world.creation = Some(Created { growth: self.growth, ..created });
        world
    }

    /// Whether the journal is folded after every drain and compared with the state of the owner.
    pub const fn folds(&mut self, folding: bool) -> &mut Self {
        self.folding = folding;
        self
    }

    /// Something happens outside, and is told twice.
    pub fn twice_told(&mut self, input: sprag_core::run::Input) -> &mut Self {
        self.offer(input.clone());
        self.offer(input);
        while self.drain() {}
        self
    }

    fn next_id(&self) -> RunId {
        RunId(Uuid::from_u128(self.id.0.as_u128().wrapping_add(1)))
    }
}
