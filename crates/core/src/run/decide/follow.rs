//! What follows from the state itself, one kind of thing at a time, in a fixed order.

use crate::graph::NodeIndex;
use crate::run::cause::{CancelCause, StopCause};
use crate::run::class::Known;
use crate::run::entry::Entry;
use crate::run::failure::NodeError;
use crate::run::fold::Run;
use crate::run::ids::Timestamp;
use crate::run::parts::Product;
use crate::run::schedule::{Limit, Timer};

impl Run {
    /// The next entries that the state and the time demand; none when the run is at rest. Repeated until then after
    /// every input ([`Run::come_to_rest`]).
    ///
    /// What ends the run early comes first, starting after everything that could forbid it; handing the run to people
    /// comes last, because it means that nothing else is left.
    pub fn follow(&self, now: Timestamp, slots: u32) -> Vec<Entry> {
        if self.created.is_none() || self.ending.is_some() {
            return Vec::new();
        }
        if let Some(limit) = self.timers.overdue(now).filter(|_| self.root().unsettled > 0) {
            return self.passed(limit);
        }
        if let Some(orphan) = self.orphans.first() {
            return self.interrupted(now, *orphan);
        }
        if !self.undecided.is_empty() {
            return self.join_undecided();
        }
        if let Some(node) = self.at_own_stage.first() {
            return self.own_stage(now, *node);
        }
        if let Some(closed) = self.no_longer_asked() {
            return vec![closed];
        }
        if let Some((level, cause)) = self.stop_trigger() {
            return self.stops(level, cause);
        }
        if let Some(over) = self.over.first() {
            return self.ends(now, *over as usize);
        }
        if let Some((phase, wave)) = self.root().waves.completed() {
            return vec![Entry::WaveCompleted { phase, wave }];
        }
        if let Some(ended) = self.phase_end() {
            return ended;
        }
        if let Some(ending) = self.ending() {
            return vec![Entry::Ended(Box::new(ending))];
        }
        if let Some(timer) = self.timers.due(now) {
            return self.fires(now, timer);
        }
        let starts = self.starts(now, slots);
        if !starts.is_empty() {
            return starts;
        }
        if let Some(asked) = self.asks_for_money() {
            return vec![asked];
        }
        let people_only = self.only_people_can_move_it();
        if people_only != self.people_only_since.is_some() {
            return vec![Entry::PeopleOnly { on: people_only }];
        }
        Vec::new()
    }

    /// What has to be over by now stops. It is asked first: a deadline that passed while nobody owned the run decides over
    /// everything that happened since (`R-TIME-1`).
    fn passed(&self, limit: Limit) -> Vec<Entry> {
        match limit {
            Limit::Run => self.stops(0, StopCause::Deadline),
            Limit::Graph(level) => self.stops(level as usize, StopCause::Deadline),
            Limit::Phase(level) => {
                let phase = self.levels[level as usize].waves.phase();
                self.stops(level as usize, StopCause::PhaseTimeout { phase })
            }
        }
    }

    /// The owner of an attempt died (`R-CLAIM-4`).
    fn interrupted(&self, now: Timestamp, node: NodeIndex) -> Vec<Entry> {
        let error = NodeError::new(Known::INTERRUPTED, "the process that ran it died");
        self.failed(now, node, error)
    }

    fn fires(&self, now: Timestamp, timer: Timer) -> Vec<Entry> {
        match timer {
            Timer::Retry(node) => vec![Entry::Ready { node, verdict: None }],
            Timer::Signal(node) => {
                let message = "the signal did not come in time";
                self.failed(now, node, NodeError::new(Known::TIMEOUT, message))
            }
            Timer::Children(node) => self.out_of_patience(now, node),
            Timer::Wait(node) => vec![self.produced(node, self.nodes[node.at()].attempt, &Product::default())],
            Timer::Question(question) => {
                let node = self.questions.get(&question).and_then(|asked| asked.question.node);
                let cancelled = node.map(|node| Entry::Cancelled { node, cause: CancelCause::TimedOut });
                [Entry::Closed { question }].into_iter().chain(cancelled).collect()
            }
        }
    }

    /// Whether neither work nor time will move the run: a question's expiry does not count, and a signal counts as a
    /// person (`R-GATE-2`).
    fn only_people_can_move_it(&self) -> bool {
        self.root().stop.is_none() && self.busy == 0 && !self.timers.will_move(self.held) && !self.can_start()
    }
}
