//! Plays a scenario to its end, with everything that may go wrong on the way.

use serde_json::{Value, json};
use sprag_core::file::Duration;
use sprag_core::hash::Digest;
use sprag_core::run::{
    Choice, Command, CommandId, Entry, Input, OwnerId, Product, QuestionId, QuestionKind, QuestionRef, Report, Taking,
    Usage, Verb,
};
use uuid::Uuid;

use crate::check::{self, History, Summary, Violation};
use crate::generate::Scenario;
use crate::keep::Keep;
use crate::rng::Rng;
use crate::world::{Crash, World, WorldOptions};

/// What goes wrong around a run.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fault of its own, and all combinations make sense")]
pub struct Faults {
    /// What is random about them is drawn from here.
    pub seed: u64,
    /// Where owners die, in order of the operations.
    pub crashes: Vec<Crash>,
    /// Everything that happens outside is told twice.
    pub twice: bool,
    /// Reports come again later, and those of dead owners still arrive.
    pub late: bool,
    /// People interfere: they pause, signal, cancel, answer what is not asked, and send commands again.
    pub meddling: bool,
    /// The journal is folded after every drain.
    pub folding: bool,
}

impl Faults {
    /// Everything that may go wrong, from a seed.
    pub fn drawn(seed: u64) -> Self {
        let mut rng = Rng::new(seed ^ 0xfa17);
        let mut operation = 0;
        let mut crashes = Vec::new();
        for _ in 0..rng.below(5) {
            operation += 1 + rng.below(8);
            crashes.push(Crash { operation, after: rng.one_in(2) });
        }
        let (twice, late, meddling) = (rng.one_in(4), rng.one_in(2), rng.one_in(2));
        Self { seed, crashes, twice, late, meddling, folding: rng.one_in(8) }
    }
}

/// Plays one scenario.
#[derive(Debug)]
pub struct Player {
    /// The world it is played in.
    pub world: World,
    /// Every promise that was broken on the way.
    pub violations: Vec<Violation>,
    pub(crate) faults: Faults,
    pub(crate) signals: Vec<String>,
    pub(crate) rng: Rng,
    /// What earlier runs of the lineage completed and nothing invalidated, with its output.
    pub(crate) inherited: Vec<(String, Value)>,
    pub(crate) links: u32,
    pub(crate) sent: Vec<Command>,
}

/// More steps than any generated run takes.
const MOST_STEPS: u32 = 20_000;
/// After so many rests people stop trying again.
const PATIENCE: u32 = 12;

impl Player {
    /// Sets the stage.
    pub fn new(scenario: &Scenario, options: WorldOptions, faults: Faults) -> Self {
        let mut world = World::around(scenario.definition(), options);
        *world.script() = scenario.script();
        for (node, choice) in &scenario.answers {
            world.will_answer(node, *choice);
        }
        if scenario.features.recovery {
            world.creation = Some(scenario.terms.creation(&world));
        }
        world.twice = faults.twice;
        world.folding = faults.folding;
        let rng = Rng::new(faults.seed ^ scenario.seed);
        let signals = scenario.signals.clone();
        Self { world, violations: Vec::new(), faults, signals, rng, inherited: Vec::new(), links: 0, sent: Vec::new() }
    }

    /// The same, with its journal somewhere else.
    #[must_use]
    pub fn kept_in(mut self, store: Box<dyn Keep>) -> Self {
        self.world = self.world.kept_in(store);
        self
    }

    /// Plays until the run has ended. Owners that die are replaced; where only people can move the run, they do.
    pub fn play(&mut self) -> &mut Self {
        let mut steps = 0;
        let mut rests = 0;
        self.faults.crashes.reverse();
        self.world.options.crash = self.faults.crashes.pop();
        self.takes();
        loop {
            while self.world.advance() {
                steps += 1;
                if steps > MOST_STEPS {
                    self.broken("L1", "the run never ends");
                    return self;
                }
                if self.faults.meddling && self.rng.one_in(3) {
                    self.meddle();
                } else if self.faults.late && self.rng.one_in(6) {
                    self.report_again();
                }
                self.write_again();
            }
            if !self.world.is_alive() {
                self.judge(false);
                self.takes();
                continue;
            }
            self.judge(true);
            if self.world.run().ended().is_some() {
                break;
            }
            rests += 1;
            if rests > 40 + 4 * PATIENCE || !self.people_act(rests) {
                self.broken("L1", "people cannot move the run");
                return self;
            }
        }
        self.keeps_promises_of_lineage();
        if self.faults.late || self.faults.meddling {
            self.epilogue();
        }
        self
    }

