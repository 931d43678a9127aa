//! Takes entries into the state. Nothing here decides: what an entry says is done, or the journal is corrupt.

use super::cause::{CancelCause, StopCause, StopLevel};
use super::class::Known;
use super::entry::{Created, Entry, Product, Taint, Verdict};
use super::failure::NodeError;
use super::fold::{AskedQuestion, Closing, Corrupt, Ownership, Run};
use super::ids::{QuestionId, Seq, Timestamp};
use super::input::{Effect, Stage};
use super::question::Question;
use super::schedule::Timer;
use super::state::NodeState;
use crate::definition::Kind;
use crate::graph::NodeIndex;

impl Run {
    /// Takes one entry in. An entry that no rule allows changes nothing (`R-STATE-1`).
    pub fn apply(&mut self, at: Timestamp, entry: &Entry) -> Result<(), Corrupt> {
        let seq = Seq(self.seq.0 + 1);
        self.admit(entry).map_err(|detail| Corrupt { seq, detail })?;
        self.seq = seq;
        match entry {
            Entry::Created(created) => self.create(at, created),
            Entry::Owned { owner, fence, person } => {
                self.ownership = Some(Ownership { owner: *owner, fence: *fence, person: *person });
                self.take_over(*person);
            }
            Entry::DeadlineMoved { deadline } => {
                self.deadline = Some(*deadline);
                // It counts from now on, so only what a person takes from now on is added to it.
                self.people_only_since = self.people_only_since.map(|_| at);
                self.watch_deadline(self.people_only_since.is_none());
            }
            Entry::Ready { node, verdict } => self.make_ready(*node, verdict.as_deref()),
            Entry::Started { node, attempt, due } => self.start(*node, *attempt, *due),
            Entry::Produced { node, product, .. } => {
                self.keep(*node, product);
                self.enter(*node, self.stage_after(*node, Stage::Work));
            }
            Entry::Checked { node, .. } => self.enter(*node, self.stage_after(*node, Stage::Check)),
            Entry::Graded { node, .. } => self.enter(*node, self.stage_after(*node, Stage::Evaluate)),
            Entry::Completed { node, product, taint, .. } => self.complete(*node, product.as_deref(), taint.as_deref()),
            Entry::Failed { node, error, due, .. } => self.fail(*node, error, *due),
            Entry::Finalised { node } => {
                self.leave_failed(*node);
                self.settle_failure(*node);
            }
            Entry::Unknown { node, error, .. } => {
                self.orphans.remove(node);
                self.nodes[node.at()].rare_mut().error = Some((**error).clone());
                self.enter(*node, Stage::Probe);
            }
            Entry::Asked(question) => self.ask(question),
            Entry::Answered(answer) => self.close(answer.question, Closing::Answered(answer.clone())),
            Entry::Closed { question } => self.close(*question, Closing::Unanswered),
            Entry::Approved { node } => self.set(*node, NodeState::Approved),
            Entry::Skipped { node, reason, cause } => {
                let before = self.nodes[node.at()].state;
                self.set(*node, NodeState::Skipped);
                self.nodes[node.at()].skipped = Some((*reason, *cause));
                self.decided(*node, before);
                self.settle(*node);
            }
            Entry::Cancelled { node, cause } => self.cancel(*node, *cause),
            Entry::Signalled { name, data, kept } => {
                if *kept {
                    self.signals.entry(name.clone()).or_default().push_back(data.clone());
                }
            }
            Entry::SignalTaken { name, .. } => self.take_signal(name),
            Entry::WaveCompleted { phase, wave } => self.waves.announce(*phase, *wave),
            Entry::Command(record) => {
                self.commands.insert(record.command.id, record.refused.clone());
            }
            Entry::Held { on } => self.held = *on,
            Entry::PeopleOnly { on } => self.hand_to_people(at, *on),
            Entry::Stopping { cause } => {
                if cause.level() >= StopLevel::Deadline {
                    self.watch_deadline(false);
                }
                self.stop = Some(cause.clone());
            }
            Entry::Ended(ending) => {
                self.watch_deadline(false);
                self.ending = Some(ending.clone());
                self.ended_at = Some(at);
                self.demands.insert(seq, Effect::Finish);
            }
        }
        Ok(())
    }

