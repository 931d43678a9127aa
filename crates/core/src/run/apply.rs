//! Takes entries into the state. Nothing here decides: what an entry says is done, or the journal is corrupt.

use super::cause::{CancelCause, SkipReason, StopCause, StopLevel};
use super::class::Known;
use super::created::Created;
use super::entry::Entry;
use super::failure::NodeError;
use super::fold::{Closing, Corrupt, Ownership, Run};
use super::ids::{Seq, Timestamp};
use super::input::{Effect, Stage};
use super::parts::{Product, Taint, Usage, Verdict};
use super::recovering::Chosen;
use super::schedule::Timer;
use super::state::NodeState;
use crate::definition::Kind;
use crate::graph::NodeIndex;

impl Run {
    /// Takes one entry in. An entry that no rule allows changes nothing (`R-STATE-1`).
    pub fn apply(&mut self, at: Timestamp, entry: &Entry) -> Result<(), Corrupt> {
        let seq = Seq(self.seq.0 + 1);
        self.admit(entry).map_err(|detail| Corrupt { seq, detail })?;
        if let Entry::Expanded(expansion) = entry {
            self.expand(at, expansion).map_err(|detail| Corrupt { seq, detail })?;
        }
        self.at = at;
        self.seq = seq;
        match entry {
            Entry::Expanded(_) => {}
            Entry::Gathered { node, .. } => self.gather(*node),
            Entry::Created(created) => self.create(at, created),
            Entry::Owned { owner, fence, person } => {
                self.ownership = Some(Ownership { owner: *owner, fence: *fence, person: *person });
                self.take_over(*person);
            }
            Entry::DeadlineMoved { deadline } => {
                // It counts from now on, so what a person took until now is no part of it.
                if let Some(since) = self.people_only_since {
                    self.move_limits(at.since(since));
                    self.timers.stop_limits();
                    self.people_only_since = Some(at);
                }
                self.set_deadline(Some(*deadline));
            }
            Entry::Ready { node, verdict } => self.make_ready(*node, verdict.as_deref()),
            Entry::Started { node, attempt, due, terms } => {
                self.take_terms(*node, terms.as_deref());
                self.start(*node, *attempt, *due);
            }
            Entry::Spent { node, usage, .. } => {
                self.usage.add(usage);
                self.settle_cost(*node, Some(usage));
            }
            Entry::Produced { node, product, .. } => {
                let done = self.nodes[node.at()].stage;
                self.keep(*node, product);
                self.answer_resumed(*node);
                let done = if done == Stage::Decompose { done } else { Stage::Work };
                self.enter(*node, self.stage_after(*node, done));
            }
            Entry::Checked { node, .. } => self.enter(*node, self.stage_after(*node, Stage::Check)),
            Entry::Graded { node, .. } => self.enter(*node, self.stage_after(*node, Stage::Evaluate)),
            Entry::Completed { node, product, taint, .. } => self.complete(*node, product.as_deref(), taint.as_deref()),
            Entry::Failed { node, error, due, chosen, .. } => self.fail(*node, error, *due, chosen.as_deref()),
            Entry::Decomposing { node, error, chosen, .. } => self.decompose(*node, error, chosen),
            Entry::Withheld { node, expected } => self.withhold(*node, expected),
            Entry::BudgetRaised { inside, by } => self.raise(*inside, by),
            Entry::Finalised { node } => {
                self.leave_failed(*node);
                self.settle_failure(*node, false);
            }
            Entry::Unknown { node, error, .. } => {
                self.orphans.remove(node);
                self.settle_cost(*node, None);
                self.nodes[node.at()].rare_mut().error = Some((**error).clone());
                self.enter(*node, Stage::Probe);
            }
            Entry::Asked(question) => self.ask(question),
            Entry::Answered(answer) => self.answer(answer),
            Entry::Closed { question } => self.close(*question, Closing::Unanswered),
            Entry::Approved { node } => self.set(*node, NodeState::Approved),
            Entry::Skipped { node, reason, cause } => {
                let before = self.nodes[node.at()].state;
                self.set(*node, NodeState::Skipped);
                self.nodes[node.at()].skipped = Some((*reason, *cause));
                self.level_mut(*node).cut |= *reason == SkipReason::RunStopped;
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
            Entry::WaveCompleted { phase, wave } => self.levels[0].waves.announce(*phase, *wave),
            Entry::PhaseCompleted { .. } => {
                self.levels[0].waves.next_phase();
                self.open_phase(0);
            }
            Entry::Command(record) => {
                self.commands.insert(record.command.id, record.refused.clone());
            }
            Entry::Held { on } => self.held = *on,
            Entry::PeopleOnly { on } => self.hand_to_people(at, *on),
            Entry::Stopping { inside, cause } => self.stop(*inside, cause),
            Entry::Ended(ending) => {
                self.end_limits(0);
                self.ending = Some(ending.clone());
                self.ended_at = Some(at);
                self.demands.insert(seq, Effect::Finish);
            }
        }
        Ok(())
    }

    fn create(&mut self, at: Timestamp, created: &Created) {
        self.set_deadline(self.root().policy.deadline.map(|length| at.plus(length)));
        self.levels[0].open_purse(&created.spent.unwrap_or_default());
        if let (Some(purse), Some(raised)) = (&mut self.levels[0].purse, &created.raised) {
            purse.raise(raised);
        }
        self.created = Some(Box::new(created.clone()));
        self.started_at = Some(at);
        self.begin_kept();
        self.open_phase(0);
    }

    /// A graph starts nothing more, and what it has to be over by no longer matters if it is over now.
    fn stop(&mut self, inside: Option<NodeIndex>, cause: &StopCause) {
        let at = inside.and_then(|node| self.inside(node)).unwrap_or(0);
        if cause.level() >= StopLevel::Deadline {
            self.end_limits(at);
        }
        self.levels[at].stop = Some(cause.clone());
        self.alarmed.remove(&super::fold::count(at));
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
        let kind = self.compiled(node).kind;
        match kind {
            _ if !doomed && self.resume_work(node) => {}
            Kind::Wait => self.begin_wait(node, due),
            Kind::Approve => self.enter_own(node, Stage::Gate),
            _ if doomed => {}
            Kind::Workflow | Kind::Map | Kind::Loop => self.enter_own(node, Stage::Grow),
            Kind::Run | Kind::Http | Kind::Agent | Kind::Generate | Kind::Call | Kind::Noop => {
                self.demand(node, Stage::Work);
            }
        }
        if let Some(due) = due.filter(|_| kind.grows()) {
            self.nodes[node.at()].rare_mut().due = Some(due);
            self.timers.insert(due, Timer::Children(node));
        }
    }

    /// A stage begins that the core does itself.
    pub(super) fn enter_own(&mut self, node: NodeIndex, stage: Stage) {
        self.nodes[node.at()].stage = stage;
        self.at_own_stage.insert(node);
    }

    /// The next stage that a node has after one (`R-STATE-8`).
    pub(super) fn stage_after(&self, node: NodeIndex, stage: Stage) -> Stage {
        let level = self.level(node);
        let local = level.local(node);
        let compiled = level.body.node(local);
        if (stage == Stage::Work && compiled.kind == Kind::Generate) || stage == Stage::Decompose {
            return Stage::Grow;
        }
        let has = |next: Stage| match next {
            Stage::Check => level.body.checks_output(local),
            Stage::Evaluate => compiled.spec.evaluate.is_some(),
            Stage::Gate => compiled.spec.approve.is_some(),
            Stage::Work | Stage::Probe | Stage::Decompose | Stage::Grow | Stage::Children | Stage::Done => false,
        };
        let later = [Stage::Check, Stage::Evaluate, Stage::Gate];
        later.into_iter().find(|next| *next > stage && has(*next)).unwrap_or(Stage::Done)
    }

    /// A stage begins: somebody outside is owed it, or the core does it itself.
    pub(super) fn enter(&mut self, node: NodeIndex, stage: Stage) {
        self.drop_demand(node);
        self.end_wait(node);
        self.nodes[node.at()].stage = stage;
        let outside = match stage {
            Stage::Check | Stage::Probe | Stage::Decompose => true,
            Stage::Evaluate => self.compiled(node).evaluates_outside(),
            Stage::Work | Stage::Grow | Stage::Children | Stage::Gate | Stage::Done => false,
        };
        if outside {
            self.at_own_stage.remove(&node);
            self.demand(node, stage);
        } else {
            self.at_own_stage.insert(node);
        }
    }

    pub(super) fn keep(&mut self, node: NodeIndex, product: &Product) {
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
        // Whoever tells nothing of a cost had none.
        self.settle_cost(node, Some(&product.usage.unwrap_or_default()));
    }

    fn complete(&mut self, node: NodeIndex, product: Option<&Product>, taint: Option<&Taint>) {
        if let Some(taint) = taint {
            // Who waits no longer for generating work tells it to stop, also where a fallback stands in.
            if matches!(taint, Taint::Fallback(error) if self.is_out_of_time(node, error)) {
                self.abort(node);
            }
            self.nodes[node.at()].forget(|rare| {
                rare.output = None;
                rare.patch = None;
            });
            self.forsake_children(node);
            self.taint(node);
        }
        // Where the fallback stands in for an attempt that nobody could tell of, that attempt cost what was set aside.
        if let Some(Taint::Fallback(error)) = taint
            && Self::cost_is_unknown(error)
        {
            self.settle_cost(node, None);
        }
        match product {
            Some(product) => self.keep(node, product),
            None => self.settle_cost(node, Some(&Usage::default())),
        }
        self.set(node, NodeState::Completed);
        self.trust(node, taint);
        let record = &mut self.nodes[node.at()];
        let patch = record.rare().patch.clone();
        record.forget(|rare| {
            rare.error = None;
            rare.patch = None;
            rare.due = None;
            rare.feedback = Vec::new();
        });
        let patches: Vec<_> =
            patch.into_iter().chain(self.patches_inside(node)).chain(self.patches_kept(node)).collect();
        let level = self.level_mut(node);
        let local = level.local(node);
        level.context.patch(&level.body.graph, local, patches);
        self.interruptions.remove(&node);
        self.settle(node);
    }

    fn fail(&mut self, node: NodeIndex, error: &NodeError, due: Option<Timestamp>, chosen: Option<&Chosen>) {
        let interrupted = error.code == Known::INTERRUPTED;
        if self.nodes[node.at()].state == NodeState::Running {
            let told = !Self::cost_is_unknown(error) && self.stop_level(node) < Some(StopLevel::Deadline);
            self.settle_cost(node, told.then_some(&Usage::default()));
            self.remember(node, error, chosen);
        }
        if interrupted && self.ownership.is_some_and(|ownership| !ownership.person) {
            *self.interruptions.entry(node).or_default() += 1;
        }
        if self.is_out_of_time(node, error) || self.stop_level(node) >= Some(StopLevel::Deadline) {
            self.abort(node);
        }
        let inherited = self.fails_with_its_child(node);
        self.forsake_children(node);
        self.set(node, NodeState::Failed);
        // What an earlier run left is used once.
        self.resumed.remove(&node);
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
            None => self.settle_failure(node, inherited),
        }
    }

    /// Whoever is busy with a running node is told to stop.
    fn abort(&mut self, node: NodeIndex) {
        let record = &self.nodes[node.at()];
        if record.state == NodeState::Running && record.demand != Seq(0) {
            let kill = matches!(self.root().stop, Some(StopCause::Cancel { kill: true }));
            self.demands.insert(self.seq, Effect::Abort { node, attempt: record.attempt, kill });
        }
    }

    fn cancel(&mut self, node: NodeIndex, cause: CancelCause) {
        self.abort(node);
        if self.nodes[node.at()].state == NodeState::Running {
            self.settle_cost(node, None);
        }
        let before = self.nodes[node.at()].state;
        self.set(node, NodeState::Cancelled);
        if matches!(before, NodeState::Pending | NodeState::Ready) {
            self.decided(node, before);
        }
        self.nodes[node.at()].cancelled = Some(cause);
        self.level_mut(node).cut |= cause == CancelCause::Stopped;
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

    /// The oldest kept signal of a name is used up.
    fn take_signal(&mut self, name: &str) {
        if let Some(kept) = self.signals.get_mut(name) {
            kept.pop_front();
            if kept.is_empty() {
                self.signals.remove(name);
            }
        }
    }
}
