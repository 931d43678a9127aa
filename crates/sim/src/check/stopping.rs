//! Stops: they have a cause, and do to each node what the table says (`R-EDGE-5`, `R-EDGE-6`, `R-TIME-1`).

use sprag_core::run::{CancelCause, Entry, NodeState, SkipReason, StopCause, Timestamp};

use super::history::{History, Line, Verdicts};
use super::track::{Track, moved, needs_slot};

/// What stop rules count.
#[derive(Debug, Default)]
struct Count {
    /// Final failures.
    failures: u32,
    /// Those of them that had used more than one attempt.
    after_retries: u32,
    /// Attempts of each node that failed without being interrupted.
    tries: Vec<u32>,
    deadline: Option<Timestamp>,
    people_since: Option<Timestamp>,
}

pub(super) fn check(history: &History<'_>, verdicts: &mut Verdicts) {
    let mut track = Track::new(history);
    let mut count = Count { tries: vec![0; history.definition.graph.len()], ..Count::default() };
    for line in history.lines() {
        if let Entry::Stopping { inside: None, cause } = line.entry {
            caused(history, &track, &count, &line, cause, verdicts);
        }
        swept(history, &track, &line, verdicts);
        count.read(history, &line);
        track.read(history, &line);
    }
    let policy = &history.definition.policy;
    if track.ended && track.stop.is_none() {
        let seq = history.lines().last().map_or(sprag_core::run::Seq(0), |line| line.seq);
        let reached = |limit: Option<u32>, counted: u32| limit.is_some_and(|limit| counted >= limit);
        let fast = policy.fail_fast == Some(true) && !track.unhandled(history).is_empty();
        if fast
            || reached(policy.max_node_failures, count.failures)
            || reached(policy.max_retries_exhausted, count.after_retries)
        {
            verdicts.add("R-EDGE-5", seq, "a rule should have stopped the run");
        }
    }
}

impl Count {
    fn read(&mut self, history: &History<'_>, line: &Line<'_>) {
        match line.entry {
            Entry::Created(_) => self.deadline = history.definition.policy.deadline.map(|length| line.at.plus(length)),
            Entry::DeadlineMoved { deadline } => {
                self.deadline = Some(*deadline);
                // It counts from now on, and so does the waiting that does not count against it.
                self.people_since = self.people_since.map(|_| line.at);
            }
            Entry::PeopleOnly { on: true } => self.people_since = Some(line.at),
            Entry::PeopleOnly { on: false } => {
                if let Some(since) = self.people_since.take() {
                    self.deadline = self.deadline.map(|deadline| deadline.plus(line.at.since(since)));
                }
            }
            Entry::Failed { node, error, due, .. } => {
                self.tries[node.at()] += u32::from(error.code.as_str() != "INTERRUPTED");
                if due.is_none() {
                    self.settle(node.at());
                }
            }
            Entry::Finalised { node } => self.settle(node.at()),
            _ => {}
        }
    }

    fn settle(&mut self, node: usize) {
        self.failures += 1;
        self.after_retries += u32::from(self.tries[node] > 1);
    }
}

fn caused(
    history: &History<'_>,
    track: &Track,
    count: &Count,
    line: &Line<'_>,
    cause: &StopCause,
    verdicts: &mut Verdicts,
) {
    let policy = &history.definition.policy;
    let fits = match cause {
        StopCause::FailFast { node } => {
            policy.fail_fast == Some(true) && track.unhandled(history).first() == Some(node)
        }
        StopCause::NodeFailures { count: named } => {
            *named == count.failures && policy.max_node_failures.is_some_and(|limit| *named >= limit)
        }
        StopCause::RetriesExhausted { count: named } => {
            *named == count.after_retries && policy.max_retries_exhausted.is_some_and(|limit| *named >= limit)
        }
        StopCause::PhaseFailed { .. }
        | StopCause::PhaseTimeout { .. }
        | StopCause::Timeout
        | StopCause::Superseded { .. } => true,
        StopCause::Deadline => count.people_since.is_none() && count.deadline.is_some_and(|due| due <= line.at),
        StopCause::Cancel { .. } => {
            let commit = &history.commits[line.commit].entries;
            commit.iter().any(|entry| {
                matches!(entry, Entry::Command(record) if record.refused.is_none()
                    && matches!(record.command.verb, sprag_core::run::Verb::Cancel { .. }))
            })
        }
    };
    if !fits {
        verdicts.add("R-EDGE-5", line.seq, format!("nothing stops the run: {cause:?}"));
    }
    if track.stop.as_ref().is_some_and(|before| strictness(before) >= strictness(cause)) {
        verdicts.add("R-EDGE-5", line.seq, format!("a milder stop takes over: {cause:?}"));
    }
}

const fn strictness(cause: &StopCause) -> u8 {
    match cause {
        StopCause::FailFast { .. }
        | StopCause::NodeFailures { .. }
        | StopCause::RetriesExhausted { .. }
        | StopCause::PhaseFailed { .. } => 0,
        StopCause::Deadline | StopCause::PhaseTimeout { .. } | StopCause::Timeout => 1,
        StopCause::Superseded { .. } | StopCause::Cancel { .. } => 2,
    }
}

/// What a stop does to a node, and that nothing else does it.
fn swept(history: &History<'_>, track: &Track, line: &Line<'_>, verdicts: &mut Verdicts) {
    let Some((node, to)) = moved(line.entry) else {
        if matches!(line.entry, Entry::Finalised { .. }) && track.stop.is_none() {
            verdicts.add("R-STATE-4", line.seq, "a retry is given up in a run that goes on");
        }
        return;
    };
    let level = track.stop.as_ref().map(strictness);
    let name = history.name(node);
    let from = track.of(node).state;
    let waits = from == NodeState::AwaitingApproval || !needs_slot(history, node);
    // Work that is done when the run stops, and whose gate is not asked any more, is cancelled as well.
    let gated = history.definition.nodes[node.at()].spec.approve.is_some();
    let wrong = match line.entry {
        Entry::Skipped { reason: SkipReason::RunStopped, cause, .. } => {
            !matches!(level, Some(0 | 1)) || cause.is_some()
        }
        Entry::Cancelled { cause: CancelCause::Stopped, .. } => match level {
            Some(2) => false,
            Some(0) => !waits && !gated,
            _ => true,
        },
        Entry::Failed { error, .. } if error.code.as_str() == "DEADLINE_EXCEEDED" => level != Some(1),
        Entry::Failed { due: Some(_), .. } | Entry::Ready { .. } | Entry::Started { .. } | Entry::Asked(_) => {
            level.is_some()
        }
        _ => false,
    };
    if wrong {
        verdicts.add("R-EDGE-5", line.seq, format!("`{name}` becomes {to} where the run's stop is {level:?}"));
    }
}
