//! Verbs and questions of scenarios, so that tests read like stories.
#![expect(clippy::panic, clippy::missing_panics_doc, reason = "a story that goes wrong stops here and says why")]

use serde_json::Value;
use sprag_core::file::Duration;
use sprag_core::graph::NodeIndex;
use sprag_core::run::{
    Choice, Command, CommandId, EndStatus, Ending, Entry, Input, NodeError, NodeState, Product, QuestionKind,
    QuestionRef, Refused, Report, Run, Stage, Taking, Verb,
};
use uuid::Uuid;

use crate::script::Outcome;
use crate::story::dag;
use crate::world::{Idle, World};

impl World {
    /// A world around chains of nodes.
    pub fn dag(chains: &str) -> Self {
        Self::of(&dag(chains))
    }

    /// The run starts.
    pub fn starts(&mut self) -> &mut Self {
        self.takes(Taking::Automatic)
    }

    /// A person resumes the run.
    pub fn resumes(&mut self) -> &mut Self {
        self.takes(Taking::Person { deadline: None })
    }

    /// A process takes the run and comes to rest.
    pub fn takes(&mut self, how: Taking) -> &mut Self {
        if let Err(corrupt) = self.take(how) {
            panic!("the journal cannot be folded: {corrupt:?}");
        }
        while self.drain() {}
        self
    }

    /// The owner dies.
    pub fn crashes(&mut self) -> &mut Self {
        self.die();
        self
    }

    /// Everything happens that happens by itself.
    pub fn settles(&mut self) -> &mut Self {
        self.settle()
    }

    /// The run starts, everything happens, and this is how it ends.
    pub fn runs(&mut self) -> Ending {
        self.starts().settles();
        self.ending()
    }

    /// What a node does, attempt by attempt.
    pub fn scripted(&mut self, node: &str, outcomes: impl IntoIterator<Item = Outcome>) -> &mut Self {
        self.script().node(node, outcomes);
        self
    }

    /// What somebody will answer to a node's question, by themselves.
    pub fn will_answer(&mut self, node: &str, choice: Choice) -> &mut Self {
        self.answers.insert(node.to_owned(), choice);
        self
    }

    /// A running node ends its work well.
    pub fn finishes(&mut self, node: &str) -> &mut Self {
        self.reports(node, Report::Produced(Product::default()))
    }

    /// A running node ends its work with an output.
    pub fn produces(&mut self, node: &str, output: Value) -> &mut Self {
        self.reports(node, Report::Produced(Product::of(output)))
    }

    /// A running node fails.
    pub fn fails(&mut self, node: &str, code: &str) -> &mut Self {
        match Outcome::fails(code) {
            Outcome::Fails(error) => self.fails_with(node, error),
            Outcome::Produces(_) | Outcome::FailsAt(..) | Outcome::Hangs => self,
        }
    }

    /// A running node fails in a way of its own.
    pub fn fails_with(&mut self, node: &str, error: NodeError) -> &mut Self {
        self.reports(node, Report::Failed(Stage::Work, error))
    }

    /// Somebody busy with a node reports.
    pub fn reports(&mut self, node: &str, report: Report) -> &mut Self {
        let index = self.node(node);
        let Some((node, attempt, stage)) = self.busy.keys().copied().find(|(of, _, _)| *of == index) else {
            panic!("nobody is busy with `{node}`:\n{}", self.picture());
        };
        self.ends(node, attempt, stage);
        self.offer(Input::Report { node, attempt, report });
        while self.drain() {}
        self
    }

    /// Time passes; what becomes due on the way happens at its time.
    pub fn passes(&mut self, length: Duration) -> &mut Self {
        let until = self.now.plus(length);
        let mut idle = Idle::default();
        while let Some(next) = self.next_event().filter(|next| *next <= until) {
            self.now = self.now.max(next);
            let ending: Vec<_> =
                self.busy.iter().filter(|(_, ends)| ends.is_some_and(|at| at <= next)).map(|(key, _)| *key).collect();
            for (node, attempt, stage) in ending {
                self.finish(node, attempt, stage);
            }
            while self.drain() {}
            idle.look(self);
            if self.driver.is_none() {
                break;
            }
        }
        self.now = self.now.max(until);
        while self.drain() {}
        self
    }

