//! Edges and joins: what lets a node run (`R-EDGE-1`, `R-EDGE-2`, `R-EDGE-4`). Pure functions over how sources ended.

use super::cause::{CancelCause, SkipReason};
use crate::file::{Join, When};
use crate::graph::NodeIndex;

/// How a source ended, as its edges see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceEnd {
    /// It has a result.
    Completed,
    /// It failed for good.
    Failed,
    /// It failed for good, and its `continue_on_error` lets dependents go on.
    FailedContinued,
    /// It did not run.
    Skipped,
    /// It was taken out of the run.
    Cancelled(CancelCause),
    /// Its gate was rejected or timed out, and its `continue_on_error` lets dependents go on.
    CancelledContinued(CancelCause),
}

impl SourceEnd {
    /// Whether an edge with this `when` holds, its condition aside (`R-EDGE-1`, `R-EDGE-4`).
    pub const fn lets(self, when: When) -> bool {
        match when {
            When::Always => true,
            When::OnSuccess => matches!(self, Self::Completed | Self::FailedContinued | Self::CancelledContinued(_)),
            When::OnFailure => match self {
                Self::Failed | Self::FailedContinued | Self::CancelledContinued(_) => true,
                Self::Cancelled(cause) => cause.is_failure(),
                Self::Completed | Self::Skipped => false,
            },
            When::Skip => matches!(self, Self::Skipped | Self::Cancelled(CancelCause::SkippedByPerson)),
        }
    }

    /// Whether `none_failed` sees a failure (`R-EDGE-2`, `R-EDGE-4`).
    const fn spoils(self) -> bool {
        match self {
            Self::Failed => true,
            Self::Cancelled(cause) => cause.is_failure(),
            Self::Completed | Self::FailedContinued | Self::Skipped | Self::CancelledContinued(_) => false,
        }
    }

    /// Whether `none_failed` sees a completed source (`R-EDGE-4`).
    const fn counts_as_completed(self) -> bool {
        matches!(self, Self::Completed | Self::FailedContinued | Self::CancelledContinued(_))
    }

    /// Why a target is skipped when its edge from this source does not hold (`R-STATE-5`).
    const fn reason(self) -> SkipReason {
        match self {
            Self::Completed => SkipReason::ConditionNotMet,
            Self::Failed | Self::FailedContinued => SkipReason::DependencyFailed,
            Self::Skipped => SkipReason::DependencySkipped,
            Self::Cancelled(_) | Self::CancelledContinued(_) => SkipReason::DependencyCancelled,
        }
    }
}

/// A decided edge into a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecidedEdge {
    /// Where it comes from.
    pub source: NodeIndex,
    /// How that ended.
    pub end: SourceEnd,
    /// Whether its `when` and its condition hold.
    pub holds: bool,
}

/// What a join says of a node whose edges are all decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joined {
    /// It may run.
    Runs,
    /// It is skipped, because of this source.
    Skipped(SkipReason, NodeIndex),
}

/// Decides a node by its join. A node without edges runs.
pub fn join(join: Join, edges: &[DecidedEdge]) -> Joined {
    if edges.is_empty() {
        return Joined::Runs;
    }
    let culprit = match join {
        Join::All => first(edges, |edge| !edge.holds),
        Join::Any if edges.iter().any(|edge| edge.holds) => None,
        Join::Any => first(edges, |_| true),
        Join::NoneFailed => first(edges, |edge| edge.end.spoils()).or_else(|| {
            let some = edges.iter().any(|edge| edge.holds && edge.end.counts_as_completed());
            if some { None } else { first(edges, |edge| !edge.holds).or_else(|| first(edges, |_| true)) }
        }),
    };
    culprit.map_or(Joined::Runs, |edge| Joined::Skipped(edge.end.reason(), edge.source))
}

/// With several causes the smallest id names the reason (`R-STATE-5`).
fn first(edges: &[DecidedEdge], wanted: impl Fn(&DecidedEdge) -> bool) -> Option<&DecidedEdge> {
    edges.iter().filter(|edge| wanted(edge)).min_by_key(|edge| edge.source)
}
