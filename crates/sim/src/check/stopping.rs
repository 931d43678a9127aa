//! Stops: they have a cause, and do to each node what the table says (`R-EDGE-5`, `R-EDGE-6`). They are judged graph by
//! graph: the run's own, and those inside its nodes.

use sprag_core::graph::NodeIndex;
use sprag_core::run::{CancelCause, Entry, NodeState, Seq, SkipReason, StopCause};

use super::case::Case;
use super::history::{Line, Verdicts};
use super::track::{Track, moved, needs_slot, strictness};

/// What stop rules count, for each graph and each node.
#[derive(Debug)]
struct Count {
    /// Final failures in a graph and inside it.
    failures: Vec<u32>,
    /// Those of them that had used more than one attempt.
    after_retries: Vec<u32>,
    /// Attempts of each node that failed without being interrupted.
    tries: Vec<u32>,
}

pub(super) fn check(history: &Case<'_>, verdicts: &mut Verdicts) {
    let mut track = Track::new(history);
    let levels = history.levels.len();
    let mut count =
        Count { failures: vec![0; levels], after_retries: vec![0; levels], tries: vec![0; history.count()] };
    for line in &history.lines {
        if let Entry::Stopping { inside, cause } = line.entry {
            match inside.map_or(Some(0), |node| track.nodes.get(node.at())?.inside) {
                Some(level) => caused(history, &track, &count, line, (level, cause), verdicts),
                None => verdicts.add("R-EDGE-5", line.seq, "a graph stops that is not there"),
            }
        }
        swept(history, &track, line, verdicts);
        count.read(history, &track, line);
        track.read(history, line);
    }
    let seq = history.lines.last().map_or(Seq(0), |line| line.seq);
    left(history, &track, seq, verdicts);
    for level in 0..track.opened {
        let rules = &history.levels[level].rules;
        let parent = history.levels[level].parent;
        let over = parent.map_or(track.ended, |parent| track.of(parent).settled);
        // What a stricter stop around it ends is not asked for a cause of its own.
        let cut = history.chain(level).any(|at| track.stops[at].as_ref().is_some_and(|stop| strictness(stop) > 0));
        if !over || cut || track.stops[level].is_some() {
            continue;
        }
        let reached = |limit: Option<u32>, counted: u32| limit.is_some_and(|limit| counted >= limit);
        // What an earlier run left is no reason to stop.
        if (rules.fail_fast && track.unhandled(history, level).iter().any(|node| !track.of(*node).kept))
            || reached(rules.max_node_failures, count.failures[level])
            || reached(rules.max_retries_exhausted, count.after_retries[level])
        {
            let around = parent.map(|parent| history.name(parent));
            verdicts.add("R-EDGE-5", seq, format!("a rule should have stopped the run, inside: {around:?}"));
        }
    }
}

/// A stop leaves nothing behind that it does not leave alone.
fn left(history: &Case<'_>, track: &Track, seq: Seq, verdicts: &mut Verdicts) {
    for node in history.all() {
        let known = track.of(node);
        let wrong = match track.stopped(history, node) {
            None => false,
            Some(0) => matches!(known.state, NodeState::Pending | NodeState::Ready),
            Some(_) => !known.settled,
        };
        if wrong {
            let name = history.name(node);
            verdicts.add("R-EDGE-5", seq, format!("`{name}` is left {} in a graph that stops", known.state));
        }
    }
}

impl Count {
    fn read(&mut self, history: &Case<'_>, track: &Track, line: &Line<'_>) {
        match line.entry {
            Entry::Failed { node, error, due, .. } => {
                self.tries[node.at()] += u32::from(error.code.as_str() != "INTERRUPTED");
                if due.is_none() {
                    self.settle(history, track, *node);
                }
            }
            Entry::Decomposing { node, .. } => self.tries[node.at()] += 1,
            Entry::Finalised { node } => self.settle(history, track, *node),
            _ => {}
        }
    }