    /// What the history comes to.
    pub fn summary(&self) -> Summary {
        let commits = self.world.journal();
        check::summary(&self.history(&commits))
    }

    fn history<'run>(&'run self, commits: &'run [std::sync::Arc<sprag_core::run::Commit>]) -> History<'run> {
        History {
            definition: self.world.definition(),
            commits,
            ledger: &self.world.ledger,
            replies: &self.world.replies,
            slots: self.world.options.slots,
        }
    }

    fn judge(&mut self, at_rest: bool) {
        let commits = self.world.journal();
        let history = self.history(&commits);
        let found = if at_rest { check::check_at_rest(&history) } else { check::check(&history) };
        self.violations.extend(found);
        if at_rest {
            self.agrees();
        }
    }

    /// What the run says about money and trust is what its journal comes to.
    fn agrees(&mut self) {
        let commits = self.world.journal();
        let history = self.history(&commits);
        let (spent, unclean) = (check::spent(&history), check::unclean(&history));
        let run = self.world.run();
        let parts = |usage: Usage| (usage.tokens_in + usage.tokens_out, format!("{:.0}", usage.usd * 1e9));
        let told = [run.lineage_spent(), run.reserved()].map(parts);
        let counted = spent.map(|sums| sums.map(|(tokens, parts)| (tokens, parts.to_string())));
        let trusted = |node| run.confidence(node).is_none_or(sprag_core::run::recovery::Confidence::is_clean);
        let trusted = unclean.into_iter().find(|(node, _)| trusted(*node));
        drop(run);
        if let Some(counted) = counted.filter(|counted| *counted != told) {
            self.broken("R-REC-6", &format!("the run has spent and set aside {told:?}, not {counted:?}"));
        }
        if let Some((_, name)) = trusted {
            self.broken("R-REC-7", &format!("`{name}` is trusted, and made of what is not"));
        }
    }

    pub(crate) fn broken(&mut self, invariant: &'static str, what: &str) {
        self.violations.push(Violation { invariant, seq: 0, what: what.to_owned() });
    }

    /// The next owner takes the run, some time after the last one died.
    fn takes(&mut self) {
        if self.world.owners > 0 {
            self.world.options.crash = self.faults.crashes.pop();
            let away = Duration::from_millis(self.rng.below(5));
            self.world.now = self.world.now.plus(away);
        }
        let by_person = self.faults.meddling && self.rng.one_in(3);
        let deadline = self.rng.one_in(2).then(|| Duration::from_millis(20 + self.rng.below(500)));
        let how = if by_person { Taking::Person { deadline } } else { Taking::Automatic };
        if let Err(corrupt) = self.world.take(how) {
            self.broken("I3", &format!("the journal cannot be folded: {corrupt:?}"));
        }
        if self.faults.late {
            // Whoever died may still have something to say, now that somebody else owns the run.
            let last: Vec<_> = self.world.ledger.iter().rev().take(3).map(|done| (done.node, done.attempt)).collect();
            for (node, attempt) in last {
                let report = Report::Produced(Product::of(Value::from("too late")));
                self.world.offer(Input::Report { node, attempt, report });
            }
        }
    }

    fn report_again(&mut self) {
        let Some(input) = self.rng.pick(&self.world.reported).cloned() else { return };
        // A dead owner's report of a stage that is being repeated would end it while somebody still works on it; whatever
        // an owner executes dies with it, so that report does not exist (`R-CMD-2`).
        let repeated = |(node, attempt, _): &(_, _, _)| matches!(&input, Input::Report { node: of, attempt: number, .. } if (of, number) == (node, attempt));
        if !self.world.busy.keys().any(repeated) {
            self.world.offer(input);
        }
    }

    /// What dead owners wrote last reaches the store once somebody else owns the run: it is refused, or it had landed.
    fn write_again(&mut self) {
        if self.world.belated.is_empty() || !self.world.is_alive() {
            return;
        }
        let owner = OwnerId(Uuid::from_u128(u128::from(self.world.owners)));
        let before = self.world.journal();
        let owns = |entry: &Entry| matches!(entry, Entry::Owned { owner: of, .. } if *of == owner);
        if !before.iter().any(|commit| commit.entries.iter().any(owns)) {
            return;
        }
        for append in std::mem::take(&mut self.world.belated) {
            let landed = before.contains(&append.commit);
            if self.world.written(&append).is_ok() != landed || self.world.journal() != before {
                self.broken("I5", "a late write of an old owner was taken");
            }
        }
    }

