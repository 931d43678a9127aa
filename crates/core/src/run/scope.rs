//! What expressions may read of a run (`R-EXPR-1`, `R-EXPR-3`).

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::class::Class;
use super::failure::NodeError;
use super::fold::Run;
use super::level::Origin;
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
    /// An `output` that no node has yet.
    output: Option<&'run Value>,
}

impl<'run> Scope<'run> {
    /// For the condition of an edge.
    pub const fn of_edge(run: &'run Run, source: NodeIndex, target: NodeIndex) -> Self {
        Self { run, reader: target, source: Some(source), output: None }
    }

    /// For a node's body: `error` and `output` are those of the holding edge with the smallest source.
    pub fn of_node(run: &'run Run, node: NodeIndex) -> Self {
        let seat = run.seat(node);
        let source = run.edges_into(seat).filter(|(edge, ..)| run.holds(seat, *edge)).map(|(.., from)| from).min();
        Self { run, reader: node, source, output: None }
    }

    /// For `approve`, `evaluate` and `expect`: `output` is the node's own.
    pub const fn of_own_output(run: &'run Run, node: NodeIndex) -> Self {
        Self { run, reader: node, source: Some(node), output: None }
    }

    /// For `until`: `output` is what the last iteration gave.
    pub const fn of_iteration(run: &'run Run, node: NodeIndex, output: &'run Value) -> Self {
        Self { run, reader: node, source: Some(node), output: Some(output) }
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

    /// A node by its id, in the graph that the reader belongs to.
    fn find(&self, id: &str) -> Option<NodeIndex> {
        let level = self.run.level(self.run.seat(self.reader));
        Some(level.global(level.body.graph.find(id)?))
    }
}

impl Names for Scope<'_> {
    fn value(&self, root: &str, paths: &[Vec<String>]) -> Option<Cow<'_, Value>> {
        let run = self.run;
        let created = run.created.as_deref()?;
        Some(Cow::Owned(match root {
            "params" => {
                Value::Object(run.params_of(self.reader)?.iter().map(|(k, v)| (k.clone(), v.clone())).collect())
            }
            "context" => run.context_of(self.reader),
            "nodes" => {
                let named = paths.iter().filter_map(|path| path.first());
                let found = named.filter_map(|id| Some((id.clone(), self.node(self.find(id)?))));
                Value::Object(found.collect())
            }
            "output" => {
                if let Some(output) = self.output {
                    return Some(Cow::Borrowed(output));
                }
                return run.output(self.source?).map_or(Some(Cow::Owned(Value::Null)), |v| Some(Cow::Borrowed(v)));
            }
            "error" => self.error(self.source?),
            "item" => return run.item(self.reader).map(|(item, _)| Cow::Borrowed(item)),
            "index" => return run.item(self.reader).map(|(_, index)| Cow::Owned(Value::from(index))),
            "phase" => run.phase_of(self.reader)?,
            "run" => json!({
                "id": created.run.to_string(),
                "workflow": created.workflow.as_str(),
                "version": run.definition().version,
                "retry_count": created.retry_count,
                "previous_run_id": created.previous_run,
            }),
            _ => return None,
        }))
    }
}

impl Run {
    /// The node whose names a node sees: a copy of a `map` sees those of the `map` itself.
    fn seat(&self, node: NodeIndex) -> NodeIndex {
        let level = self.level(node);
        match (&level.origin, level.parent) {
            (Origin::Items(_), Some(parent)) => self.seat(parent),
            _ => node,
        }
    }

    /// The item that a node is a copy for, and its place in the list.
    fn item(&self, node: NodeIndex) -> Option<(&Value, u32)> {
        let level = self.level(node);
        let Origin::Items(items) = &level.origin else { return None };
        let index = level.local(node);
        Some((items.get(index.at())?, index.0))
    }

    /// The parameters that a node sees: those of the workflow, or of the sub-workflow it is in.
    pub fn params_of(&self, node: NodeIndex) -> Option<&BTreeMap<String, Value>> {
        let level = self.level(node);
        match (&level.origin, level.parent) {
            (Origin::Graph { params, .. }, _) => Some(params),
            (Origin::Items(_) | Origin::Grown(_), Some(parent)) => self.params_of(parent),
            _ => self.created.as_ref().map(|created| &created.params),
        }
    }

    /// The phase that a node is in, where its graph has phases.
    fn phase_of(&self, node: NodeIndex) -> Option<Value> {
        let seat = self.seat(node);
        let level = self.level(seat);
        let index = level.body.graph.phase(level.local(seat));
        let phase = level.body.phases.get(usize::from(index))?;
        Some(json!({ "name": phase.name.as_str(), "index": index }))
    }

    /// What a command reads from `SPRAG_INPUT` (`R-CMD-1`): the parameters, the context it sees, its direct
    /// dependencies, what its last attempt was told to do better, and the item it is a copy for.
    pub fn input_of(&self, node: NodeIndex) -> Value {
        let scope = Scope::of_node(self, node);
        let seat = self.seat(node);
        let level = self.level(seat);
        let sources = self.edges_into(seat).map(|(.., from)| from);
        let nodes: serde_json::Map<_, _> =
            sources.map(|source| (level.body.graph.id(level.local(source)).to_string(), scope.node(source))).collect();
        let mut input = json!({
            "params": self.params_of(node),
            "context": self.context_of(node),
            "nodes": nodes,
            "feedback": self.feedback_of(node),
        });
        if let (Some((item, index)), Some(parts)) = (self.item(node), input.as_object_mut()) {
            parts.insert("item".to_owned(), item.clone());
            parts.insert("index".to_owned(), Value::from(index));
        }
        input
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
            return self.compiled(node).spec.fallback.as_ref().map(|fallback| &fallback.0);
        }
        let there = matches!(
            record.state,
            NodeState::Completed | NodeState::Running | NodeState::AwaitingApproval | NodeState::Approved
        );
        record.rare().output.as_deref().filter(|_| there)
    }
}