    /// A failure counts once, in its graph and in all around it: a node that fails with its children's does not add one.
    fn settle(&mut self, history: &Case<'_>, track: &Track, node: NodeIndex) {
        // Also if a person was asked about it in between.
        let inside = track.of(node).inside.filter(|_| !track.of(node).gathered);
        if inside.is_some_and(|inside| !track.unhandled(history, inside).is_empty()) {
            return;
        }
        for level in history.chain(history.level_of(node)) {
            self.failures[level] += 1;
            self.after_retries[level] += u32::from(self.tries[node.at()] > 1);
        }
    }
}

fn caused(
    history: &Case<'_>,
    track: &Track,
    count: &Count,
    line: &Line<'_>,
    (level, cause): (usize, &StopCause),
    verdicts: &mut Verdicts,
) {
    let rules = &history.levels[level].rules;
    let fits = match cause {
        StopCause::FailFast { node } => {
            let open = track.unhandled(history, level).into_iter().find(|open| !track.of(*open).kept);
            rules.fail_fast && open == Some(*node)
        }
        StopCause::NodeFailures { count: named } => {
            *named == count.failures[level] && rules.max_node_failures.is_some_and(|limit| *named >= limit)
        }
        StopCause::RetriesExhausted { count: named } => {
            *named == count.after_retries[level] && rules.max_retries_exhausted.is_some_and(|limit| *named >= limit)
        }
        StopCause::PhaseFailed { phase } => {
            let mut own = history.levels[level].nodes().filter(|node| history.phase(*node) == *phase);
            own.all(|node| track.of(node).settled) && !rules.fail_open && !track.unhandled(history, level).is_empty()
        }
        // Whether it was time is judged elsewhere.
        StopCause::PhaseTimeout { .. } | StopCause::Timeout | StopCause::Deadline | StopCause::Superseded { .. } => {
            true
        }
        StopCause::Cancel { .. } => {
            let commit = &history.commits[line.commit].entries;
            level == 0
                && commit.iter().any(|entry| {
                    matches!(entry, Entry::Command(record) if record.refused.is_none()
                    && matches!(record.command.verb, sprag_core::run::Verb::Cancel { .. }))
                })
        }
    };
    if !fits {
        verdicts.add("R-EDGE-5", line.seq, format!("nothing stops the run: {cause:?}"));
    }
    if track.stops[level].as_ref().is_some_and(|before| strictness(before) >= strictness(cause)) {
        verdicts.add("R-EDGE-5", line.seq, format!("a milder stop takes over: {cause:?}"));
    }
}

/// What a stop does to a node, and that nothing else does it.
fn swept(history: &Case<'_>, track: &Track, line: &Line<'_>, verdicts: &mut Verdicts) {
    let Some((node, to)) = moved(line.entry) else {
        if let Entry::Finalised { node } = line.entry
            && track.stopped(history, *node).is_none()
        {
            verdicts.add("R-STATE-4", line.seq, "a retry is given up in a run that goes on");
        }
        return;
    };
    let level = track.stopped(history, node);
    let name = history.name(node);
    let from = track.of(node).state;
    let waits = from == NodeState::AwaitingApproval || !needs_slot(history, node);
    // Work that is done when the run stops, and whose gate is not asked any more, is cancelled as well.
    let gated = history.compiled(node).spec.approve.is_some();
    let wrong = match line.entry {
        Entry::Skipped { reason: SkipReason::RunStopped, cause, .. } => {
            !matches!(level, Some(0 | 1)) || cause.is_some()
        }
        Entry::Cancelled { cause: CancelCause::Stopped, .. } => match level {
            Some(2) => false,
            // What grows is cancelled if it is kept from growing, or its children were kept from running.
            Some(0) => !waits && !gated && !track.of(node).splits && !history.compiled(node).kind.grows(),
            _ => true,
        },
        // A node may fail with the error of its children.
        Entry::Failed { error, .. }
            if error.code.as_str() == "DEADLINE_EXCEEDED"
                && !track.waits_for_children(node)
                && !history.asks_again(node) =>
        {
            level != Some(1)
        }
        Entry::Failed { due: Some(_), .. } | Entry::Ready { .. } | Entry::Started { .. } | Entry::Asked(_) => {
            level.is_some()
        }
        _ => false,
    };
    if wrong {
        verdicts.add("R-EDGE-5", line.seq, format!("`{name}` becomes {to} where the run's stop is {level:?}"));
    }
}
