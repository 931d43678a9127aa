//! Version 1 of the record: nodes without taint and confidence, and money as one number.
//!
//! The parts that have not changed since are the current types. Whoever changes one of those makes a copy of the old one
//! here first; the sample in the tests notices.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::address::Address;
use super::held::Held;
use super::id::CheckpointId;
use super::record::{Checkpoint, Cost, ExecutionConfig, Metadata, NodeRecord, RunRecord, SchemaVersion, WorkflowShape};
use super::state::WorkflowState;
use crate::plan::Mode;
use crate::run::recovery::Strategy;
use crate::run::{Known, NodeError, NodeState, RunId, Seq, Taint, Timestamp, Usage};

/// How far the result of a fallback can be trusted (`R-REC-1`).
pub(super) const FALLBACK_CONFIDENCE: f64 = 0.3;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FirstCheckpoint {
    id: CheckpointId,
    schema_version: u16,
    workflow: WorkflowShape,
    run: FirstRun,
    state: WorkflowState,
    execution_config: ExecutionConfig,
    metadata: Metadata,
    created_at: Timestamp,
    seq: Seq,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FirstRun {
    id: RunId,
    mode: Mode,
    #[serde(default)]
    wave: Option<u32>,
    phase: u16,
    nodes: BTreeMap<Address, FirstNode>,
    usage: Usage,
    cost: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FirstNode {
    state: NodeState,
    #[serde(default)]
    attempts: u32,
    #[serde(default)]
    output: Option<Held>,
    #[serde(default)]
    error: Option<NodeError>,
    #[serde(default)]
    retry_due: Option<Timestamp>,
    #[serde(default)]
    strategies: Vec<Strategy>,
    #[serde(default)]
    usage: Option<Usage>,
}

impl FirstCheckpoint {
    /// The same as a record of version 2.
    pub fn migrated(self) -> Result<Checkpoint, String> {
        if self.schema_version != 1 {
            return Err(format!("version {} in a record of 1", self.schema_version));
        }
        let run = self.run;
        Ok(Checkpoint {
            id: self.id,
            schema_version: SchemaVersion,
            workflow: self.workflow,
            run: RunRecord {
                id: run.id,
                mode: run.mode,
                wave: run.wave,
                phase: run.phase,
                nodes: run.nodes.into_iter().map(|(address, node)| (address, node.migrated())).collect(),
                usage: run.usage,
                // Reservations were not written down then, and those of a run that stopped counted as spent.
                cost: Cost { usd: run.cost, reserved_usd: 0.0 },
            },
            state: self.state,
            execution_config: self.execution_config,
            metadata: self.metadata,
            created_at: self.created_at,
            seq: self.seq,
            machine: None,
        })
    }
}

impl FirstNode {
    /// Taint was not written down, but the strategy that causes it was.
    fn migrated(self) -> NodeRecord {
        let stood_in = self.state == NodeState::Completed && self.strategies.contains(&Strategy::SkipWithFallback);
        let taint = stood_in.then(|| {
            let unknown = || NodeError::new(Known::TOOL_ERROR, "the error before the fallback was not kept");
            Taint::Fallback(self.error.clone().unwrap_or_else(unknown))
        });
        NodeRecord {
            state: self.state,
            attempts: self.attempts,
            started_at: None,
            output: self.output,
            error: self.error,
            retry_due: self.retry_due,
            strategies: self.strategies,
            usage: self.usage,
            taint,
            confidence: stood_in.then_some(FALLBACK_CONFIDENCE),
        }
    }
}
