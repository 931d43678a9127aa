//! Work that stands in more than one place: commands, agents, and what may generate, grade, probe or decompose.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kinds::Http;
use super::text::{Json, Template, TextOr};

/// A command: text for the shell, or a list that is started as it is.
pub type Command = TextOr<Vec<Template>>;

/// Work as part of something else: exactly one of `run`, `agent`, `call`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Work {
    /// A command.
    pub run: Option<Command>,
    /// A language model.
    pub agent: Option<Box<Agent>>,
    /// A function of the Rust host.
    pub call: Option<String>,
    /// Its arguments.
    pub with: Option<Json>,
}

/// A read-only question about an interrupted attempt: exactly one of `run`, `http`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Probe {
    /// A command.
    pub run: Option<Command>,
    /// A request.
    pub http: Option<Box<Http>>,
}

/// A step done by a language model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// Who serves the model.
    pub provider: Provider,
    /// The model, or a tier such as `haiku`.
    #[serde(default)]
    pub model: Option<Template>,
    /// What is asked.
    pub prompt: Template,
    /// Instructions that hold for the whole step.
    #[serde(default)]
    pub system: Option<Template>,
    /// What the model may use.
    #[serde(default)]
    pub tools: Vec<Tool>,
    /// How often the model may answer before the step fails.
    #[serde(default)]
    pub max_turns: Option<u32>,
    /// How long one answer may be.
    #[serde(default)]
    pub max_tokens: Option<u32>,
    /// How freely the model answers.
    #[serde(default)]
    pub temperature: Option<f64>,
    /// The provider's key, normally `{{ secrets.NAME }}`.
    #[serde(default)]
    pub api_key: Option<Template>,
    /// Another address for the provider.
    #[serde(default)]
    pub base_url: Option<Template>,
    /// With `provider: command`: the program, which reads a JSON request and writes a JSON answer.
    #[serde(default)]
    pub command: Option<Vec<Template>>,
    /// With `provider: fake`: the answers, in order.
    #[serde(default)]
    pub script: Option<Vec<Json>>,
}

/// Who serves the model (`R-AGENT-1`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// Anthropic Messages.
    Anthropic,
    /// Any endpoint that speaks the `OpenAI` chat protocol.
    Openai,
    /// Any program.
    Command,
    /// Scripted answers, offline.
    Fake,
}

/// A tool: the word `plan` for the planning tools, or a tool of the node's own.
pub type Tool = TextOr<ToolSpec>;

/// A tool of the node's own: exactly one of `run`, `http`, `mcp`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolSpec {
    /// Its name.
    pub name: Option<String>,
    /// What it is for, as the model sees it.
    pub description: Option<String>,
    /// A JSON Schema of its arguments, which expressions see as `item`.
    pub input_schema: Option<Json>,
    /// A command.
    pub run: Option<Command>,
    /// A request.
    pub http: Option<Box<Http>>,
    /// All tools of a server that speaks the Model Context Protocol.
    pub mcp: Option<Mcp>,
}

/// A server that speaks the Model Context Protocol: exactly one of the two.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Mcp {
    /// A program to start.
    pub command: Option<Vec<Template>>,
    /// An address to call.
    pub url: Option<Template>,
}
