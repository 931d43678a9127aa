//! How a run behaves as a whole, and how a node is repeated and recovered.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::work::Work;
use super::{Duration, ErrorCode};
use crate::run::Class;

/// How the run as a whole behaves.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// Whether a wave ends before the next starts.
    pub scheduling: Option<Scheduling>,
    /// How many nodes run at once; by default the larger of 4 and the number of cores.
    pub max_parallelism: Option<u32>,
    /// Stops the run when so many nodes have failed for good.
    pub max_node_failures: Option<u32>,
    /// Stops the run when so many nodes have failed for good after more than one attempt.
    pub max_retries_exhausted: Option<u32>,
    /// Whether a run with an unhandled failure counts as completed, marked degraded.
    pub fail_open: Option<bool>,
    /// Whether the first unhandled failure stops the run.
    pub fail_fast: Option<bool>,
    /// How long the run may take.
    pub deadline: Option<Duration>,
    /// How much the run may spend.
    pub budget: Option<Budget>,
    /// What effects wait for.
    pub durability: Option<Durability>,
    /// When checkpoints are saved and how many are kept.
    pub checkpoints: Option<CheckpointPolicy>,
    /// How many times a node may be interrupted by dying processes before that is final.
    pub max_interruptions: Option<u32>,
}

/// Whether a wave ends before the next starts (`R-SCHED-1`, `R-SCHED-2`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scheduling {
    /// Every node of a wave is settled before the next wave starts.
    #[default]
    Waves,
    /// A node starts as soon as its own edges allow.
    Frontier,
}

/// How much a run may spend.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    /// Tokens, in and out together.
    pub tokens: Option<u64>,
    /// US dollars.
    pub usd: Option<f64>,
    /// What happens when it is used up.
    pub on_exceeded: Option<OnExceeded>,
}

/// What happens when a budget is used up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnExceeded {
    /// A person is asked.
    #[default]
    Ask,
    /// The node fails.
    Fail,
}

/// What effects wait for (`R-JRN-1`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// For the flush: a power cut loses nothing.
    #[default]
    Strict,
    /// For the write: a killed process loses nothing, a power cut may lose the last moments.
    Relaxed,
}

impl Durability {
    /// Whether effects wait for the write only.
    pub const fn is_relaxed(self) -> bool {
        matches!(self, Self::Relaxed)
    }
}

/// When checkpoints are saved and how many are kept (`R-CP-1`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CheckpointPolicy {
    /// How many are kept.
    pub keep: Option<u32>,
    /// Saves one every so often.
    pub autosave: Option<Duration>,
    /// Saves one before a gate.
    pub before_gates: Option<bool>,
    /// Saves one before an expensive node.
    pub before_expensive: Option<bool>,
}

/// How failed attempts are repeated (`R-RETRY-1`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Retry {
    /// How many attempts in all.
    pub max_attempts: Option<u32>,
    /// The delay before the second attempt.
    pub initial_delay: Option<Duration>,
    /// The longest delay.
    pub max_delay: Option<Duration>,
    /// How the delay grows.
    pub backoff: Option<Backoff>,
    /// By what part of itself the delay varies, from 0 to 1.
    pub jitter: Option<f64>,
    /// Only these codes or classes are repeated.
    pub only: Option<Vec<String>>,
    /// These codes or classes are not repeated.
    pub never: Option<Vec<String>>,
}

/// How a delay grows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Backoff {
    /// Not at all.
    Fixed,
    /// By the same amount each time.
    Linear,
    /// Doubled each time.
    #[default]
    Exponential,
}

/// What is tried when attempts fail (`R-NODE-3`, `R-REC-1`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Recovery {
    /// Whether the ladder of strategies is used at all.
    pub ladder: Option<bool>,
    /// How many attempts the ladder may make.
    pub max_attempts: Option<u32>,
    /// Models from cheap to dear.
    pub tiers: Option<Vec<String>>,
    /// Work that splits the task into smaller nodes.
    pub decompose: Option<Box<Work>>,
    /// Whether a person is asked before the node fails.
    pub human: Option<Human>,
}

/// Whether a person is asked before a node fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Human {
    /// A person is asked.
    Pause,
    /// The node fails.
    Fail,
}

/// The classes of error codes, as words that `only` and `never` take besides codes (`R-ERR-1`).
pub const ERROR_CLASSES: [&str; 4] = Class::WORDS;

/// Whether a text is a code or class that a retry list may name.
pub fn is_code_or_class(text: &str) -> bool {
    ERROR_CLASSES.contains(&text) || ErrorCode::new(text).is_ok()
}
