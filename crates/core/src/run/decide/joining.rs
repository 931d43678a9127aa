//! Deciding nodes whose sources are all settled (`R-EDGE-1`, `R-EDGE-2`).

use crate::expr;
use crate::graph::{EdgeIndex, NodeIndex};
use crate::run::class::Known;
use crate::run::edges::{DecidedEdge, Joined, SourceEnd, join};
use crate::run::entry::Entry;
use crate::run::failure::NodeError;
use crate::run::fold::Run;
use crate::run::parts::Verdict;
use crate::run::scope::Scope;
use crate::run::state::NodeState;

impl Run {
    /// All nodes that wait for nothing but this decision. They do not depend on each other: all their sources are
    /// settled.
    pub(super) fn join_undecided(&self) -> Vec<Entry> {
        self.undecided.iter().map(|node| self.join_node(*node)).collect()
    }

    fn join_node(&self, node: NodeIndex) -> Entry {
        let mut verdict = Verdict::default();
        let mut edges = Vec::new();
        for (index, edge, source) in self.edges_into(node) {
            let Some(end) = self.source_end(source) else { continue };
            let mut holds = end.lets(edge.when);
            if holds && let Some(condition) = &edge.condition {
                match expr::holds(condition, &Scope::of_edge(self, source, node)) {
                    Ok(true) => {}
                    Ok(false) => {
                        holds = false;
                        verdict.unmet.push(index);
                    }
                    Err(error) => {
                        holds = false;
                        verdict.unmet.push(index);
                        let from = self.level(node).body.graph.id(edge.from);
                        let message = format!("the condition on the edge from `{from}` has no value: {error}");
                        let error = NodeError::new(Known::CONDITION_ERROR, message);
                        verdict.doomed.get_or_insert(Box::new(error));
                    }
                }
            }
            edges.push(DecidedEdge { source, end, holds });
        }
        let joined = join(self.compiled(node).spec.join.unwrap_or_default(), &edges);
        match joined {
            Joined::Skipped(reason, cause) if verdict.doomed.is_none() => {
                Entry::Skipped { node, reason, cause: Some(cause) }
            }
            _ => {
                let verdict = (verdict != Verdict::default()).then(|| Box::new(verdict));
                Entry::Ready { node, verdict }
            }
        }
    }

    /// How a node ended, as its edges see it; nothing before it is settled.
    pub(in crate::run) fn source_end(&self, node: NodeIndex) -> Option<SourceEnd> {
        let record = &self.nodes[node.at()];
        if !record.settled {
            return None;
        }
        let continues = self.continues_on_error(node);
        match (record.state, record.cancelled) {
            (NodeState::Completed, _) => Some(SourceEnd::Completed),
            (NodeState::Failed, _) if continues => Some(SourceEnd::FailedContinued),
            (NodeState::Failed, _) => Some(SourceEnd::Failed),
            (NodeState::Skipped, _) => Some(SourceEnd::Skipped),
            (NodeState::Cancelled, Some(cause)) if cause.is_failure() && continues => {
                Some(SourceEnd::CancelledContinued(cause))
            }
            (NodeState::Cancelled, Some(cause)) => Some(SourceEnd::Cancelled(cause)),
            _ => None,
        }
    }

    /// Whether a decided edge into a node holds.
    pub(in crate::run) fn holds(&self, node: NodeIndex, edge: EdgeIndex) -> bool {
        let level = self.level(node);
        let row = &level.body.graph.edges()[edge.0 as usize];
        let unmet = self.nodes[node.at()].found_unmet(edge);
        self.source_end(level.global(row.from)).is_some_and(|end| end.lets(row.when)) && !unmet
    }
}