    /// A person wants something.
    pub fn wants(&mut self, by: &str, verb: Verb) -> Result<(), Refused> {
        self.commands += 1;
        let id = CommandId(Uuid::from_u128(u128::from(self.commands)));
        self.sends(Command { id, by: by.to_owned(), why: None, verb })
    }

    /// A command arrives.
    pub fn sends(&mut self, command: Command) -> Result<(), Refused> {
        let input = Input::Command(command);
        self.offer(input.clone());
        while self.drain() {}
        match self.replies.iter().rev().find(|reply| reply.input == input) {
            Some(reply) => reply.outcome.clone(),
            None => panic!("no reply to {input:?}"),
        }
    }

    /// A person answers the question of a node, as it is shown.
    pub fn answers(&mut self, node: &str, choice: Choice) -> Result<(), Refused> {
        self.answers_with(node, choice, None)
    }

    /// A person answers the question of a node with data.
    pub fn answers_with(&mut self, node: &str, choice: Choice, data: Option<Value>) -> Result<(), Refused> {
        let index = self.node(node);
        let digests = |run: &Run| {
            run.questions().filter(|asked| asked.question.node == Some(index)).last().map(|asked| asked.question.digest)
        };
        let Some(digest) = digests(&self.run()) else {
            panic!("`{node}` asks nothing:\n{}", self.picture());
        };
        let question = QuestionRef::Node(node.to_owned());
        self.wants("ann", Verb::Answer { question, choice, digest, data })
    }

    /// A person approves what a node shows.
    pub fn approves(&mut self, node: &str) -> &mut Self {
        self.must(|world| world.answers(node, Choice::Approve))
    }

    /// A person rejects what a node shows.
    pub fn rejects(&mut self, node: &str) -> &mut Self {
        self.must(|world| world.answers(node, Choice::Reject))
    }

    /// A signal arrives.
    pub fn signals(&mut self, name: &str, data: Value) -> &mut Self {
        self.must(|world| world.wants("ann", Verb::Signal { name: name.to_owned(), data }))
    }

    /// A person cancels the run.
    pub fn cancels(&mut self) -> &mut Self {
        self.must(|world| world.wants("ann", Verb::Cancel { kill: false }))
    }

    /// A person pauses the run.
    pub fn pauses(&mut self) -> &mut Self {
        self.must(|world| world.wants("ann", Verb::Pause))
    }

    /// A person lets the run go on.
    pub fn unpauses(&mut self) -> &mut Self {
        self.must(|world| world.wants("ann", Verb::Unpause))
    }

    fn must(&mut self, act: impl FnOnce(&mut Self) -> Result<(), Refused>) -> &mut Self {
        if let Err(refused) = act(self) {
            panic!("refused: {refused}\n{}", self.picture());
        }
        self
    }

    /// Somebody answers what they were told to, if it is asked.
    pub(crate) fn somebody_answers(&mut self) -> bool {
        let found = self.run().questions().filter(|asked| asked.closed.is_none()).find_map(|asked| {
            let question = &asked.question;
            // What is about no node is answered by its kind.
            let address = question.node.map_or_else(|| "budget".to_owned(), |node| self.run().address(node));
            let drawn = || self.script.chance.filter(|_| question.kind == QuestionKind::Gate)?.answer(&address);
            let choice = self.answers.get(&address).copied().or_else(drawn)?;
            (!self.answered.contains(&question.id.to_string())).then_some((question.id, choice, question.digest))
        });
        let Some((id, choice, digest)) = found else { return false };
        self.answered.insert(id.to_string());
        let data = match choice {
            Choice::Provide => Some(Value::from("provided")),
            Choice::Raise => Some(serde_json::json!({ "usd": 1 })),
            _ => None,
        };
        let verb = Verb::Answer { question: QuestionRef::Id(id), choice, digest, data };
        self.commands += 1;
        let command = CommandId(Uuid::from_u128(u128::from(self.commands)));
        // The owner may die of it, so nobody waits for a reply here.
        self.offer(Input::Command(Command { id: command, by: "ann".to_owned(), why: None, verb }));
        while self.drain() {}
        true
    }

