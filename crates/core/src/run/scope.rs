//! What expressions may read of a run (`R-EXPR-1`, `R-EXPR-3`).

use std::borrow::Cow;

use serde_json::{Value, json};

use super::class::Class;
use super::failure::NodeError;
use super::fold::Run;
use super::state::NodeState;
use crate::expr::Names;
use crate::graph::NodeIndex;

/// The names that one expression sees.
#[derive(Debug)]
pub struct Scope<'run> {
    run: &'run Run,
    reader: NodeIndex,
    /// Whose `error` and `output` are meant.
    source: Option<NodeIndex>,
}

impl<'run> Scope<'run> {
    /// For the condition of an edge.
    pub const fn of_edge(run: &'run Run, source: NodeIndex, target: NodeIndex) -> Self {
        Self { run, reader: target, source: Some(source) }
    }

    /// For a node's body: `error` and `output` are those of the holding edge with the smallest source.
    pub fn of_node(run: &'run Run, node: NodeIndex) -> Self {
        let graph = &run.definition.graph;
        let source =
            graph.edges_into_with_index(node).filter(|(edge, _)| run.holds(node, *edge)).map(|(_, row)| row.from).min();
        Self { run, reader: node, source }
    }

    /// For `approve`, `evaluate`, `expect` and `until`: `output` is the node's own.
    pub const fn of_own_output(run: &'run Run, node: NodeIndex) -> Self {
        Self { run, reader: node, source: Some(node) }
    }

    fn node(&self, node: NodeIndex) -> Value {
        json!({
            "output": self.run.output(node),
            "state": self.run.state(node).as_str(),
            "error": self.error(node),
            "attempts": self.run.attempt(node),
        })
    }

    fn error(&self, node: NodeIndex) -> Value {
        self.run.error(node).map_or(Value::Null, |error| error_value(&error))
    }
}

impl Names for Scope<'_> {
    fn value(&self, root: &str, paths: &[Vec<String>]) -> Option<Cow<'_, Value>> {
        let run = self.run;
        let created = run.created.as_deref()?;
        Some(Cow::Owned(match root {
            "params" => Value::Object(created.params.iter().map(|(k, v)| (k.clone(), v.clone())).collect()),
            "context" => run.context.seen_by(&run.definition.graph, self.reader),
            "nodes" => {
                let named = paths.iter().filter_map(|path| path.first());
                let found = named.filter_map(|id| Some((id.clone(), self.node(run.definition.graph.find(id)?))));
                Value::Object(found.collect())
            }
            "output" => {
                return run.output(self.source?).map_or(Some(Cow::Owned(Value::Null)), |v| Some(Cow::Borrowed(v)));
            }
            "error" => self.error(self.source?),
            "run" => json!({
                "id": created.run.to_string(),
                "workflow": created.workflow.as_str(),
                "version": run.definition.version,
                "retry_count": created.retry_count,
                "previous_run_id": created.previous_run,
            }),
            _ => return None,
        }))
    }
}

impl Run {
    /// What a command reads from `SPRAG_INPUT` (`R-CMD-1`): the parameters, the context it sees, its direct
    /// dependencies, and what its last attempt was told to do better.
    pub fn input_of(&self, node: NodeIndex) -> Value {
        let scope = Scope::of_node(self, node);
        let graph = &self.definition.graph;
        let sources = graph.edges_into(node).iter().map(|edge| edge.from);
        let nodes: serde_json::Map<_, _> =
            sources.map(|source| (graph.id(source).to_string(), scope.node(source))).collect();
        let feedback = self.nodes[node.at()].rare().error.as_ref().map(|error| error.feedback.as_slice());
        json!({
            "params": self.created.as_ref().map(|created| &created.params),
            "context": self.context_of(node),
            "nodes": nodes,
            "feedback": feedback.unwrap_or_default(),
        })
    }
}

fn error_value(error: &NodeError) -> Value {
    json!({
        "code": error.code.as_str(),
        "message": error.message,
        "class": Class::of(&error.code).as_str(),
        "feedback": error.feedback,
        "grade": error.grade,
    })
}

impl Run {
    /// What expressions see of a node's output: null unless it completed, except `R-EDGE-4`.
    pub fn output(&self, node: NodeIndex) -> Option<&Value> {
        let record = &self.nodes[node.at()];
        if record.has_failed() && self.continues_on_error(node) {
            return self.definition.node(node).spec.fallback.as_ref().map(|fallback| &fallback.0);
        }
        let there = matches!(
            record.state,
            NodeState::Completed | NodeState::Running | NodeState::AwaitingApproval | NodeState::Approved
        );
        record.rare().output.as_deref().filter(|_| there)
    }
}
