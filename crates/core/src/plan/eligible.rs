//! Whether an earlier run may be resumed, asked in one order, each refusal with its own words (`R-ELIG-1`).

use std::error::Error;
use std::fmt;

use super::class::FailureClass;
use super::options::Mode;
use super::planned::Plan;
use crate::codes::Code;
use crate::definition::Definition;
use crate::facts::Facts;
use crate::hash::Digest;
use crate::run::RunId;

/// How an earlier run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// A live process owns it.
    Live,
    /// Only a person can move it on.
    Paused,
    /// It has no end and no live owner.
    Interrupted,
    /// It failed.
    Failed(FailureClass),
    /// It completed; marked `degraded` or not.
    Completed {
        /// Whether some result is not what its work would have given, or a failure was left open.
        degraded: bool,
    },
    /// A person cancelled it.
    Cancelled,
}

/// An earlier run, as a list of runs shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The run.
    pub run: RunId,
    /// The hash of what it ran; none if it never got so far.
    pub graph_hash: Option<Digest>,
    /// How it stands.
    pub standing: Standing,
    /// The run that it went on from, or was asked to.
    pub previous: Option<RunId>,
    /// How many runs of its lineage came before.
    pub retry_count: u32,
    /// Whether it is the record of an attempt to resume that was refused.
    pub refused: bool,
}

/// What the first questions are asked about. The later ones need the run itself.
#[derive(Debug, Clone)]
pub struct Search<'case> {
    /// How much of earlier work may be used.
    pub mode: Mode,
    /// What is wrong with `.sprag`, if anything is.
    pub workspace: Result<(), String>,
    /// The run that a person named, as it was written.
    pub named: Option<&'case str>,
    /// The run that the name means; none if there is no such run.
    pub meant: Option<RunId>,
    /// All earlier runs, in the store's order of creation, which no clock can change.
    pub runs: &'case [Candidate],
    /// The hash of what is to run.
    pub graph_hash: Digest,
    /// The retry count that the new run is to have; none to let it follow from the earlier one.
    pub retry_count: Option<u32>,
}

impl<'case> Search<'case> {
    /// The first three questions: whether the mode allows it, the workspace is valid, and a run is given or found.
    pub fn find(&self) -> Result<&'case Candidate, Ineligible> {
        if self.mode == Mode::Clean {
            return Err(Ineligible::Mode);
        }
        self.workspace.clone().map_err(Ineligible::Workspace)?;
        if let Some(named) = self.named {
            let meant = self.meant.and_then(|run| self.runs.iter().find(|candidate| candidate.run == run));
            return meant.ok_or_else(|| Ineligible::NoSuchRun(named.to_owned()));
        }
        let fits = |candidate: &&Candidate| {
            !candidate.refused
                && candidate.graph_hash == Some(self.graph_hash)
                && matches!(candidate.standing, Standing::Failed(_) | Standing::Interrupted)
        };
        self.runs.iter().rev().find(fits).ok_or(Ineligible::NothingFound)
    }

    /// The questions after that, up to the plan. `loaded` says what is wrong with the run, if it cannot be read.
    pub fn check(&self, candidate: &Candidate, loaded: Result<(), String>) -> Result<(), Ineligible> {
        let run = candidate.run;
        loaded.map_err(|detail| Ineligible::Unreadable { run, detail })?;
        if candidate.graph_hash != Some(self.graph_hash) {
            return Err(Ineligible::GraphChanged { run });
        }
        match candidate.standing {
            Standing::Live => return Err(Ineligible::Live { run }),
            Standing::Completed { degraded: false } => return Err(Ineligible::Completed { run }),
            Standing::Cancelled if self.named.is_none() => return Err(Ineligible::Cancelled { run }),
            Standing::Failed(class) if !class.is_resumable() => return Err(Ineligible::Class { run, class }),
            Standing::Paused
            | Standing::Interrupted
            | Standing::Failed(_)
            | Standing::Completed { degraded: true }
            | Standing::Cancelled => {}
        }
        if let Some(successor) = successor(self.runs, run) {
            return Err(Ineligible::AlreadyResumed { run, successor });
        }
        let expected = candidate.retry_count.saturating_add(1);
        match self.retry_count {
            Some(actual) if actual != expected => Err(Ineligible::RetryCount { run, expected, actual }),
            _ => Ok(()),
        }
    }

    /// The last question: nothing at or before the resume point is invalid.
    pub fn check_plan(&self, plan: &Plan, definition: &Definition) -> Result<(), Ineligible> {
        match plan.invalidated_before_resume_point(definition) {
            Some(node) => Err(Ineligible::Invalidated { node: node.id.clone(), why: node.reason.to_string() }),
            None => Ok(()),
        }
    }
}

/// The run that went on from this one. A refused attempt is none (`R-RES-7`).
fn successor(runs: &[Candidate], run: RunId) -> Option<RunId> {
    runs.iter().find(|other| other.previous == Some(run) && !other.refused).map(|other| other.run)
}

/// The run that `resume` means when none is named: the latest that is interrupted, paused or failed, that can be resumed
/// and that nothing has gone on from (`R-CLI-2`). Runs are given in the store's order of creation.
pub fn latest_resumable(runs: &[Candidate]) -> Option<&Candidate> {
    let resumed: std::collections::BTreeSet<RunId> =
        runs.iter().filter(|run| !run.refused).filter_map(|run| run.previous).collect();
    runs.iter().rev().find(|candidate| {
        let stands = match candidate.standing {
            Standing::Interrupted | Standing::Paused => true,
            Standing::Failed(class) => class.is_resumable(),
            Standing::Live | Standing::Completed { .. } | Standing::Cancelled => false,
        };
        stands && !candidate.refused && !resumed.contains(&candidate.run)
    })
}

