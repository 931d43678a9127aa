//! What a checkpoint holds (`R-CP-1`).

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

use super::CHECKPOINT_VERSION;
use super::address::Address;
use super::held::Held;
use super::id::CheckpointId;
use super::state::WorkflowState;
use crate::definition::Definition;
use crate::file::{NodeId, Policy, When, WorkflowId};
use crate::hash::Digest;
use crate::plan::Mode;
use crate::run::recovery::Strategy;
use crate::run::{NodeError, NodeState, RunId, Seq, Taint, Timestamp, Usage};

/// A checkpoint. Its checksum stands in the header of its stored form, which covers everything else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// The id.
    pub id: CheckpointId,
    /// The version of this record.
    pub schema_version: SchemaVersion,
    /// What is run.
    pub workflow: WorkflowShape,
    /// How far it has come.
    pub run: RunRecord,
    /// What people and agents see of it.
    pub state: WorkflowState,
    /// Under which rules it runs.
    pub execution_config: ExecutionConfig,
    /// Where it belongs.
    pub metadata: Metadata,
    /// When it was made.
    pub created_at: Timestamp,
    /// The last entry of the journal that counts for it.
    pub seq: Seq,
    /// The run as it was in memory, to go on from without folding the whole journal.
    #[serde(skip)]
    pub machine: Option<Machine>,
}

/// The run as it was in memory, in a form that only the fold knows.
///
/// It is a stored result of folding the journal up to the checkpoint's `seq`, and never migrated: a fold that does not
/// know its version leaves it alone and reads the journal. So the record can be kept for ever, and the fold can change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// The version of the form.
    pub version: u32,
    /// A plain data format with a fixed schema.
    pub bytes: Vec<u8>,
}

/// The version of a record that this release writes, and the only one that is read without migration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SchemaVersion;

/// The workflow of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkflowShape {
    /// Its id.
    pub id: WorkflowId,
    /// The author's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The hash of what a run of it does.
    pub graph_hash: Digest,
    /// The nodes of the file, by index; grown ones are found in the run.
    pub nodes: Vec<NodeId>,
    /// The edges between them.
    pub edges: Vec<ShapeEdge>,
}

/// An edge: the index of its source, the index of its target, and which end of the source lets it hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShapeEdge(pub u32, pub u32, pub When);

/// How far a run has come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRecord {
    /// Its id.
    pub id: RunId,
    /// What it may reuse.
    pub mode: Mode,
    /// The last completed wave of the phase; none before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wave: Option<u32>,
    /// The phase, from 0.
    pub phase: u16,
    /// The nodes by address, grown ones among them. One that is not here is pending.
    pub nodes: BTreeMap<Address, NodeRecord>,
    /// What all attempts used.
    pub usage: Usage,
    /// What they cost.
    pub cost: Cost,
}

/// One node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeRecord {
    /// Where it is in its life.
    pub state: NodeState,
    /// How many attempts there were.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub attempts: u32,
    /// When the attempt under way began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// Its output, while it is not a result: that of a completed node stands once, among the tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Held>,
    /// Why its last attempt failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<NodeError>,
    /// When the next attempt is due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_due: Option<Timestamp>,
    /// The ways to recover that were tried, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strategies: Vec<Strategy>,
    /// What its attempts used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Why its result is not what its work would have given (`R-REC-7`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taint: Option<Taint>,
    /// How far its result can be trusted, from 0 to 1; fully where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
}

/// Money.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// What was spent, in US dollars.
    pub usd: f64,
    /// What attempts under way may still cost; it counts as spent when they are interrupted (`R-REC-6`).
    #[serde(default)]
    pub reserved_usd: f64,
}

/// Under which rules a run goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExecutionConfig {
    /// How it behaves.
    #[serde(with = "super::policy")]
    pub policy: Policy,
    /// Its parameters, defaults filled in.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Value>,
    /// When it must be over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// What counts against its budget: that of the whole lineage.
    pub budget_spent: Spent,
}

/// What counts against a budget.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spent {
    /// Tokens, in and out together.
    pub tokens: u64,
    /// US dollars.
    pub usd: f64,
}

/// Where a run belongs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    /// The project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The name of the phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<NodeId>,
}

impl WorkflowShape {
    /// The shape of a checked workflow.
    pub fn of(definition: &Definition) -> Self {
        let graph = &definition.graph;
        Self {
            id: definition.id.clone(),
            version: definition.version.clone(),
            graph_hash: definition.graph_hash,
            nodes: graph.nodes().map(|node| graph.id(node).clone()).collect(),
            edges: graph.edges().iter().map(|edge| ShapeEdge(edge.from.0, edge.to.0, edge.when)).collect(),
        }
    }
}

impl NodeRecord {
    /// A node in a state, of which nothing else is to be said.
    pub const fn new(state: NodeState) -> Self {
        Self {
            state,
            attempts: 0,
            started_at: None,
            output: None,
            error: None,
            retry_due: None,
            strategies: Vec::new(),
            usage: None,
            taint: None,
            confidence: None,
        }
    }
}

impl Checkpoint {
    /// The state of a node; none if the run has no such node.
    pub fn node_state(&self, address: &str) -> Option<NodeState> {
        let pending = || self.workflow.nodes.iter().any(|id| id.as_str() == address).then_some(NodeState::Pending);
        self.run.nodes.get(address).map(|node| node.state).or_else(pending)
    }

    /// The output of a node, completed or not.
    pub fn output(&self, address: &str) -> Option<&Held> {
        let node = self.run.nodes.get(address)?;
        match &node.output {
            None if node.state == NodeState::Completed => self.state.result(address),
            own => own.as_ref(),
        }
    }

    /// Everything that may be in the blob store.
    pub fn held_mut(&mut self) -> impl Iterator<Item = &mut Held> {
        let results = self.state.tasks.iter_mut().map(|task| &mut task.result);
        results.chain(self.run.nodes.values_mut().filter_map(|node| node.output.as_mut()))
    }

    /// What contradicts itself, if anything does. Asked before it is written and after it is read.
    pub(super) fn contradiction(&self) -> Option<String> {
        let id = CheckpointId::new(self.workflow.id.clone(), self.run.id, self.created_at, self.seq);
        if id != self.id {
            return Some(format!("it is called `{}`, but its content is that of `{id}`", self.id));
        }
        let nodes = self.workflow.nodes.len();
        let outside = |edge: &&ShapeEdge| edge.0 as usize >= nodes || edge.1 as usize >= nodes;
        if let Some(edge) = self.workflow.edges.iter().find(outside) {
            return Some(format!("an edge leads from {} to {}, but there are {nodes} nodes", edge.0, edge.1));
        }
        let ours = [self.run.usage.usd, self.run.cost.usd, self.run.cost.reserved_usd];
        let theirs = self.run.nodes.values().flat_map(|node| [node.usage.map(|usage| usage.usd), node.confidence]);
        let mut amounts = ours.into_iter().chain([self.execution_config.budget_spent.usd]).chain(theirs.flatten());
        // JSON has no word for them: what is written would not be read.
        amounts.any(|amount| !amount.is_finite()).then(|| "an amount is not a number".to_owned())
    }
}

impl Serialize for SchemaVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u16(CHECKPOINT_VERSION)
    }
}

impl<'de> Deserialize<'de> for SchemaVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u16::deserialize(deserializer)? {
            CHECKPOINT_VERSION => Ok(Self),
            other => Err(de::Error::custom(format_args!("version {other} in a record of {CHECKPOINT_VERSION}"))),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
const fn is_zero(value: &u32) -> bool {
    *value == 0
}
