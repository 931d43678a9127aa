//! A run as a checkpoint, and back (`R-CP-1`, `R-RES-4`).
//!
//! Each result is written once, among the tasks or with its node; the machine says only which nodes still hold theirs.
//! So what is long goes to the blob store once, and the size by which snapshots are spaced counts nothing twice.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::address::Address;
use super::held::Held;
use super::id::CheckpointId;
use super::record::{
    Checkpoint, Cost, ExecutionConfig, Metadata, NodeRecord, RunRecord, SchemaVersion, Spent, WorkflowShape,
};
use super::state_fold::StateFold;
use crate::definition::Definition;
use crate::graph::NodeIndex;
use crate::run::recovery::Confidence;
use crate::run::{NodeState, Run, Timestamp, Unrestorable};

/// What a checkpoint says that the run itself does not know.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct About {
    /// The project.
    pub project: Option<String>,
}

impl Checkpoint {
    /// The checkpoint of a run at a moment; none before the run is created. The fold has taken in the same entries.
    pub fn of(run: &Run, fold: &StateFold, at: Timestamp, about: &About) -> Option<Self> {
        let definition = run.definition();
        let created = run.created()?;
        let (phase, wave) = run.progress();
        let usage = run.usage();
        let spent = run.lineage_spent();
        Some(Self {
            id: CheckpointId::new(definition.id.clone(), created.run, at, run.seq()),
            schema_version: SchemaVersion,
            workflow: WorkflowShape::of(definition),
            run: RunRecord {
                id: created.run,
                mode: created.mode,
                wave,
                phase,
                nodes: nodes(run, fold),
                usage,
                cost: Cost { usd: usage.usd, reserved_usd: run.reserved().usd },
            },
            state: fold.state(run),
            execution_config: ExecutionConfig {
                policy: definition.policy.clone(),
                params: created.params.clone(),
                deadline: run.deadline(),
                budget_spent: Spent { tokens: spent.tokens_in.saturating_add(spent.tokens_out), usd: spent.usd },
            },
            metadata: Metadata {
                project: about.project.clone(),
                phase: definition.phases.get(usize::from(phase)).map(|phase| phase.name.clone()),
            },
            created_at: at,
            seq: run.seq(),
            machine: Some(run.snapshot_beside()),
        })
    }

    /// The run as it was, to go on with the journal behind the checkpoint, and the fold of its state. What is in the blob
    /// store must have been taken in before ([`Held::fill`]).
    pub fn restore(&self, definition: Arc<Definition>) -> Result<(Run, StateFold), Unrestorable> {
        let machine = self.machine.as_ref().ok_or_else(|| Unrestorable::Damaged("there is none".to_owned()))?;
        // The newest result of a node is the one that counts.
        let results = self.state.tasks.iter().map(|task| (task.task_id.as_str(), &task.result));
        let mut outputs: HashMap<&str, &Held> = results.collect();
        for (address, node) in &self.run.nodes {
            outputs.extend(node.output.as_ref().map(|output| (address.as_str(), output)));
        }
        let output = |address: &str| outputs.get(address).and_then(|held| held.shared()).map(Arc::clone);
        let run = Run::restore_beside(definition, machine, output)?;
        if run.seq() != self.seq || run.id() != Some(self.run.id) {
            return Err(Unrestorable::Damaged("it is not the run of its record".to_owned()));
        }
        let fold = StateFold::resumed(self, &run);
        Ok((run, fold))
    }
}

/// Every node of which there is something to say.
fn nodes(run: &Run, fold: &StateFold) -> BTreeMap<Address, NodeRecord> {
    let touched = run.addressed().filter(|node| run.state(*node) != NodeState::Pending);
    touched.filter_map(|node| Some((Address::new(&run.address(node)).ok()?, record(run, fold, node)))).collect()
}

fn record(run: &Run, fold: &StateFold, node: NodeIndex) -> NodeRecord {
    let state = run.state(node);
    let output = run.held_output(node).filter(|_| state != NodeState::Completed);
    let taint = fold.taint(node);
    NodeRecord {
        attempts: run.attempt(node),
        started_at: fold.started(node),
        output: output.map(|output| Held::from(Arc::clone(output))),
        error: run.error(node).or_else(|| run.last_error(node).cloned()),
        retry_due: run.due(node).filter(|_| state == NodeState::Failed),
        usage: fold.usage(node),
        taint: taint.cloned(),
        strategies: run.strategies(node).to_vec(),
        confidence: run.confidence(node).filter(|confidence| !confidence.is_clean()).map(Confidence::as_f64),
        ..NodeRecord::new(state)
    }
}