/// Why an earlier run may not be resumed, in the order in which it is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ineligible {
    /// The mode reuses nothing.
    Mode,
    /// The workspace is not valid, and why.
    Workspace(String),
    /// A run was named that does not exist.
    NoSuchRun(String),
    /// No run was named, and none of this graph failed or was interrupted.
    NothingFound,
    /// The run cannot be read.
    Unreadable {
        /// The run.
        run: RunId,
        /// What is wrong with it.
        detail: String,
    },
    /// It ran another graph.
    GraphChanged {
        /// The run.
        run: RunId,
    },
    /// Somebody is running it.
    Live {
        /// The run.
        run: RunId,
    },
    /// It completed as it should.
    Completed {
        /// The run.
        run: RunId,
    },
    /// It was cancelled, and not named.
    Cancelled {
        /// The run.
        run: RunId,
    },
    /// It failed in a way that going on does not mend.
    Class {
        /// The run.
        run: RunId,
        /// The class of its failure.
        class: FailureClass,
    },
    /// Another run has gone on from it.
    AlreadyResumed {
        /// The run.
        run: RunId,
        /// The one that has.
        successor: RunId,
    },
    /// The new run would not be the next of its lineage.
    RetryCount {
        /// The earlier run.
        run: RunId,
        /// The count that the new run must have.
        expected: u32,
        /// The count that it has.
        actual: u32,
    },
    /// A result that going on would build on is not valid any more.
    Invalidated {
        /// The node.
        node: String,
        /// Why.
        why: String,
    },
}

impl Ineligible {
    /// Its code, and what to do.
    pub fn facts(&self) -> Facts {
        match self {
            Self::Mode => {
                Facts::new(Code::MODE_FORBIDS_RESUME, "leave out `--mode clean`, or leave out the earlier run")
            }
            Self::Workspace(_) => {
                Facts::new(Code::BAD_WORKSPACE, "mend the `.sprag` folder; `sprag doctor` says what is wrong with it")
            }
            Self::NoSuchRun(_) => Facts::new(Code::RUN_NOT_FOUND, "`sprag runs` lists all runs"),
            Self::NothingFound => Facts::new(Code::NOTHING_TO_RESUME, "`sprag run` without `--mode` starts a new run"),
            Self::Unreadable { .. } => {
                Facts::new(Code::RUN_UNREADABLE, "`sprag runs` lists all runs; `sprag run` starts a new one")
            }
            Self::GraphChanged { run } => Facts::new(
                Code::GRAPH_CHANGED,
                format!("`sprag resume {run} --workflow FILE` keeps what has not changed; `sprag run` starts over"),
            ),
            Self::Live { run } => Facts::new(
                Code::RUN_OWNED,
                format!("follow it with `sprag events -f {run}`, or end it with `sprag cancel {run}`"),
            ),
            Self::Completed { run } => Facts::new(
                Code::NOT_RESUMABLE,
                format!("`sprag fork {run} --from NODE` runs part of it again; `sprag run` starts a new one"),
            ),
            Self::Cancelled { run } => Facts::new(Code::NOT_RESUMABLE, format!("name it: `sprag resume {run}`")),
            Self::Class { .. } => {
                Facts::new(Code::NOT_RESUMABLE, "mend what the run reported, then start a new one with `sprag run`")
            }
            Self::AlreadyResumed { run, successor } => Facts::new(
                Code::ALREADY_RESUMED,
                format!("resume that one: `sprag resume {successor}`; `sprag fork {run}` makes another branch"),
            ),
            Self::RetryCount { run, .. } => {
                Facts::new(Code::NOT_RESUMABLE, format!("let `sprag resume {run}` make the next run of the lineage"))
            }
            Self::Invalidated { .. } => Facts::new(
                Code::RESULT_INVALIDATED,
                "`sprag resume` runs it again together with what depends on it; so does `sprag run`",
            ),
        }
    }
}

impl fmt::Display for Ineligible {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mode => formatter.write_str("mode `clean` reuses nothing, so no run can be resumed with it"),
            Self::Workspace(detail) => write!(formatter, "the workspace is not valid: {detail}"),
            Self::NoSuchRun(name) => write!(formatter, "there is no run `{name}` to resume"),
            Self::NothingFound => formatter.write_str("no run of this workflow failed or was interrupted"),
            Self::Unreadable { run, detail } => write!(formatter, "run `{run}` cannot be read: {detail}"),
            Self::GraphChanged { run } => write!(formatter, "the workflow is not the one that run `{run}` ran"),
            Self::Live { run } => write!(formatter, "run `{run}` is being run right now"),
            Self::Completed { run } => write!(formatter, "run `{run}` completed, so nothing is left to resume"),
            Self::Cancelled { run } => {
                write!(formatter, "run `{run}` was cancelled, and is resumed only if it is named")
            }
            Self::Class { run, class } => {
                write!(formatter, "run `{run}` failed with class `{class}`, which cannot be resumed")
            }
            Self::AlreadyResumed { run, successor } => {
                write!(formatter, "run `{run}` was resumed before, by run `{successor}`")
            }
            Self::RetryCount { run, expected, actual } => {
                write!(formatter, "the retry count after run `{run}` is {expected}, not {actual}")
            }
            Self::Invalidated { node, why } => {
                write!(formatter, "node `{node}` before the resume point is not valid any more: {why}")
            }
        }
    }
}

impl Error for Ineligible {}
