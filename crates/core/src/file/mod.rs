//! The workflow file as types: the whole format, before any check across keys (`R-FILE-1`, `R-NODE-1…3`).
//!
//! `Deserialize` reads a file (through [`crate::yaml`]) and the compiled form. `Serialize` is for hashing and for the
//! compiled form only; people are shown the file itself. JSON Schema comes from the same types (`R-FILE-2`).

mod duration;
mod ids;
mod kinds;
mod node;
mod policy;
mod text;
mod work;
mod workflow;

pub use duration::Duration;
pub use ids::{ErrorCode, NodeId, ParamName, SecretName, VariableName, WorkflowId, id_problem};
pub use kinds::{Approve, Expect, Http, Loop, MapOver, Method, Noop, Wait};
pub use node::{Join, Need, NeedEdge, Node, Normalise, OutputFormat, Semantics, When};
pub use policy::{
    Backoff, Budget, CheckpointPolicy, Durability, ERROR_CLASSES, Human, OnExceeded, Policy, Recovery, Retry,
    Scheduling, is_code_or_class,
};
pub use text::{EnvValue, Expr, Json, Template, TextOr};
pub use work::{Agent, Command, Mcp, Probe, Provider, Tool, ToolSpec, Work};
pub use workflow::{
    CatchUp, Defaults, Edge, Overlap, Param, ParamType, Phase, Schedule, SecretSource, SubWorkflow, Workflow,
};
