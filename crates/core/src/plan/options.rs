//! What a person asks of a plan.

use serde::{Deserialize, Serialize};

use crate::hash::Digest;

/// How much of earlier work a run may use (`R-MODE-1`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Nothing.
    Clean,
    /// What is proved unchanged.
    #[default]
    Incremental,
    /// Only to go on with a run of the same graph that failed or was interrupted.
    ResumeOnly,
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 3] = [Self::Clean, Self::Incremental, Self::ResumeOnly];

    /// The word on the command line and in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Incremental => "incremental",
            Self::ResumeOnly => "resume-only",
        }
    }

    /// The mode of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == name)
    }
}

/// What to do with the nodes of the earlier run (`R-RES-2`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResumeOptions {
    /// Run completed nodes again.
    pub re_execute_completed: bool,
    /// Run failed nodes again.
    pub retry_failed: bool,
    /// Run these again, by address: `build`, `each/3`.
    pub re_execute_nodes: Vec<String>,
}

impl Default for ResumeOptions {
    fn default() -> Self {
        Self { re_execute_completed: false, retry_failed: true, re_execute_nodes: Vec::new() }
    }
}

/// Answers with the task hash that a node would have if it started now, or with none if that cannot be known.
///
/// It is asked in topological order, with the address of the node and a function that says which nodes will run: what
/// depends on the output of one of those cannot be known.
pub type TaskHashes<'caller> = dyn Fn(&str, &dyn Fn(&str) -> bool) -> Option<Digest> + 'caller;

/// Knows no task hash: definition and upstream alone decide.
pub fn no_task_hashes(_: &str, _: &dyn Fn(&str) -> bool) -> Option<Digest> {
    None
}
