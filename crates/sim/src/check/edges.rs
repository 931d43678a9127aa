//! I12: a node runs only if its join holds on how its sources ended, and is skipped only if it does not
//! (`R-EDGE-1`, `R-EDGE-2`, `R-EDGE-4`, `R-STATE-5`).

use sprag_core::file::Join;
use sprag_core::graph::{EdgeIndex, NodeIndex};
use sprag_core::run::{Entry, NodeState, SkipReason, Verdict};

use super::case::Case;
use super::history::{Line, Verdicts};
use super::outputs::Outputs;
use super::track::{Track, continues};

/// How many conditions are tried in all combinations; beyond that a skip is believed.
const MOST_UNKNOWN: usize = 10;

/// An edge into a node that is being decided.
#[derive(Debug, Clone, Copy)]
struct Edge {
    index: EdgeIndex,
    from: NodeIndex,
    /// Whether its `when` holds.
    open: bool,
    conditional: bool,
}

pub(super) fn check(history: &Case<'_>, verdicts: &mut Verdicts) {
    let mut track = Track::new(history);
    let mut outputs = Outputs::new(history);
    for line in &history.lines {
        match line.entry {
            Entry::Ready { node, verdict } if track.of(*node).state == NodeState::Pending => {
                conditions(history, &track, &outputs, line, *node, verdict.as_deref(), verdicts);
                let unmet = verdict.as_ref().map(|verdict| verdict.unmet.as_slice()).unwrap_or_default();
                let doomed = verdict.as_ref().is_some_and(|verdict| verdict.doomed.is_some());
                ready(history, &track, line, *node, (unmet, doomed), verdicts);
            }
            Entry::Skipped { node, reason, cause } if *reason != SkipReason::RunStopped => {
                skipped(history, &track, line, *node, (*reason, *cause), verdicts);
            }
            _ => {}
        }
        outputs.read(history, &track, line);
        track.read(history, line);
    }
}

/// Conditions that can be understood here say what the verdict says they do.
fn conditions(
    history: &Case<'_>,
    track: &Track,
    outputs: &Outputs,
    line: &Line<'_>,
    node: NodeIndex,
    verdict: Option<&Verdict>,
    verdicts: &mut Verdicts,
) {
    if verdict.is_some_and(|verdict| verdict.doomed.is_some()) {
        return;
    }
    for (index, row, from) in history.edges_into(node) {
        let Some(text) = row.condition.as_deref().filter(|_| track.when_holds(history, from, row.when)) else {
            continue;
        };
        let own = outputs.of(history, track, from);
        let holds = outputs.value(history, track, (node, Some(&own)), text).and_then(|value| value.as_bool());
        let unmet = verdict.is_some_and(|verdict| verdict.unmet.contains(&index));
        if holds == Some(unmet) {
            verdicts.add(
                "R-EDGE-1",
                line.seq,
                format!("`{}` is ready, and `{text}` is {}", history.name(node), !unmet),
            );
        }
    }
}

/// The edges into a node; nothing, and a verdict, if a source is not settled yet.
fn edges(
    history: &Case<'_>,
    track: &Track,
    line: &Line<'_>,
    node: NodeIndex,
    verdicts: &mut Verdicts,
) -> Option<Vec<Edge>> {
    let mut edges = Vec::new();
    for (index, row, from) in history.edges_into(node) {
        if !track.of(from).settled {
            let (name, source) = (history.name(node), history.name(from));
            verdicts.add("I12", line.seq, format!("`{name}` is decided before `{source}` is settled"));
            return None;
        }
        let open = track.when_holds(history, from, row.when);
        edges.push(Edge { index, from, open, conditional: row.condition.is_some() });
    }
    Some(edges)
}

fn ready(
    history: &Case<'_>,
    track: &Track,
    line: &Line<'_>,
    node: NodeIndex,
    (unmet, doomed): (&[EdgeIndex], bool),
    verdicts: &mut Verdicts,
) {
    let Some(edges) = edges(history, track, line, node, verdicts) else { return };
    let name = history.name(node);
    for index in unmet {
        if !edges.iter().any(|edge| edge.index == *index && edge.open && edge.conditional) {
            verdicts.add("I12", line.seq, format!("`{name}` blames the condition of edge {}", index.0));
        }
    }
    if doomed && !edges.iter().any(|edge| edge.open && edge.conditional) {
        verdicts.add("I12", line.seq, format!("`{name}` has a condition with an error, and no condition"));
    }
    let holds = |edge: &Edge| edge.open && !unmet.contains(&edge.index);
    if !doomed && !joined(history, track, node, &edges, &holds) {
        verdicts.add("I12", line.seq, format!("`{name}` is ready, and its join does not hold"));
    }
}

