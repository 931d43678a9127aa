//! Nodes that become graphs, and what becomes of them when those are over (`R-GROW-1`, `R-GROW-2`).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::definition::Kind;
use crate::expr;
use crate::file::{Json, ParamName};
use crate::graph::NodeIndex;
use crate::params::{Given, resolve};
use crate::run::cause::{CancelCause, StopCause};
use crate::run::class::Known;
use crate::run::entry::Entry;
use crate::run::failure::NodeError;
use crate::run::fold::{Run, count};
use crate::run::growing::body_digest;
use crate::run::ids::Timestamp;
use crate::run::input::Stage;
use crate::run::level::Origin;
use crate::run::parts::{Expansion, Growth};
use crate::run::scope::Scope;

impl Run {
    /// A node becomes the graph of its children, or fails before any of them exists.
    pub(super) fn grows(&self, now: Timestamp, node: NodeIndex) -> Vec<Entry> {
        if self.is_stopping(node) {
            return vec![Entry::Cancelled { node, cause: CancelCause::Stopped }];
        }
        let round = u32::from(self.compiled(node).kind == Kind::Loop);
        match self.growth(node).and_then(|of| self.expansion(node, round, of)) {
            Ok(expanded) => vec![expanded],
            Err(error) => self.fails(now, node, error),
        }
    }

    /// What a node becomes.
    fn growth(&self, node: NodeIndex) -> Result<Growth, NodeError> {
        let spec = &self.compiled(node).spec;
        if let Some(map) = &spec.map {
            let wrong = |what: String| NodeError::new(Known::CONDITION_ERROR, format!("`map.over` {what}"));
            let scope = Scope::of_node(self, node);
            let value = expr::plain(&map.over.0, &scope).map_or_else(|| expr::value(&map.over.0, &scope), Ok);
            return match value.map_err(|error| wrong(format!("has no value: {error}")))? {
                Value::Array(items) => Ok(Growth::Items(Arc::new(items))),
                other => Err(wrong(format!("is {}, not a list", kind_of(&other)))),
            };
        }
        let handed = match (&spec.workflow, &spec.repeat) {
            (Some(_), _) => &spec.params,
            (None, Some(repeat)) => &repeat.params,
            (None, None) => {
                let produced = self.nodes[node.at()].rare().output.clone().unwrap_or_default();
                return Ok(Growth::Body(body_digest(&produced)));
            }
        };
        self.handed(node, handed).map(Growth::Params)
    }

    /// The parameters that a sub-workflow begins with: what its node hands over, the rest by default.
    fn handed(
        &self,
        node: NodeIndex,
        handed: &BTreeMap<ParamName, Json>,
    ) -> Result<BTreeMap<String, Value>, NodeError> {
        let wrong = |what: String| NodeError::new(Known::CONDITION_ERROR, what);
        let scope = Scope::of_node(self, node);
        let mut given = BTreeMap::new();
        for (name, value) in handed {
            let value = expr::json(&value.0, &scope);
            let value = value.map_err(|error| wrong(format!("the parameter `{name}` has no value: {error}")))?;
            given.insert(name.to_string(), Given::Value(value));
        }
        let body = self.graph_inside(node).ok_or_else(|| {
            NodeError::new(Known::MISSING_DEPENDENCY, "the sub-workflow that it names is not stored with the run")
        })?;
        resolve(&body.params, given).map_err(|problems| {
            let told: Vec<_> = problems.into_iter().map(|problem| problem.message).collect();
            wrong(format!("the sub-workflow cannot begin: {}", told.join("; ")))
        })
    }

    /// The entry that lets a node grow, if the run is not too large or too deep for it (`R-GROW-1`).
    fn expansion(&self, node: NodeIndex, round: u32, of: Growth) -> Result<Entry, NodeError> {
        let limits = self.created.as_ref().map(|created| created.growth).unwrap_or_default();
        let refused = |what: String| Err(NodeError::new(Known::INVALID_OUTPUT, what));
        if self.level(node).depth >= limits.depth {
            return refused(format!("it would grow more than {} levels deep", limits.depth));
        }
        let children = match &of {
            Growth::Items(items) => count(items.len()),
            Growth::Params(_) | Growth::Body(_) => count(self.body_of(node, &of)?.0.graph.len()),
        };
        if u64::from(children) + self.nodes.len() as u64 > u64::from(limits.nodes) {
            let so_far = self.nodes.len();
            let limit = limits.nodes;
            return refused(format!("it would grow by {children} to more than {limit} nodes; the run has {so_far}"));
        }
        let attempt = self.nodes[node.at()].attempt;
        Ok(Entry::Expanded(Box::new(Expansion { node, attempt, round, children, of })))
    }

