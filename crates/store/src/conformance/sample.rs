//! What the cases store. What it says does not matter to a store; how it is told apart does.

use std::sync::Arc;

use sprag_core::file::WorkflowId;
use sprag_core::hash::Digest;
use sprag_core::run::{
    Command, CommandId, Commit, Counts, Entry, Fence, OwnerId, RunId, RunStatus, Seq, Summary, Timestamp, Usage, Verb,
};
use uuid::Uuid;

pub(super) fn run(number: u8) -> RunId {
    RunId(Uuid::from_bytes([number; 16]))
}

pub(super) fn owner(number: u8) -> OwnerId {
    OwnerId(Uuid::from_bytes([number; 16]))
}

/// A commit of so many entries.
pub(super) fn commit(run: RunId, first: u64, count: usize, fence: u64) -> Arc<Commit> {
    let entries = (0..count).map(|at| Entry::Held { on: at % 2 == 0 }).collect();
    let at = Timestamp::from_millis(i64::try_from(first).unwrap_or(0));
    Arc::new(Commit::new(run, OwnerId::default(), Seq(first), at, Fence(fence), entries))
}

/// A line in a list.
pub(super) fn summary(workflow: &str, status: RunStatus, started_at: i64) -> Result<Box<Summary>, String> {
    let workflow = WorkflowId::new(workflow)?;
    Ok(Box::new(Summary {
        workflow,
        version: Some("1.2".to_owned()),
        graph_hash: Digest::of(b"graph"),
        previous_run: Some(run(9)),
        retry_count: 1,
        status,
        exit: None,
        degraded: false,
        owner: Some(owner(1)),
        started_at: Timestamp::from_millis(started_at),
        ended_at: None,
        counts: Counts { nodes: 3, completed: 1, ..Counts::default() },
        usage: Usage { tokens_in: 1, tokens_out: 2, usd: 0.1 },
        failure: None,
        seq: Seq(1),
    }))
}

pub(super) fn command(number: u8, by: &str) -> Command {
    Command {
        id: CommandId(Uuid::from_bytes([number; 16])),
        by: by.to_owned(),
        why: Some("it's \"late\"\n".to_owned()),
        verb: Verb::Cancel { kill: false },
    }
}
