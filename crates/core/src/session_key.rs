//! The keys under which a host finds what runs and nodes said, and what it finds there (`R-SES-2`).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::checkpoint::{Address, Blob};
use crate::file::{WorkflowId, id_problem};
use crate::hash::Digest;
use crate::run::RunId;

/// How much of an output its summary shows.
pub const SUMMARY_BYTES_MAX: usize = 1024;

/// The length of a UUID with its hyphens.
const UUID_LEN: usize = 36;

/// The id of a host's agent. It follows the grammar of ids, so it holds no `:` and no key can be read in two ways.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentId(Box<str>);

impl AgentId {
    /// Checks a text and takes it as an id. The error says what is wrong with it.
    pub fn new(text: &str) -> Result<Self, String> {
        match id_problem(text) {
            Some(problem) => Err(problem),
            None => Ok(Self(text.into())),
        }
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for AgentId {
    /// The agent of a host that has only one.
    fn default() -> Self {
        Self("main".into())
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The key of a run: `agent:<agent>:workflow:<workflow>:run:<run>`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct RunSessionKey {
    /// The host's agent.
    pub agent: AgentId,
    /// The workflow.
    pub workflow: WorkflowId,
    /// The run.
    pub run: RunId,
}

/// The key of an attempt at a node: that of its run and `:node:<node>:attempt:<n>`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct NodeSessionKey {
    /// The key of the run.
    pub run: RunSessionKey,
    /// The node.
    pub node: Address,
    /// The attempt, from 1.
    pub attempt: u32,
}

/// A text that is no key of the kind that was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotASessionKey {
    text: String,
    expected: &'static str,
}

impl fmt::Display for NotASessionKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` is not a session key `{}`", self.text.escape_debug(), self.expected)
    }
}

impl std::error::Error for NotASessionKey {}

/// Whether a text is the key of a run. That of a node is not.
pub fn is_workflow_run_session_key(text: &str) -> bool {
    text.parse::<RunSessionKey>().is_ok()
}

/// Whether a text is the key of an attempt at a node.
pub fn is_workflow_node_session_key(text: &str) -> bool {
    text.parse::<NodeSessionKey>().is_ok()
}

impl fmt::Display for RunSessionKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "agent:{}:workflow:{}:run:{}", self.agent, self.workflow, self.run)
    }
}

impl fmt::Display for NodeSessionKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:node:{}:attempt:{}", self.run, self.node, self.attempt)
    }
}

impl FromStr for RunSessionKey {
    type Err = NotASessionKey;

    fn from_str(text: &str) -> Result<Self, NotASessionKey> {
        let expected = "agent:<agent>:workflow:<workflow>:run:<run>";
        let parts: Vec<_> = text.split(':').collect();
        run_key(&parts).ok_or_else(|| NotASessionKey { text: text.to_owned(), expected })
    }
}

impl FromStr for NodeSessionKey {
    type Err = NotASessionKey;

    fn from_str(text: &str) -> Result<Self, NotASessionKey> {
        let expected = "agent:<agent>:workflow:<workflow>:run:<run>:node:<node>:attempt:<n>";
        let parts: Vec<_> = text.split(':').collect();
        let key = || {
            let (run, rest) = parts.split_at_checked(6)?;
            let [node_word, node, attempt_word, attempt] = rest else { return None };
            if !(node_word.eq_ignore_ascii_case("node") && attempt_word.eq_ignore_ascii_case("attempt")) {
                return None;
            }
            let number = attempt.parse::<u32>().ok().filter(|number| *number > 0 && number.to_string() == *attempt)?;
            Some(Self { run: run_key(run)?, node: node.parse().ok()?, attempt: number })
        };
        key().ok_or_else(|| NotASessionKey { text: text.to_owned(), expected })
    }
}

/// The words of the shape and the UUID are the same in any case; ids are not, and stay as they are written.
fn run_key(parts: &[&str]) -> Option<RunSessionKey> {
    let [agent_word, agent, workflow_word, workflow, run_word, run] = parts else { return None };
    let words = [(agent_word, "agent"), (workflow_word, "workflow"), (run_word, "run")];
    if !words.iter().all(|(word, expected)| word.eq_ignore_ascii_case(expected)) || run.len() != UUID_LEN {
        return None;
    }
    Some(RunSessionKey {
        agent: AgentId::new(agent).ok()?,
        workflow: WorkflowId::new(workflow).ok()?,
        run: run.parse().ok()?,
    })
}

macro_rules! texts {
    ($($name:ident),+) => {$(
        impl From<$name> for String {
            fn from(key: $name) -> Self {
                key.to_string()
            }
        }

        impl TryFrom<String> for $name {
            type Error = NotASessionKey;

            fn try_from(text: String) -> Result<Self, NotASessionKey> {
                text.parse()
            }
        }
    )+};
}
texts! { RunSessionKey, NodeSessionKey }

/// What is found under a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionEntry {
    /// The beginning of the output.
    pub summary: String,
    /// The digest of the whole output as JSON, under which the blob store has it where it is long.
    pub digest: Digest,
    /// The key of the session that started this one, in whatever shape its host gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spawned_by: Option<String>,
    /// How many sessions are above this one.
    pub spawn_depth: u32,
    /// Which agent the work would like to have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_hint: Option<String>,
}

impl SessionEntry {
    /// The entry for an output, of a session that nobody started.
    pub fn of(output: &Value) -> Self {
        let text = match output {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => output.to_string(),
        };
        let end = text.floor_char_boundary(SUMMARY_BYTES_MAX);
        Self {
            summary: text[..end].to_owned(),
            digest: Blob::of(output).digest,
            spawned_by: None,
            spawn_depth: 0,
            agent_hint: None,
        }
    }

    /// The same, started by another session at a depth.
    #[must_use]
    pub fn spawned(mut self, by: impl Into<String>, parent_depth: u32) -> Self {
        self.spawned_by = Some(by.into());
        self.spawn_depth = parent_depth.saturating_add(1);
        self
    }

    /// The same, with a wish for an agent.
    #[must_use]
    pub fn hinted(mut self, agent: impl Into<String>) -> Self {
        self.agent_hint = Some(agent.into());
        self
    }
}
