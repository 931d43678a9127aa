//! A node: one kind of work and what surrounds it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::kinds::{Approve, Http, Loop, MapOver, Noop, Wait};
use super::policy::{Recovery, Retry};
use super::text::{EnvValue, Expr, Json, TextOr};
use super::work::{Agent, Command, Probe, Work};
use super::workflow::SubWorkflow;
use super::{Duration, ErrorCode, NodeId, ParamName, SecretName, Template, VariableName};

/// One node of a workflow. Exactly one of `run`, `http`, `agent`, `workflow`, `map`, `loop`, `wait`, `generate`,
/// `call`, `noop` says what it does; `approve` alone is a gate (`R-NODE-1`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Node {
    /// A command: text goes through `/bin/sh -c`, a list is started as it is.
    pub run: Option<Command>,
    /// An HTTP request.
    pub http: Option<Box<Http>>,
    /// A step done by a language model.
    pub agent: Option<Box<Agent>>,
    /// A person's approval: alone it is a gate, on a node with work the output waits for it.
    pub approve: Option<Box<Approve>>,
    /// A sub-workflow, from a file or written here.
    pub workflow: Option<TextOr<Box<SubWorkflow>>>,
    /// One copy of a node per item of a list.
    pub map: Option<Box<MapOver>>,
    /// A sub-workflow again and again until a condition holds.
    #[serde(rename = "loop")]
    pub repeat: Option<Box<Loop>>,
    /// Time, a moment, or a signal to wait for.
    pub wait: Option<Box<Wait>>,
    /// Work whose output is more nodes.
    pub generate: Option<Box<Work>>,
    /// A function that the Rust host has registered.
    pub call: Option<String>,
    /// Nothing; useful to join edges.
    #[serde(deserialize_with = "present")]
    pub noop: Option<Noop>,

    /// The nodes it depends on.
    pub needs: Vec<Need>,
    /// How many of its edges must hold: all, any, or none of the sources failed.
    pub join: Option<Join>,
    /// How long an attempt may take.
    pub timeout: Option<Duration>,
    /// How long an attempt may go without output or progress.
    pub idle_timeout: Option<Duration>,
    /// How failed attempts are repeated.
    pub retry: Option<Box<Retry>>,
    /// What is tried when attempts fail.
    pub recovery: Option<Box<Recovery>>,
    /// Whether dependents run after a failure.
    pub continue_on_error: Option<bool>,
    /// Order among ready nodes, high first.
    pub priority: Option<i32>,
    /// Whether it costs enough to save a checkpoint before it.
    pub expensive: Option<bool>,
    /// What an interrupted attempt means.
    pub semantics: Option<Semantics>,
    /// How to find out whether an interrupted attempt happened.
    pub probe: Option<Box<Probe>>,
    /// JSON Schemas that outputs of dependencies must fit, by dependency.
    pub input_schema: BTreeMap<NodeId, Json>,
    /// A JSON Schema that its own output must fit.
    pub output_schema: Option<Json>,
    /// Whether its result is reused when nothing changed.
    pub cache: Option<bool>,
    /// Its output when all attempts have failed.
    pub fallback: Option<Json>,
    /// Error codes by exit code.
    pub errors: BTreeMap<String, ErrorCode>,
    /// Grades the result A to F: an expression, or a command or agent.
    pub evaluate: Option<TextOr<Box<Work>>>,
    /// Which workers may take it.
    pub queue: Option<NodeId>,
    /// A hint to whoever executes it.
    pub agent_hint: Option<String>,
    /// What it is for.
    pub description: Option<String>,

    /// Values for the sub-workflow's parameters.
    pub params: BTreeMap<ParamName, Json>,
    /// Arguments of the function.
    pub with: Option<Json>,

    /// Working directory, relative to the project.
    pub cwd: Option<Template>,
    /// Environment variables.
    pub env: BTreeMap<VariableName, EnvValue>,
    /// Variables of sprag's own environment that it receives.
    pub pass_env: Vec<VariableName>,
    /// Secrets that it receives as environment variables.
    pub secrets: Vec<SecretName>,
    /// Files it reads, as paths or globs relative to the project.
    pub inputs: Vec<String>,
    /// Files or folders it writes, relative to the project.
    pub outputs: Vec<String>,
    /// How stdout becomes the output.
    pub output: Option<OutputFormat>,
    /// What is made equal in output files before they are hashed.
    pub normalise: Vec<Normalise>,
}

/// A dependency: an id, or an edge with its own `when` and `condition`.
pub type Need = TextOr<NeedEdge>;

/// A dependency in the long form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NeedEdge {
    /// The node it depends on.
    pub node: String,
    /// Which end of that node lets the edge hold.
    #[serde(default)]
    pub when: Option<When>,
    /// What must also be true.
    #[serde(default)]
    pub condition: Option<Expr>,
}

/// Which end of the source lets an edge hold (`R-EDGE-1`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// It completed.
    #[default]
    OnSuccess,
    /// It failed for good, or its gate was rejected or timed out.
    OnFailure,
    /// It settled in any way.
    Always,
    /// It was skipped.
    Skip,
}

impl When {
    /// The word in a file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OnSuccess => "on_success",
            Self::OnFailure => "on_failure",
            Self::Always => "always",
            Self::Skip => "skip",
        }
    }
}

/// How many edges must hold (`R-EDGE-2`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Join {
    /// All of them.
    #[default]
    All,
    /// At least one.
    Any,
    /// No source failed, and at least one completed.
    NoneFailed,
}

/// What an interrupted attempt means (`R-CLAIM-5`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Semantics {
    /// It may be repeated.
    #[default]
    AtLeastOnce,
    /// It is never repeated blindly: a probe or a person decides.
    AtMostOnce,
}

/// How stdout becomes the output of a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OutputFormat {
    /// As it is.
    #[default]
    Text,
    /// Parsed as JSON.
    Json,
}

/// What is made equal in output files before they are hashed (`R-CACHE-3`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Normalise {
    /// Dates and times.
    Timestamps,
    /// Lengths of time.
    Durations,
    /// Process ids.
    Pids,
    /// Memory addresses.
    Addresses,
    /// Line ends.
    Crlf,
}

/// `noop:` with nothing behind it is the natural way to write it, so here nothing counts as something.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Noop>, D::Error> {
    if deserializer.is_human_readable() {
        Noop::deserialize(deserializer).map(Some)
    } else {
        Option::deserialize(deserializer)
    }
}