    fn create(&mut self, at: Timestamp, created: &Created) {
        self.deadline = self.definition.policy.deadline.map(|length| at.plus(length));
        self.created = Some(Box::new(created.clone()));
        self.started_at = Some(at);
        self.watch_deadline(true);
    }

    /// A retry keeps what the edges said the first time.
    fn make_ready(&mut self, node: NodeIndex, verdict: Option<&Verdict>) {
        let before = self.nodes[node.at()].state;
        self.set(node, NodeState::Ready);
        if let Some(verdict) = verdict {
            self.nodes[node.at()].rare_mut().verdict = Some(Box::new(verdict.clone()));
        }
        if before == NodeState::Pending {
            self.decided(node, before);
        }
    }

    fn start(&mut self, node: NodeIndex, attempt: u32, due: Option<Timestamp>) {
        self.set(node, NodeState::Running);
        let record = &mut self.nodes[node.at()];
        record.attempt = attempt;
        record.stage = Stage::Work;
        let doomed = record.rare().verdict.as_ref().is_some_and(|verdict| verdict.doomed.is_some());
        match self.definition.node(node).kind {
            Kind::Wait => self.begin_wait(node, due),
            Kind::Approve => {
                record.stage = Stage::Gate;
                self.at_own_stage.insert(node);
            }
            _ if doomed => {}
            _ => self.demand(node, Stage::Work),
        }
    }

    /// The next stage that a node has after one (`R-STATE-8`).
    pub(super) fn stage_after(&self, node: NodeIndex, stage: Stage) -> Stage {
        let compiled = self.definition.node(node);
        let has = |next: Stage| match next {
            Stage::Check => self.definition.checks_output(node),
            Stage::Evaluate => compiled.spec.evaluate.is_some(),
            Stage::Gate => compiled.spec.approve.is_some(),
            Stage::Work | Stage::Probe | Stage::Done => false,
        };
        let later = [Stage::Check, Stage::Evaluate, Stage::Gate];
        later.into_iter().find(|next| *next > stage && has(*next)).unwrap_or(Stage::Done)
    }

    /// A stage begins: somebody outside is owed it, or the core does it itself.
    fn enter(&mut self, node: NodeIndex, stage: Stage) {
        self.drop_demand(node);
        self.end_wait(node);
        self.nodes[node.at()].stage = stage;
        let outside = match stage {
            Stage::Check | Stage::Probe => true,
            Stage::Evaluate => self.definition.node(node).evaluates_outside(),
            Stage::Work | Stage::Gate | Stage::Done => false,
        };
        if outside {
            self.at_own_stage.remove(&node);
            self.demand(node, stage);
        } else {
            self.at_own_stage.insert(node);
        }
    }

    fn keep(&mut self, node: NodeIndex, product: &Product) {
        let record = &mut self.nodes[node.at()];
        if !product.output.is_null() {
            record.rare_mut().output = Some(product.output.clone());
        }
        if let Some(patch) = &product.patch {
            record.rare_mut().patch = Some(patch.clone());
        }
        if let Some(usage) = &product.usage {
            self.usage.add(usage);
        }
    }

    fn complete(&mut self, node: NodeIndex, product: Option<&Product>, taint: Option<&Taint>) {
        if taint.is_some() {
            self.nodes[node.at()].forget(|rare| {
                rare.output = None;
                rare.patch = None;
            });
            self.nodes[node.at()].tainted = true;
            self.tainted = true;
        }
        if let Some(product) = product {
            self.keep(node, product);
        }
        self.set(node, NodeState::Completed);
        let record = &mut self.nodes[node.at()];
        let patch = record.rare().patch.clone();
        record.forget(|rare| {
            rare.error = None;
            rare.patch = None;
            rare.due = None;
        });
        if let Some(patch) = patch {
            self.context.patch(&self.definition.graph, node, patch);
        }
        self.interruptions.remove(&node);
        self.settle(node);
    }