    /// The node with an address, once the run has it.
    pub fn node(&self, id: &str) -> NodeIndex {
        match self.run().find(id) {
            Some(node) => node,
            None => panic!("there is no node `{id}`"),
        }
    }

    /// The run: as its owner sees it, else as the journal tells.
    pub fn run(&self) -> std::borrow::Cow<'_, Run> {
        if let Some(driver) = &self.driver {
            return std::borrow::Cow::Borrowed(driver.run());
        }
        match self.folded() {
            Ok(run) => std::borrow::Cow::Owned(run),
            Err(corrupt) => panic!("the journal cannot be folded: {corrupt:?}"),
        }
    }

    /// The state of a node.
    pub fn state(&self, node: &str) -> NodeState {
        self.run().state(self.node(node))
    }

    /// The states of all nodes, in order of their ids, as words: `a completed, b skipped`.
    pub fn states(&self) -> String {
        let run = self.run();
        let mut nodes: Vec<_> = run.all_nodes().map(|node| (run.address(node), node)).collect();
        // What grew is named behind the node it grew in, whenever that was.
        nodes.sort_by_key(|(address, node)| (run.top(*node), address.clone()));
        let words: Vec<_> = nodes.into_iter().map(|(address, node)| format!("{address} {}", run.state(node))).collect();
        words.join(", ")
    }

    /// How the run ended.
    pub fn ending(&self) -> Ending {
        match self.run().ended() {
            Some(ending) => ending.clone(),
            None => panic!("the run has not ended:\n{}", self.picture()),
        }
    }

    /// How the run ended, as words: `completed 0`, `failed 1`, `completed 0 degraded`.
    pub fn end(&self) -> String {
        let ending = self.ending();
        let status = match ending.status {
            EndStatus::Completed => "completed",
            EndStatus::Failed => "failed",
            EndStatus::Cancelled => "cancelled",
        };
        format!("{status} {}{}", ending.exit, if ending.degraded { " degraded" } else { "" })
    }

    /// The canonical trace as text.
    pub fn trace(&self) -> String {
        self.run().trace().iter().fold(String::new(), |text, event| text + &event.to_string() + "\n")
    }

    /// How often the work of a node began.
    pub fn executions(&self, node: &str) -> usize {
        let node = self.node(node);
        self.ledger.iter().filter(|done| done.node == node && done.stage == Stage::Work).count()
    }

    /// Who was told to stop, in order, as words: `a 1, b 2 killed`.
    pub fn aborted(&self) -> String {
        let run = self.run();
        let word = |(node, attempt, kill): &(NodeIndex, u32, bool)| {
            format!("{} {attempt}{}", run.address(*node), if *kill { " killed" } else { "" })
        };
        self.aborts.iter().map(word).collect::<Vec<_>>().join(", ")
    }

    /// The order in which work began, as words: `a b b c`.
    pub fn order(&self) -> String {
        let run = self.run();
        let work = self.ledger.iter().filter(|done| done.stage == Stage::Work);
        work.map(|done| run.address(done.node)).collect::<Vec<_>>().join(" ")
    }

    /// The code of a node's error, or nothing.
    pub fn code(&self, node: &str) -> String {
        self.run().error(self.node(node)).map(|error| error.code.to_string()).unwrap_or_default()
    }

    /// All durable entries.
    pub fn entries(&self) -> Vec<Entry> {
        self.journal().iter().flat_map(|commit| commit.entries.clone()).collect()
    }

    /// What there is to see when a story goes wrong.
    pub fn picture(&self) -> String {
        let mut lines = vec![format!("{} at {}", self.states(), self.now)];
        lines.extend(self.entries().iter().map(|entry| format!("{entry:?}")));
        lines.join("\n")
    }

    fn next_event(&self) -> Option<sprag_core::run::Timestamp> {
        let busy = self.busy.values().flatten().min().copied();
        let wake = self.driver.as_ref().and_then(sprag_engine::Driver::next_wake);
        [busy, wake].into_iter().flatten().min()
    }
}
