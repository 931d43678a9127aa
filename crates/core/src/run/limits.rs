//! What has to be over by a certain time: the run, a phase, a graph inside a node (`R-TIME-1`).

use super::fold::{Run, count};
use super::ids::Timestamp;
use super::schedule::Limit;
use crate::file::Duration;

impl Run {
    /// What has to be over by a certain time stands still while only a person could move the run (`R-TIME-1`).
    pub(super) fn hand_to_people(&mut self, at: Timestamp, on: bool) {
        if on {
            self.people_only_since = Some(at);
            self.timers.stop_limits();
        } else if let Some(since) = self.people_only_since.take() {
            self.move_limits(at.since(since));
        }
    }

    pub(super) fn move_limits(&mut self, by: Duration) {
        self.timers.move_limits(by);
        let later = |moment: &mut Option<Timestamp>| *moment = moment.map(|moment| moment.plus(by));
        later(&mut self.deadline);
        for level in &mut self.levels {
            later(&mut level.deadline);
            later(&mut level.phase_deadline);
        }
    }

    pub(super) fn set_deadline(&mut self, deadline: Option<Timestamp>) {
        self.timers.limit(Limit::Run, self.deadline, deadline);
        self.deadline = deadline;
    }

    /// A graph is about to be over, so its own limits are, too.
    pub(super) fn end_limits(&mut self, at: usize) {
        if at == 0 {
            self.timers.limit(Limit::Run, self.deadline, None);
        }
        let number = count(at);
        let deadline = self.levels[at].deadline.take();
        let phase_deadline = self.levels[at].phase_deadline.take();
        self.timers.limit(Limit::Graph(number), deadline, None);
        self.timers.limit(Limit::Phase(number), phase_deadline, None);
    }
}
