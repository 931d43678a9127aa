//! The form of a stored run: JSON, strict, and only what cannot be read off something else in it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::graph::NodeIndex;
use crate::hash::Digest;
use crate::run::carrying::Resumed;
use crate::run::cause::{CancelCause, Ending, SkipReason, StopCause};
use crate::run::created::Created;
use crate::run::entry::is_false;
use crate::run::failure::{Feedback, NodeError};
use crate::run::fold::{AskedQuestion, Ownership};
use crate::run::ids::{CommandId, QuestionId, Seq, Timestamp};
use crate::run::input::Stage;
use crate::run::parts::{Refusal, Usage, Verdict};
use crate::run::queue::Rank;
use crate::run::recovering::Climb;
use crate::run::recovery::{Confidence, Purse};
use crate::run::state::NodeState;

/// A run.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct StoredRun {
    /// The hash of the workflow that it is a run of.
    pub graph_hash: Digest,
    pub seq: Seq,
    pub at: Timestamp,
    pub created: Option<Box<Created>>,
    pub ownership: Option<Ownership>,
    pub levels: Vec<StoredLevel>,
    /// What nodes look like, each look once.
    pub shapes: Vec<Shape>,
    /// All nodes in order: which shape, and how many of it in a row.
    pub nodes: Vec<(u32, u32)>,
    pub rare: Vec<(NodeIndex, StoredRare)>,
    pub at_own_stage: Vec<NodeIndex>,
    /// Who is still to be told to stop, with the entry that says so.
    pub aborts: Vec<(Seq, NodeIndex, u32, bool)>,
    /// The entry since which the end is to be told.
    pub finish: Option<Seq>,
    pub alarmed: Vec<u32>,
    pub over: Vec<u32>,
    pub interruptions: Vec<(NodeIndex, u32)>,
    pub orphans: Vec<NodeIndex>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resumed: Vec<(NodeIndex, Resumed)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<(NodeIndex, Usage)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub money_question: Option<QuestionId>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub no_more_money: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    pub doubts: bool,
    pub questions: Vec<AskedQuestion>,
    pub next_question: u32,
    pub commands: Vec<(CommandId, Option<Refusal>)>,
    pub signals: BTreeMap<Box<str>, VecDeque<Arc<Value>>>,
    pub held: bool,
    pub people_only_since: Option<Timestamp>,
    /// Whether the limits stand still.
    pub limits_stopped: bool,
    /// Whether the deadline still counts.
    pub deadline_counts: bool,
    pub usage: Usage,
    pub started_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
    pub deadline: Option<Timestamp>,
    pub ending: Option<Box<Ending>>,
}

/// One graph of a run. Its nodes and edges are made again from what it was made of.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about a graph")]
pub(super) struct StoredLevel {
    pub parent: Option<NodeIndex>,
    pub origin: StoredOrigin,
    pub phase: u16,
    pub announced: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settled: Vec<(u16, u32)>,
    pub offered: (Option<Rank>, Option<Rank>),
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub handlers: Vec<(NodeIndex, u32)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unhandled: Vec<NodeIndex>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unhandled_here: Vec<NodeIndex>,
    pub node_failures: u32,
    pub retries_exhausted: u32,
    pub tainted: bool,
    pub stop: Option<StopCause>,
    pub cut: bool,
    pub closed: bool,
    pub gathered: bool,
    /// Each patch with the number of its node in the graph, and its place among those of that node.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patches: Vec<(NodeIndex, u32, Arc<Value>)>,
    pub deadline: Option<Timestamp>,
    pub phase_deadline: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purse: Option<Box<Purse<NodeIndex>>>,
}

/// What a graph was made of.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum StoredOrigin {
    Workflow,
    Items(Arc<Vec<Value>>),
    Graph { round: u32, params: BTreeMap<String, Value> },
    Grown(Arc<Value>),
}

/// What all nodes have. Most of them have the same, so it is stored once with how many in a row have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Shape {
    pub state: NodeState,
    pub settled: bool,
    pub stage: Stage,
    pub cancelled: Option<CancelCause>,
    /// The source is stored as how far before the node it is, which a chain of skipped nodes shares.
    pub skipped: Option<(SkipReason, Option<i64>)>,
    pub tainted: bool,
    #[serde(default = "clean", skip_serializing_if = "is_clean")]
    pub confidence: Confidence,
    pub holds_slot: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    pub kept: bool,
    pub attempt: u32,
    pub demand: Seq,
}

/// What only some nodes have.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredRare {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Output>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "patch")]
    pub patch: Option<Arc<Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<NodeError>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Box<Verdict>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<QuestionId>,
    #[serde(default)]
    pub tries: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub feedback: Vec<Feedback>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub climb: Option<Box<Climb>>,
}

const fn clean() -> Confidence {
    Confidence::CLEAN
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
fn is_clean(confidence: &Confidence) -> bool {
    confidence.is_clean()
}

/// Where an output is.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Output {
    /// Here.
    Here(Arc<Value>),
    /// Where the results are.
    Beside,
}

/// A patch may be `null`, which is not the same as none.
mod patch {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::Value;

    #[expect(clippy::ref_option, reason = "serde calls it with a reference to the field")]
    pub fn serialize<S: Serializer>(patch: &Option<Arc<Value>>, serializer: S) -> Result<S::Ok, S::Error> {
        patch.as_slice().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Arc<Value>>, D::Error> {
        <[Arc<Value>; 1]>::deserialize(deserializer).map(|[patch]| Some(patch))
    }
}