    /// A graph inside a node is over: its node has its result, fails with it, or begins the next iteration.
    pub(super) fn ends(&self, now: Timestamp, at: usize) -> Vec<Entry> {
        let level = &self.levels[at];
        let Some(node) = level.parent else { return Vec::new() };
        if let Some(cause) = &level.stop {
            let error = self.cause_of_failure(at, cause).map(|failure| failure.error);
            return self.fails_with_children(now, node, error.unwrap_or_else(|| stopped(cause)));
        }
        if level.cut && self.is_stopping(node) {
            return vec![Entry::Cancelled { node, cause: CancelCause::Stopped }];
        }
        if let Some(error) =
            self.first_unhandled(at).filter(|_| !level.fails_open()).and_then(|child| self.error(child))
        {
            return self.fails_with_children(now, node, error);
        }
        let gathered = vec![Entry::Gathered { node, attempt: self.nodes[node.at()].attempt }];
        match (&level.origin, &self.compiled(node).spec.repeat) {
            (Origin::Graph { round, .. }, Some(_)) => self.iterates(now, node, at, *round, gathered),
            _ => gathered,
        }
    }

    /// A node fails because its children did. They had their own retries: what grows does so once, also if the error is
    /// that a child was interrupted too often (`R-GROW-2`). A task that was split goes on up its ladder.
    fn fails_with_children(&self, now: Timestamp, node: NodeIndex, mut error: NodeError) -> Vec<Entry> {
        if error.code == Known::INTERRUPTED {
            if self.compiled(node).kind.grows() {
                return self.falls_back(node, error, None);
            }
            error.code = Known::UNAVAILABLE.into();
        }
        self.fails(now, node, error)
    }

    /// An iteration of a loop is over: it was the last, or there is another one (`R-NODE-1`).
    fn iterates(&self, now: Timestamp, node: NodeIndex, at: usize, round: u32, gathered: Vec<Entry>) -> Vec<Entry> {
        let Some(repeat) = &self.compiled(node).spec.repeat else { return gathered };
        let output = self.gathered(at);
        match expr::holds(&repeat.until.0, &Scope::of_iteration(self, node, &output)) {
            Ok(true) => gathered,
            Ok(false) if self.is_stopping(node) => vec![Entry::Cancelled { node, cause: CancelCause::Stopped }],
            Ok(false) if round >= repeat.max => {
                let message = format!("`until` did not hold after {round} iterations, and there may be no more");
                self.fails(now, node, NodeError::new(Known::INVALID_OUTPUT, message))
            }
            Ok(false) => match self.growth(node).and_then(|of| self.expansion(node, round + 1, of)) {
                Ok(expanded) => vec![expanded],
                Err(error) => self.fails(now, node, error),
            },
            Err(error) => {
                let message = format!("`until` has no value: {error}");
                self.fails(now, node, NodeError::new(Known::CONDITION_ERROR, message))
            }
        }
    }

    /// A node took longer than its `timeout`: its children end, and with them the node (`R-STATE-10`).
    pub(super) fn out_of_patience(&self, now: Timestamp, node: NodeIndex) -> Vec<Entry> {
        let inside = self.inside(node).filter(|_| self.nodes[node.at()].stage == Stage::Children);
        match inside {
            Some(at) => self.stops(at, StopCause::Timeout),
            None => self.fails(now, node, NodeError::new(Known::TIMEOUT, "it took longer than its `timeout`")),
        }
    }
}

fn stopped(cause: &StopCause) -> NodeError {
    NodeError::new(Known::INTERNAL, format!("its children stopped without a failure: {cause:?}"))
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "`true` or `false`",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}
