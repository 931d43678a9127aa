//! What entries hold.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::failure::{Grade, NodeError};
use super::ids::{CommandId, QuestionId};
use super::input::Command;
use super::question::Choice;
use crate::codes::Code;
use crate::file::Json;
use crate::graph::{EdgeIndex, NodeIndex};
use crate::hash::Digest;

/// What a node becomes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expansion {
    /// The node.
    pub node: NodeIndex,
    /// The attempt.
    pub attempt: u32,
    /// The iteration of a loop, from 1; 0 for everything else.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub round: u32,
    /// How many children there are. They are numbered after all nodes that the run has so far.
    pub children: u32,
    /// What they are made of.
    pub of: Growth,
}

/// What children are made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Growth {
    /// One copy of the node of a `map` for each of these items.
    Items(Arc<Vec<Value>>),
    /// The graph inside a `workflow` or a `loop`, with these parameters.
    Params(BTreeMap<String, Value>),
    /// The graph that the node's work produced; the digest of it.
    Body(Digest),
}

impl Growth {
    /// The digest of it: children of an earlier run are kept only while they are made of the same.
    pub fn digest(&self) -> Digest {
        let canonical = match self {
            Self::Items(items) => Json(Value::Array(items.to_vec())).canonical(),
            Self::Params(params) => {
                Json(params.iter().map(|(name, value)| (name.clone(), value.clone())).collect()).canonical()
            }
            Self::Body(digest) => return *digest,
        };
        Digest::of(canonical.as_bytes())
    }
}

/// What the conditions of a node's edges said.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Verdict {
    /// Edges whose `when` holds and whose condition does not, sorted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unmet: Vec<EdgeIndex>,
    /// The error of a condition: the node fails as soon as it is its turn (`R-EDGE-1`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doomed: Option<Box<NodeError>>,
}

/// What the work of an attempt produced.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Product {
    /// The output; null if there is none.
    #[serde(skip_serializing_if = "is_null")]
    pub output: Arc<Value>,
    /// A merge patch of the context (`R-CMD-1`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<Arc<Value>>,
    /// What it cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The declared outputs that it wrote, by path, with the digest of their content (`R-CACHE-3`).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, Digest>,
}

impl Product {
    /// A product that is only an output.
    pub fn of(output: Value) -> Self {
        Self { output: Arc::new(output), ..Self::default() }
    }

    /// Whether there is nothing worth an entry.
    pub fn is_empty(&self) -> bool {
        self.output.is_null() && self.patch.is_none() && self.usage.is_none() && self.files.is_empty()
    }
}

/// What an attempt cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Usage {
    /// Tokens read by the model.
    pub tokens_in: u64,
    /// Tokens written by the model.
    pub tokens_out: u64,
    /// US dollars.
    pub usd: f64,
}

impl Usage {
    /// Adds what another attempt cost.
    pub fn add(&mut self, other: &Self) {
        self.tokens_in = self.tokens_in.saturating_add(other.tokens_in);
        self.tokens_out = self.tokens_out.saturating_add(other.tokens_out);
        self.usd += other.usd;
    }
}

/// Why a result is not what the work itself would have given (`R-REC-7`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Taint {
    /// All attempts failed and the node's `fallback` stands in; the last error.
    Fallback(NodeError),
    /// A person provided it.
    Provided,
    /// A person took a result of this grade all the same.
    LowGrade(Grade),
}

/// How a person closed a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The question.
    pub question: QuestionId,
    /// What the person chose.
    pub choice: Choice,
    /// Who.
    pub by: String,
    /// The command that carried the answer.
    pub command: CommandId,
}

/// A command from a person, and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandRecord {
    /// The command.
    pub command: Command,
    /// Why it changed nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refusal>,
}

/// Why a command was refused, for whoever sent it from another process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    /// The stable code.
    pub code: Code,
    /// What happened.
    pub message: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
pub(super) const fn is_zero(value: &u32) -> bool {
    *value == 0
}

fn is_null(value: &Arc<Value>) -> bool {
    value.is_null()
}