    fn send(&mut self, verb: Verb) {
        self.world.commands += 1;
        let id = CommandId(Uuid::from_u128(u128::from(self.world.commands)));
        let command = Command { id, by: "ann".to_owned(), why: None, verb };
        self.sent.push(command.clone());
        self.world.offer(Input::Command(command));
        while self.world.drain() {}
    }

    fn meddle(&mut self) {
        match self.rng.below(12) {
            0..=2 => self.report_again(),
            3 | 4 => self.send(Verb::Pause),
            5 | 6 => self.send(Verb::Unpause),
            7 => self.signal(),
            8 => {
                let digest = Digest::of(b"something else");
                let question = QuestionRef::Id(QuestionId(1 + u32::from(self.rng.one_in(2))));
                self.send(Verb::Answer { question, choice: Choice::Approve, digest, data: None });
            }
            9 => {
                if let Some(command) = self.rng.pick(&self.sent) {
                    self.world.offer(Input::Command(command.clone()));
                }
            }
            _ if self.rng.one_in(2) => {
                let kill = self.rng.one_in(2);
                self.send(Verb::Cancel { kill });
            }
            _ => {}
        }
    }

    fn signal(&mut self) {
        if let Some(name) = self.rng.pick(&self.signals).cloned() {
            self.send(Verb::Signal { name, data: json!({ "ok": true, "n": 3 }) });
        }
    }

    /// People do what the run waits for. False if there is nothing that they could do.
    fn people_act(&mut self, rests: u32) -> bool {
        let (open, held) = {
            let run = self.world.run();
            let open = run.questions().find(|asked| asked.closed.is_none());
            let open = open.map(|asked| (asked.question.id, asked.question.kind, asked.question.digest));
            (open, run.status() == sprag_core::run::RunStatus::Paused(sprag_core::run::PausedBy::Verb))
        };
        let before = self.world.journal().len();
        // They take their time, and clocks stand still meanwhile (`R-TIME-1`).
        self.world.now = self.world.now.plus(Duration::from_millis(self.rng.below(60)));
        if self.faults.meddling && self.rng.one_in(8) {
            self.send(Verb::Cancel { kill: false });
        } else if held {
            self.send(Verb::Unpause);
        } else if let Some((id, kind, digest)) = open {
            let choices: &[_] = match kind {
                QuestionKind::Gate => &[Choice::Approve, Choice::Reject],
                QuestionKind::UnknownOutcome | QuestionKind::Intervention | QuestionKind::Budget
                    if rests > PATIENCE =>
                {
                    &[Choice::Fail]
                }
                QuestionKind::Budget => &[Choice::Raise, Choice::Fail],
                QuestionKind::UnknownOutcome | QuestionKind::Intervention => {
                    &[Choice::Retry, Choice::Provide, Choice::Skip, Choice::Fail]
                }
            };
            let choice = self.rng.pick(choices).copied().unwrap_or(Choice::Fail);
            let data = match choice {
                Choice::Provide => Some(json!({ "ok": true, "n": 1 })),
                // Sometimes too little, so that the next question follows at once.
                Choice::Raise if self.rng.one_in(3) => Some(json!({ "usd": 0.05, "tokens": 5 })),
                Choice::Raise => Some(json!({ "usd": 1, "tokens": 200 })),
                _ => None,
            };
            self.send(Verb::Answer { question: QuestionRef::Id(id), choice, digest, data });
        } else {
            for name in self.signals.clone() {
                self.send(Verb::Signal { name, data: json!({ "ok": true, "n": 3 }) });
            }
        }
        // An owner that died over it has to be replaced first.
        !self.world.is_alive() || self.world.journal().len() > before
    }

    /// A run that has ended does not change, whatever still comes.
    fn epilogue(&mut self) {
        let before = self.world.journal();
        for input in self.world.reported.clone() {
            self.world.offer(input);
        }
        self.send(Verb::Pause);
        self.send(Verb::Cancel { kill: true });
        while self.world.drain() {}
        if self.world.journal() != before {
            self.broken("I2", "an ended run changed");
        }
        self.judge(true);
    }
}
