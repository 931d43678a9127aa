//! What a run begins with of an earlier one, as its first entry stores it (`R-RES-7`).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cause::{CancelCause, SkipReason};
use super::entry::is_false;
use super::failure::NodeError;
use super::parts::{Product, Taint, Usage, is_zero};
use super::question::QuestionKind;
use super::recovery::Confidence;
use crate::definition::Kind;
use crate::hash::Digest;

/// What a new run begins with. All keys are addresses.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Carried {
    /// The nodes that begin as they ended. One inside another is kept only if its definition has the same hash when its
    /// parent has grown again.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub nodes: BTreeMap<String, Kept>,
    /// What nodes had grown into, where that is still of use.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub grown: BTreeMap<String, KeptGrowth>,
    /// The generations that are not 0, also of nodes that are gone and may come back (`R-CLAIM-6`).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub generations: BTreeMap<String, u32>,
}

/// A node that begins as it ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// How it ended.
    pub end: KeptEnd,
    /// The hash of its definition.
    pub hash: Digest,
    /// The hash of everything that its work read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_hash: Option<Digest>,
    /// What its work took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// How many attempts it took.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub attempts: u32,
    /// The edges into it whose condition did not hold, by their place among them: they handle no failure (`R-EDGE-3`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmet: Vec<u32>,
    /// Where it stands inside another node, whose graph no definition holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Box<KeptPlace>>,
}

/// Where a node stands inside the one it grew in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptPlace {
    /// What it does.
    pub kind: Kind,
    /// The siblings that it depends on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// Whether it has `inputs`, `outputs` or `cache`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub keyed: bool,
}

/// How a node that is kept ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum KeptEnd {
    /// With a result.
    Completed(KeptResult),
    /// With an error.
    Failed(Option<NodeError>),
    /// Not at all, because of this source.
    Skipped(SkipReason, Option<String>),
    /// It was taken out.
    Cancelled(CancelCause),
    /// It has not: a person is asked about this result, or, without one, something else.
    AwaitingApproval {
        /// The result, if there is one; what the last attempt made, where something else is asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<KeptResult>,
        /// What is asked, where that is not whether the result may pass.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        asks: Option<Box<Asking>>,
    },
}

/// A question that is asked again, other than that of a gate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asking {
    /// What is asked for.
    pub kind: QuestionKind,
    /// The text.
    pub shown: String,
    /// The error that led to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<NodeError>,
}

/// The result of a node that completed, or waits for a person to say so.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KeptResult {
    /// Output, patch of the context, files and what the last attempt cost.
    pub product: Product,
    /// The patches of the context that its children made, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub patches: Vec<Arc<Value>>,
    /// Why it is not what the work itself would have given. It is kept like any other (`R-REC-7`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taint: Option<Taint>,
    /// Whether it is tainted, for whatever reason.
    #[serde(skip_serializing_if = "is_false")]
    pub tainted: bool,
    /// How much it can be trusted, where that is less than fully.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
}

impl KeptResult {
    /// A result that is only what the work produced.
    pub fn of(product: Product) -> Self {
        Self { product, ..Self::default() }
    }
}

/// What a node had grown into.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptGrowth {
    /// The hash of its definition.
    pub hash: Digest,
    /// The digest of what its children were made of, from [`super::Growth::digest`]: they are kept only while that is
    /// the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_of: Option<Digest>,
    /// What its work had produced, if its work produces nodes; it is not done again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Product>,
    /// What was spent of the budget that it brings along, by the round of a loop; 0 elsewhere (`R-REC-6`).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub spent: BTreeMap<u32, Usage>,
    /// Where it stands inside another node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Box<KeptPlace>>,
}

/// What the work of a node took, over all its attempts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cost {
    /// Tokens and money.
    pub usage: Usage,
    /// Time being worked on.
    pub millis: u64,
}