fn skipped(
    history: &Case<'_>,
    track: &Track,
    line: &Line<'_>,
    node: NodeIndex,
    (reason, cause): (SkipReason, Option<NodeIndex>),
    verdicts: &mut Verdicts,
) {
    let name = history.name(node);
    if track.of(node).state != NodeState::Pending {
        verdicts.add("I12", line.seq, format!("`{name}` was decided before it is skipped"));
    }
    let Some(edges) = edges(history, track, line, node, verdicts) else { return };
    // What its conditions said is not stored with a skip, so any way in which they may have turned out explains it.
    let unknown: Vec<_> = edges.iter().filter(|edge| edge.open && edge.conditional).map(|edge| edge.index).collect();
    if unknown.len() > MOST_UNKNOWN {
        return;
    }
    let explained = (0..1_u32 << unknown.len()).any(|met| {
        let unmet = |index: EdgeIndex| unknown.iter().position(|of| *of == index).is_some_and(|at| met >> at & 1 == 0);
        let holds = |edge: &Edge| edge.open && !unmet(edge.index);
        !joined(history, track, node, &edges, &holds)
            && cause.is_some_and(|cause| blames(history, track, node, &edges, &holds, (reason, cause)))
    });
    if !explained {
        let cause = cause.map(|cause| history.name(cause));
        verdicts.add("I12", line.seq, format!("nothing explains why `{name}` is skipped: {reason:?} {cause:?}"));
    }
}

fn join_of(history: &Case<'_>, node: NodeIndex) -> Join {
    history.compiled(node).spec.join.unwrap_or(Join::All)
}

/// Whether `none_failed` sees a failure in this source.
fn spoils(history: &Case<'_>, track: &Track, source: NodeIndex) -> bool {
    track.is_failure(source) && !continues(history, source)
}

fn joined(history: &Case<'_>, track: &Track, node: NodeIndex, edges: &[Edge], holds: &dyn Fn(&Edge) -> bool) -> bool {
    if edges.is_empty() {
        return true;
    }
    match join_of(history, node) {
        Join::All => edges.iter().all(holds),
        Join::Any => edges.iter().any(holds),
        Join::NoneFailed => {
            let completed = |edge: &Edge| {
                holds(edge) && (track.of(edge.from).state == NodeState::Completed || track.is_failure(edge.from))
            };
            !edges.iter().any(|edge| spoils(history, track, edge.from)) && edges.iter().any(completed)
        }
    }
}

/// Whether this is the reason and the source to name: the smallest id among the edges that are to blame.
fn blames(
    history: &Case<'_>,
    track: &Track,
    node: NodeIndex,
    edges: &[Edge],
    holds: &dyn Fn(&Edge) -> bool,
    (reason, cause): (SkipReason, NodeIndex),
) -> bool {
    let smallest = |wanted: &dyn Fn(&Edge) -> bool| {
        let blamed = edges.iter().filter(|edge| wanted(edge)).map(|edge| edge.from);
        blamed.min_by_key(|source| history.rank(*source))
    };
    let not_holding = smallest(&|edge| !holds(edge));
    let blamed = match join_of(history, node) {
        Join::All | Join::Any => not_holding,
        Join::NoneFailed => match smallest(&|edge| spoils(history, track, edge.from)) {
            Some(spoiler) => Some(spoiler),
            // Every edge may hold without any source having completed; then all are to blame.
            None => not_holding.or_else(|| smallest(&|_| true)),
        },
    };
    let expected = match track.of(cause).state {
        NodeState::Completed => SkipReason::ConditionNotMet,
        NodeState::Failed => SkipReason::DependencyFailed,
        NodeState::Skipped => SkipReason::DependencySkipped,
        NodeState::Cancelled => SkipReason::DependencyCancelled,
        _ => return false,
    };
    blamed == Some(cause) && reason == expected
}
