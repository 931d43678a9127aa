//! How a run begins.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::entry::is_false;
use super::ids::RunId;
use super::kept::Carried;
use super::parts::{Usage, is_zero};
use super::recovery::Allowance;
use crate::definition::Definition;
use crate::file::WorkflowId;
use crate::hash::Digest;
use crate::plan::Mode;

/// How a run began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Created {
    /// The run.
    pub run: RunId,
    /// The first run of its lineage, from which idempotency keys are made (`R-CLAIM-6`).
    pub first_run: RunId,
    /// The run that this one goes on from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_run: Option<RunId>,
    /// How many runs of the lineage came before.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub retry_count: u32,
    /// The workflow.
    pub workflow: WorkflowId,
    /// The hash of what a run of this workflow does.
    pub graph_hash: Digest,
    /// The stored definition that all indices refer to, where a store keeps one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<Digest>,
    /// The parameters, defaults filled in.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Value>,
    /// What the lineage spent before this run, which counts against its budget (`R-REC-6`, `R-RES-7`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<Usage>,
    /// What people allowed the lineage beyond its budget before this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raised: Option<Allowance>,
    /// What an attempt of a node cost in earlier runs, by address.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub expected: BTreeMap<String, Usage>,
    /// The most that an attempt on a model can cost, by model.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub model_maximum: BTreeMap<String, Usage>,
    /// Whether nodes without a gate start with clean inputs only (`R-REC-7`).
    #[serde(default, skip_serializing_if = "is_false")]
    pub strict: bool,
    /// How far the run may grow.
    #[serde(default, skip_serializing_if = "GrowthLimits::is_default")]
    pub growth: GrowthLimits,
    /// How much of earlier work it may use (`R-MODE-1`).
    #[serde(default, skip_serializing_if = "is_usual")]
    pub mode: Mode,
    /// The run that this one is another branch of (`R-RES-4`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<RunId>,
    /// What it begins with of the run that it goes on from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carried: Option<Arc<Carried>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
fn is_usual(mode: &Mode) -> bool {
    *mode == Mode::default()
}

/// How far a run may grow (`R-GROW-1`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrowthLimits {
    /// How many nodes it may have, those of the file included.
    pub nodes: u32,
    /// How deep nodes may grow inside each other.
    pub depth: u32,
}

impl Default for GrowthLimits {
    fn default() -> Self {
        Self { nodes: 200_000, depth: 16 }
    }
}

impl GrowthLimits {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Created {
    /// The first run of a lineage.
    pub fn first(run: RunId, definition: &Definition, params: BTreeMap<String, Value>) -> Self {
        Self {
            run,
            first_run: run,
            previous_run: None,
            retry_count: 0,
            workflow: definition.id.clone(),
            graph_hash: definition.graph_hash,
            definition: None,
            params,
            spent: None,
            raised: None,
            expected: BTreeMap::new(),
            model_maximum: BTreeMap::new(),
            strict: false,
            growth: GrowthLimits::default(),
            mode: Mode::default(),
            forked_from: None,
            carried: None,
        }
    }
}
