//! The state of a workflow as people and agents see it: messages, tasks, decisions, context (`R-CP-1`, `R-RES-4`).
//!
//! Four slices and one reducer for each: three append, the context merges. What goes in are facts of the run; rendered
//! prompts, transcripts and logs have no place here.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::address::Address;
use super::held::Held;
use crate::file::Duration;
use crate::run::{Timestamp, merge_patch};

/// The state of a workflow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkflowState {
    /// What was said to the run, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<Message>,
    /// The results of completed nodes, in the order of completion.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<Task>,
    /// What was decided, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<DecisionRecord>,
    /// The context after all patches so far.
    pub context: Value,
}

impl Default for WorkflowState {
    fn default() -> Self {
        Self::new(Map::new())
    }
}

/// Something that changes the state of a workflow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Update {
    /// Something was said to the run.
    Message(Message),
    /// A node completed.
    Task(Task),
    /// Something was decided.
    Decision(DecisionRecord),
    /// A merge patch of the context (RFC 7396). Patches are handed over in the order in which they count.
    Context(Value),
}

/// What was said to a run; never a turn of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// What kind of thing it is.
    pub kind: MessageKind,
    /// The name of the signal, or the question that is answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Who said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// What came with it.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
    /// When.
    pub at: Timestamp,
}

/// What can be said to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageKind {
    /// A signal from outside.
    Signal,
    /// An answer to a question.
    Answer,
    /// A note that a person left.
    Note,
}

/// The result of a completed node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// The address of the node.
    pub task_id: Address,
    /// Its output.
    pub result: Held,
    /// When it completed.
    pub timestamp: Timestamp,
    /// How long it took; written in milliseconds.
    #[serde(with = "milliseconds")]
    pub duration: Duration,
}

/// Something that was decided about a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecisionRecord {
    /// What kind of decision it is.
    pub what: DecisionKind,
    /// The node it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<Address>,
    /// The person; none where a rule decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What was chosen.
    pub choice: String,
    /// When.
    pub at: Timestamp,
}

/// What can be decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecisionKind {
    /// A result may pass.
    Approval,
    /// It may not.
    Rejection,
    /// Any other question was answered.
    Answer,
    /// The run may spend more.
    BudgetRaise,
    /// A way to recover was chosen.
    Strategy,
}

impl WorkflowState {
    /// The state of a run that begins with this context.
    pub const fn new(context: Map<String, Value>) -> Self {
        Self { messages: Vec::new(), tasks: Vec::new(), decisions: Vec::new(), context: Value::Object(context) }
    }

    /// Takes an update in. Nothing is ever taken out again but what a patch of the context removes.
    pub fn apply(&mut self, update: Update) {
        match update {
            Update::Message(message) => self.messages.push(message),
            Update::Task(task) => self.tasks.push(task),
            Update::Decision(decision) => self.decisions.push(decision),
            Update::Context(patch) => merge_patch(&mut self.context, &patch),
        }
    }

    /// The newest result of a node: one that ran again has several.
    pub fn result(&self, node: &str) -> Option<&Held> {
        self.tasks.iter().rev().find(|task| task.task_id.as_str() == node).map(|task| &task.result)
    }
}

/// In a workflow file durations are text with a unit; in stored records they are numbers.
mod milliseconds {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::file::Duration;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
    pub fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(duration.millis)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_millis)
    }
}
