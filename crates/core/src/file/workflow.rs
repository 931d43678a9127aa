//! The outermost level of a workflow file.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::node::{Node, Semantics, When};
use super::policy::{Policy, Recovery, Retry};
use super::work::Work;
use super::{Duration, EnvValue, Expr, Json, NodeId, ParamName, SecretName, VariableName, WorkflowId};

/// A workflow: a versioned, acyclic graph of nodes and edges.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Workflow {
    /// The id of the workflow.
    pub workflow: Option<WorkflowId>,
    /// The author's own version of it, as text.
    pub version: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// What can be given with `-p name=value`.
    pub params: IndexMap<ParamName, Param>,
    /// A JSON object that nodes may read and patch.
    pub context: BTreeMap<String, Json>,
    /// How the run as a whole behaves.
    pub policy: Policy,
    /// Where secret values come from.
    pub secrets: BTreeMap<SecretName, SecretSource>,
    /// Values for nodes that do not give their own; they reach only kinds that take the key.
    pub defaults: Defaults,
    /// The nodes, by id.
    pub nodes: Option<IndexMap<NodeId, Box<Node>>>,
    /// Instead of `nodes`: parts that run one after the other, each with its own graph.
    pub phases: Option<Vec<Phase>>,
    /// Edges in the long form; the same as `needs` on the target.
    pub edges: Vec<Edge>,
    /// When the server starts it by itself.
    pub schedule: Option<Schedule>,
}

/// A workflow inside a node: the same graph, without what only a file can have.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SubWorkflow {
    /// What the node hands in with `params`.
    pub params: IndexMap<ParamName, Param>,
    /// Its own context.
    pub context: BTreeMap<String, Json>,
    /// Narrows the policy of the run.
    pub policy: Policy,
    /// Values for nodes that do not give their own.
    pub defaults: Defaults,
    /// The nodes, by id.
    pub nodes: Option<IndexMap<NodeId, Box<Node>>>,
    /// Edges in the long form.
    pub edges: Vec<Edge>,
}

/// A parameter of a workflow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Param {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: ParamType,
    /// Its value when none is given; without one the parameter has to be given.
    #[serde(default)]
    pub default: Option<Json>,
    /// The values it may have.
    #[serde(default, rename = "enum")]
    pub choices: Option<Vec<Json>>,
    /// What it is for.
    #[serde(default)]
    pub description: Option<String>,
}

/// The type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ParamType {
    /// Text.
    String,
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A list.
    Array,
    /// A mapping.
    Object,
}

impl ParamType {
    /// Whether a value has this type.
    pub fn fits(self, value: &serde_json::Value) -> bool {
        match self {
            Self::String => value.is_string(),
            Self::Integer => value.is_i64() || value.is_u64(),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::Array => value.is_array(),
            Self::Object => value.is_object(),
        }
    }

    /// The type in words: "a list".
    pub const fn described(self) -> &'static str {
        match self {
            Self::String => "text",
            Self::Integer => "a whole number",
            Self::Number => "a number",
            Self::Boolean => "`true` or `false`",
            Self::Array => "a list",
            Self::Object => "a mapping",
        }
    }
}

/// Where the value of a secret comes from: exactly one of the two (`R-SEC-1`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SecretSource {
    /// An environment variable of the process that runs the node.
    pub env: Option<VariableName>,
    /// A file; its content without the last line break is the value.
    pub file: Option<String>,
}

/// Values for nodes that do not give their own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Defaults {
    /// How long an attempt may take.
    pub timeout: Option<Duration>,
    /// How long an attempt may go without output or progress.
    pub idle_timeout: Option<Duration>,
    /// How failed attempts are repeated; each key on its own.
    pub retry: Option<Retry>,
    /// What is tried when attempts fail.
    pub recovery: Option<Box<Recovery>>,
    /// Whether dependents run after a failure.
    pub continue_on_error: Option<bool>,
    /// Order among ready nodes, high first.
    pub priority: Option<i32>,
    /// What an interrupted attempt means.
    pub semantics: Option<Semantics>,
    /// Whether results are reused.
    pub cache: Option<bool>,
    /// Which workers may take the node.
    pub queue: Option<NodeId>,
    /// A hint to whoever executes agent work.
    pub agent_hint: Option<String>,
    /// Working directory of commands, relative to the project.
    pub cwd: Option<String>,
    /// Environment variables of commands; a node's own win.
    pub env: BTreeMap<VariableName, EnvValue>,
    /// Variables of sprag's own environment that commands receive; a node's own are added.
    pub pass_env: Vec<VariableName>,
}

/// A named part of a run with its own graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// The name.
    pub name: NodeId,
    /// Its nodes, by id.
    #[serde(default)]
    pub nodes: Option<IndexMap<NodeId, Box<Node>>>,
    /// Instead of `nodes`: work whose output is the nodes. It is a node itself, named like the phase.
    #[serde(default)]
    pub generate: Option<Box<Work>>,
    /// How long the phase may take.
    #[serde(default)]
    pub timeout: Option<Duration>,
}

/// An edge in the long form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Edge {
    /// The node it starts at.
    pub from: String,
    /// The node it leads to.
    pub to: String,
    /// Which end of the source lets it hold.
    #[serde(default)]
    pub when: Option<When>,
    /// What must also be true.
    #[serde(default)]
    pub condition: Option<Expr>,
}

/// When the server starts a workflow by itself (`R-SRV-3`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// A cron expression of five or six fields.
    pub cron: String,
    /// An IANA time zone; UTC if none is given.
    #[serde(default)]
    pub timezone: Option<String>,
    /// What happens when the run before has not ended.
    #[serde(default)]
    pub overlap: Option<Overlap>,
    /// What happens with firings that were missed.
    #[serde(default)]
    pub catch_up: Option<CatchUp>,
}

/// What a firing does while an earlier run is still going.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Overlap {
    /// The firing is recorded and nothing starts.
    Skip,
    /// The new run waits for the old one.
    Queue,
    /// The old run is cancelled.
    Cancel,
    /// Both run.
    Allow,
}

/// What happens with firings that were missed while nothing could start them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CatchUp {
    /// Nothing.
    None,
    /// One run, for the latest.
    Latest,
    /// One run each.
    All,
}
