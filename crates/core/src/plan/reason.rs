//! Why a node is kept, runs, or waits; each in a sentence for people (`R-RES-3`).

use std::fmt;

use super::planned::Action;
use crate::run::{NodeState, SkipReason};

/// Something that a run is given and that every node may read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given {
    /// A parameter.
    Param(String),
    /// A key of the context that the workflow starts with.
    Context(String),
}

impl fmt::Display for Given {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Param(name) => write!(formatter, "parameter `{name}`"),
            Self::Context(key) => write!(formatter, "`{key}` of the context"),
        }
    }
}

/// Why a node is planned as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// Nothing came before.
    FirstRun,
    /// The mode reuses nothing.
    Clean,
    /// The earlier run did not have it.
    New,
    /// A person named it.
    Named,
    /// A fork begins here.
    Forked,
    /// It is not what it was.
    DefinitionChanged,
    /// It completed, and its result is lost.
    ResultMissing,
    /// It completed, and all completed ones were asked for.
    ReExecuteCompleted,
    /// Something that every node may read has changed, and no task hash proves that this one does not.
    GivenChanged(Given),
    /// It comes after one that runs.
    Upstream {
        /// The one that runs.
        node: String,
    },
    /// What its work read is not what it would read now.
    InputsChanged,
    /// A node inside it runs.
    ChildRuns {
        /// The address of the first one.
        child: String,
    },
    /// It failed.
    Failed,
    /// It was skipped only because the run stopped.
    RunStopped,
    /// It had not settled, or was cancelled.
    Unfinished(NodeState),
    /// A person has been asked, and has not answered.
    AwaitingApproval,
    /// Its result is kept.
    Kept,
    /// Its result is kept although something before it runs: its task hash is the same.
    Proven {
        /// The one that runs.
        node: String,
    },
    /// It failed, and failures are not to be tried again.
    KeptFailure,
    /// How it ended stands: its phase is done, its parent completed, or the run goes on in place.
    Stands(NodeState),
    /// It was skipped, and nothing before it runs.
    StaysSkipped(SkipReason),
    /// It would run, but a source that is kept does not let it.
    WillBeSkipped {
        /// The source.
        source: String,
    },
}

impl Reason {
    /// What is done with the node.
    pub const fn action(&self) -> Action {
        match self {
            Self::FirstRun
            | Self::Clean
            | Self::New
            | Self::Named
            | Self::Forked
            | Self::DefinitionChanged
            | Self::ResultMissing
            | Self::ReExecuteCompleted
            | Self::GivenChanged(_)
            | Self::Upstream { .. }
            | Self::InputsChanged
            | Self::ChildRuns { .. }
            | Self::Failed
            | Self::RunStopped
            | Self::Unfinished(_) => Action::Execute,
            Self::AwaitingApproval => Action::Wait,
            Self::Kept
            | Self::Proven { .. }
            | Self::KeptFailure
            | Self::Stands(_)
            | Self::StaysSkipped(_)
            | Self::WillBeSkipped { .. } => Action::Reuse,
        }
    }

    /// Whether what the node grew into is still of use: only what is left inside it has to run (`R-GROW-2`).
    pub const fn keeps_inside(&self) -> bool {
        match self {
            Self::ResultMissing
            | Self::ChildRuns { .. }
            | Self::Failed
            | Self::Unfinished(_)
            | Self::RunStopped
            | Self::AwaitingApproval
            | Self::Kept
            | Self::Proven { .. }
            | Self::KeptFailure
            | Self::Stands(_) => true,
            Self::FirstRun
            | Self::Clean
            | Self::New
            | Self::Named
            | Self::Forked
            | Self::DefinitionChanged
            | Self::ReExecuteCompleted
            | Self::GivenChanged(_)
            | Self::Upstream { .. }
            | Self::InputsChanged
            | Self::StaysSkipped(_)
            | Self::WillBeSkipped { .. } => false,
        }
    }

    /// Whether a result that was there cannot be used any more, without a person having asked for that (`R-ELIG-1`).
    pub const fn invalidates(&self) -> bool {
        matches!(self, Self::DefinitionChanged | Self::ResultMissing | Self::GivenChanged(_) | Self::InputsChanged)
    }

    /// Whether the earlier run stopped at this node: it failed, or never got to its end.
    pub const fn resumes(&self) -> bool {
        matches!(self, Self::Failed | Self::RunStopped | Self::Unfinished(_) | Self::AwaitingApproval)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FirstRun => formatter.write_str("there is no earlier run to keep anything of"),
            Self::Clean => formatter.write_str("a clean run reuses nothing"),
            Self::New => formatter.write_str("the earlier run did not have it"),
            Self::Named => formatter.write_str("named with `--re-execute`"),
            Self::Forked => formatter.write_str("the fork begins here"),
            Self::DefinitionChanged => formatter.write_str("its definition changed"),
            Self::ResultMissing => formatter.write_str("it completed, but its result is missing"),
            Self::ReExecuteCompleted => formatter.write_str("it completed, and `--re-execute-completed` is given"),
            Self::GivenChanged(given) => write!(formatter, "{given} changed"),
            Self::Upstream { node } => write!(formatter, "it comes after `{node}`, which runs"),
            Self::InputsChanged => formatter.write_str("what it reads is not proved to be what it read before"),
            Self::ChildRuns { child } => write!(formatter, "`{child}` inside it runs"),
            Self::Failed => formatter.write_str("it failed"),
            Self::RunStopped => formatter.write_str("it was skipped because the run stopped"),
            Self::Unfinished(state) => write!(formatter, "it had not finished: {state}"),
            Self::AwaitingApproval => formatter.write_str("it waits for a person"),
            Self::Kept => formatter.write_str("it completed, and nothing before it changed"),
            Self::Proven { node } => write!(formatter, "`{node}` runs before it, but its task hash is the same"),
            Self::KeptFailure => formatter.write_str("it failed, and `--no-retry-failed` is given"),
            Self::Stands(state) => write!(formatter, "it stays as it ended: {state}"),
            Self::StaysSkipped(reason) => write!(formatter, "it stays skipped: {}", reason.as_str()),
            Self::WillBeSkipped { source } => write!(formatter, "it will be skipped: `{source}` does not let it run"),
        }
    }
}
