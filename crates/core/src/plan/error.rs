//! Why there is no plan.

use std::error::Error;
use std::fmt;

use crate::codes::Code;
use crate::facts::Facts;
use crate::run::RunId;

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanError {
    /// A name that no node has.
    UnknownNode {
        /// What was written.
        name: String,
        /// The name that was probably meant.
        nearest: Option<String>,
    },
    /// `resume-only`, and the earlier run ran another graph (`R-RES-6`).
    GraphChanged {
        /// The earlier run.
        run: RunId,
    },
    /// `resume-only`, and there is no earlier run (`R-MODE-1`).
    NothingBefore,
}

impl PlanError {
    /// Its code, and what to do.
    pub fn facts(&self) -> Facts {
        match self {
            Self::UnknownNode { nearest: Some(name), .. } => {
                Facts::new(Code::UNKNOWN_NODE, format!("did you mean `{name}`?"))
            }
            Self::UnknownNode { nearest: None, .. } => {
                Facts::new(Code::UNKNOWN_NODE, "`sprag plan` lists the nodes; a node inside another is `parent/child`")
            }
            Self::GraphChanged { run } => Facts::new(
                Code::GRAPH_CHANGED,
                format!("`sprag resume {run} --workflow FILE` keeps what has not changed; `sprag run` starts over"),
            ),
            Self::NothingBefore => Facts::new(Code::NOTHING_TO_RESUME, "`sprag run` without `--mode` starts a new run"),
        }
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownNode { name, .. } => write!(formatter, "there is no node `{name}` to run again"),
            Self::GraphChanged { run } => {
                write!(formatter, "the workflow is not the one that run `{run}` ran, and `resume-only` keeps to that")
            }
            Self::NothingBefore => formatter.write_str("there is no earlier run to go on with"),
        }
    }
}

impl Error for PlanError {}