    fn fail(&mut self, node: NodeIndex, error: &NodeError, due: Option<Timestamp>) {
        let interrupted = error.code == Known::INTERRUPTED;
        if interrupted && self.ownership.is_some_and(|ownership| !ownership.person) {
            *self.interruptions.entry(node).or_default() += 1;
        }
        if self.stop.as_ref().is_some_and(|stop| stop.level() >= StopLevel::Deadline) {
            self.abort(node);
        }
        self.set(node, NodeState::Failed);
        let rare = self.nodes[node.at()].rare_mut();
        rare.output = None;
        rare.patch = None;
        rare.error = Some(error.clone());
        rare.due = due;
        if !interrupted {
            rare.tries += 1;
        }
        match due {
            Some(due) => self.timers.insert(due, Timer::Retry(node)),
            None => self.settle_failure(node),
        }
    }

    /// Whoever is busy with a running node is told to stop.
    fn abort(&mut self, node: NodeIndex) {
        let record = &self.nodes[node.at()];
        if record.state == NodeState::Running && record.demand != Seq(0) {
            let kill = matches!(self.stop, Some(StopCause::Cancel { kill: true }));
            self.demands.insert(self.seq, Effect::Abort { node, attempt: record.attempt, kill });
        }
    }

    fn cancel(&mut self, node: NodeIndex, cause: CancelCause) {
        self.abort(node);
        let before = self.nodes[node.at()].state;
        self.set(node, NodeState::Cancelled);
        if matches!(before, NodeState::Pending | NodeState::Ready) {
            self.decided(node, before);
        }
        self.nodes[node.at()].cancelled = Some(cause);
        if cause.is_failure() { self.settle_rejection(node) } else { self.settle(node) }
    }

    /// The attempts of the previous owner have nobody who works on them (`R-CLAIM-4`).
    fn take_over(&mut self, person: bool) {
        if person {
            self.interruptions.clear();
        }
        self.demands.retain(|_, effect| !matches!(effect, Effect::Abort { .. }));
        let orphans: Vec<_> = self
            .active
            .iter()
            .copied()
            .filter(|node| {
                let record = &self.nodes[node.at()];
                record.stage == Stage::Work && record.demand != Seq(0)
            })
            .collect();
        for node in orphans {
            self.drop_demand(node);
            self.orphans.insert(node);
        }
    }

    fn ask(&mut self, question: &Question) {
        let id = question.id;
        self.next_question = self.next_question.max(id.0 + 1);
        self.set(question.node, NodeState::AwaitingApproval);
        self.nodes[question.node.at()].rare_mut().question = Some(id);
        self.demands.insert(self.seq, Effect::Ask { question: id });
        if let Some(expires) = question.expires {
            self.timers.insert(expires, Timer::Question(id));
        }
        let asked = AskedQuestion { question: Box::new(question.clone()), asked: self.seq, closed: None };
        self.questions.insert(id, asked);
    }

    /// The oldest kept signal of a name is used up.
    fn take_signal(&mut self, name: &str) {
        if let Some(kept) = self.signals.get_mut(name) {
            kept.pop_front();
            if kept.is_empty() {
                self.signals.remove(name);
            }
        }
    }

    fn close(&mut self, question: QuestionId, closing: Closing) {
        if let Some(asked) = self.questions.get_mut(&question) {
            asked.closed = Some(closing);
            self.demands.remove(&asked.asked);
            if let Some(expires) = asked.question.expires {
                self.timers.remove(expires, Timer::Question(question));
            }
            let node = asked.question.node;
            self.nodes[node.at()].forget(|rare| rare.question = None);
        }
    }

    /// The deadline stands still while only a person could move the run (`R-TIME-1`).
    fn hand_to_people(&mut self, at: Timestamp, on: bool) {
        if on {
            self.people_only_since = Some(at);
            self.watch_deadline(false);
        } else if let Some(since) = self.people_only_since.take() {
            self.deadline = self.deadline.map(|deadline| deadline.plus(at.since(since)));
            self.watch_deadline(true);
        }
    }

    fn watch_deadline(&mut self, on: bool) {
        self.timers.deadline = self.deadline.filter(|_| on);
    }
}
