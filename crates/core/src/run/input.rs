//! What comes to a run from outside: reports of executors, commands of people, a new owner.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::failure::{Feedback, Grade, NodeError};
use super::ids::{CommandId, OwnerId, QuestionId, RunId, Seq};
use super::parts::{Product, Usage};
use super::question::Choice;
use crate::file::Duration;
use crate::graph::NodeIndex;
use crate::hash::Digest;

/// Something that happened outside. Each has an id (a command's own; node, attempt and stage of a report; the owner),
/// and deciding one that is applied already adds nothing.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// A process takes the run.
    Take {
        /// The process.
        owner: OwnerId,
        /// How it came to it.
        how: Taking,
        /// The last entry when it folded the journal. Whoever folds anew claims anew, even the same process: nobody
        /// works on what it had running before.
        folded: Seq,
    },
    /// An executor has something to say about an attempt.
    Report {
        /// The node.
        node: NodeIndex,
        /// The attempt.
        attempt: u32,
        /// What.
        report: Report,
    },
    /// A linked run goes on in place of this one, which has not ended and must (`R-RES-1`).
    Supersede {
        /// That run.
        by: RunId,
    },
    /// A person wants something.
    Command(Command),
}

/// How a process came to own a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taking {
    /// It created the run, or took it over by itself after another process died.
    Automatic,
    /// A person resumed it.
    Person {
        /// A new deadline, from now on.
        deadline: Option<Duration>,
    },
}

/// What an executor says about an attempt.
#[derive(Debug, Clone, PartialEq)]
pub enum Report {
    /// The work is done.
    Produced(Product),
    /// A stage failed.
    Failed(Stage, NodeError),
    /// A stage failed, and this is what it cost all the same.
    FailedAt(Stage, NodeError, Usage),
    /// The output fits its schemas.
    Checked,
    /// The output was graded.
    Graded {
        /// The grade.
        grade: Grade,
        /// What the grader said.
        feedback: Vec<Feedback>,
    },
    /// The task is split: the output is a graph of smaller ones.
    Decomposed(Product),
    /// The probe knows whether the attempt happened.
    Probed {
        /// Its output, if it happened.
        happened: Option<Arc<Value>>,
    },
}

/// What is being done for an attempt (`R-STATE-8`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// The work itself.
    Work,
    /// Finding out whether work of unknown outcome happened.
    Probe,
    /// Splitting a task that failed into smaller ones.
    Decompose,
    /// Becoming the graph of its children.
    Grow,
    /// Waiting for its children.
    Children,
    /// Comparing the output with its schemas.
    Check,
    /// Grading the output.
    Evaluate,
    /// Asking a person.
    Gate,
    /// Nothing more.
    Done,
}

impl Stage {
    /// The stages that somebody outside does, and that may cost something.
    pub(super) const PAID: [Self; 5] = [Self::Work, Self::Probe, Self::Decompose, Self::Check, Self::Evaluate];
}

/// What a person wants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// Sent twice, it counts once.
    pub id: CommandId,
    /// Who wants it.
    pub by: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What.
    pub verb: Verb,
}

/// What a person may want of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Verb {
    /// Answer a question. Whoever takes the command from a person compares the data with the question's form, or with
    /// the schema of the output that is provided, and sees that it nests no deeper than [`super::DEPTH_MAX`], before it
    /// becomes an input.
    Answer {
        /// The question.
        question: QuestionRef,
        /// What is chosen.
        choice: Choice,
        /// The digest of what the person saw.
        digest: Digest,
        /// The form's fields, or the output that is provided.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Value>,
    },
    /// Send a signal to the nodes that wait for it.
    Signal {
        /// Its name.
        name: String,
        /// What comes with it.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        data: Value,
    },
    /// End the run.
    Cancel {
        /// Whether processes get no time to end.
        kill: bool,
    },
    /// Start nothing more.
    Pause,
    /// Go on.
    Unpause,
}

/// A question by its number, or the open question of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionRef {
    /// By number.
    Id(QuestionId),
    /// By the node that waits.
    Node(String),
}

/// What the durable state of a run demands of the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Do a stage of an attempt: work, probe, check or evaluate.
    Execute {
        /// The node.
        node: NodeIndex,
        /// The attempt.
        attempt: u32,
        /// What is to be done.
        stage: Stage,
    },
    /// Stop what is being done for an attempt.
    Abort {
        /// The node.
        node: NodeIndex,
        /// The attempt.
        attempt: u32,
        /// Whether it gets no time to end.
        kill: bool,
    },
    /// Show a question to whoever can answer it.
    Ask {
        /// The question.
        question: QuestionId,
    },
    /// The run is over.
    Finish,
}
