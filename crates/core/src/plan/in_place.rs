//! Whether a resume goes on in the same run, or in a new one that is linked to it (`R-RES-1`, `R-RES-7`).

use std::fmt;

use super::options::ResumeOptions;
use super::past::Past;

/// What a `resume` asks for, beside the options.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Resumed {
    /// A checkpoint is given with `--from`.
    pub from_checkpoint: bool,
    /// A file is given with `--workflow`.
    pub workflow: bool,
}

/// How a resume goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// In the same run, as if it had not been interrupted.
    InPlace,
    /// The run has ended: in a new run that is linked to it.
    Linked,
    /// The run has not ended, but must: it is closed as superseded, and a linked run goes on.
    Closed(Closing),
}

/// Why a run that has not ended cannot go on in place: something settled would have to move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Closing {
    /// A node was named to run again.
    Named(String),
    /// All completed nodes are to run again.
    ReExecuteCompleted,
    /// It is to go on from a checkpoint.
    Checkpoint,
    /// It is to go on with another file.
    Workflow,
    /// A completed node has lost its result.
    ResultMissing,
}

impl fmt::Display for Closing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(node) => write!(formatter, "`{node}` is to run again"),
            Self::ReExecuteCompleted => formatter.write_str("completed nodes are to run again"),
            Self::Checkpoint => formatter.write_str("it goes on from a checkpoint"),
            Self::Workflow => formatter.write_str("it goes on with another workflow file"),
            Self::ResultMissing => formatter.write_str("the result of a completed node is missing"),
        }
    }
}

/// Decides how a resume goes on. `--no-retry-failed` closes nothing: in place final failures stand anyway.
pub fn way(past: &Past, options: &ResumeOptions, resumed: Resumed) -> Way {
    if past.ending.is_some() {
        return Way::Linked;
    }
    let closing = match options.re_execute_nodes.first() {
        Some(node) => Closing::Named(node.clone()),
        None if options.re_execute_completed => Closing::ReExecuteCompleted,
        None if resumed.from_checkpoint => Closing::Checkpoint,
        None if resumed.workflow => Closing::Workflow,
        None if past.result_missing() => Closing::ResultMissing,
        None => return Way::InPlace,
    };
    Way::Closed(closing)
}
