//! Questions: everything a run may want from a person is one thing (`R-ASK-1`).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::failure::NodeError;
use super::ids::{QuestionId, RunId, Timestamp};
use super::parts::is_zero;
use super::recovering::Chosen;
use crate::file::Json;
use crate::graph::NodeIndex;
use crate::hash::Digest;

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Its number in the run.
    pub id: QuestionId,
    /// What is asked for.
    pub kind: QuestionKind,
    /// The node that waits for the answer; none where the whole run is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeIndex>,
    /// The attempt whose result is asked about; 0 without a node.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub attempt: u32,
    /// The text, rendered once, when the question opens.
    pub shown: String,
    /// What an answer must name to show that it was given to this text and output.
    pub digest: Digest,
    /// A JSON Schema of what the person fills in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<Value>,
    /// Who may answer; anybody if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvers: Vec<String>,
    /// The error that led to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<NodeError>,
    /// Why the ladder ends with a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<Chosen>,
    /// When it closes by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
}

/// What a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// Whether a result may pass.
    Gate,
    /// What became of an attempt that may happen at most once.
    UnknownOutcome,
    /// How to go on with a node that the engine cannot recover by itself (`R-REC-4`).
    Intervention,
    /// Whether the run may spend more (`R-REC-6`).
    Budget,
}

/// What a person may choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// Let the result pass.
    Approve,
    /// Do not.
    Reject,
    /// Try again.
    Retry,
    /// Go on with an output that the person provides.
    Provide,
    /// Go on without the node.
    Skip,
    /// Let the node fail; of a budget, let all fail that it does not pay for.
    Fail,
    /// Allow more money.
    Raise,
}

impl Choice {
    /// The word on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Reject => "reject",
            Self::Retry => "retry",
            Self::Provide => "provide",
            Self::Skip => "skip",
            Self::Fail => "fail",
            Self::Raise => "raise",
        }
    }
}

impl QuestionKind {
    /// What may be chosen.
    pub const fn choices(self) -> &'static [Choice] {
        match self {
            Self::Gate => &[Choice::Approve, Choice::Reject],
            Self::UnknownOutcome | Self::Intervention => &[Choice::Retry, Choice::Provide, Choice::Skip, Choice::Fail],
            Self::Budget => &[Choice::Raise, Choice::Fail],
        }
    }
}

/// The digest of what a person sees: run, node, attempt, text, output and form, each with its length.
pub fn shown_digest(run: RunId, node: &str, attempt: u32, text: &str, output: &Value, form: Option<&Value>) -> Digest {
    let output = Digest::of(Json(output.clone()).canonical().as_bytes());
    let form = form.map(|form| Json(form.clone()).canonical()).unwrap_or_default();
    let run = run.to_string();
    let attempt = attempt.to_string();
    let mut bytes = Vec::from("sprag question 1");
    for part in [run.as_bytes(), node.as_bytes(), attempt.as_bytes(), text.as_bytes(), &output.0, form.as_bytes()] {
        bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
        bytes.extend_from_slice(part);
    }
    Digest::of(&bytes)
}
