//! What an attempt at a command needs: plain data, made by whoever decided that it starts.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sprag_core::file::{ErrorCode, OutputFormat};
use sprag_core::run::{OwnerId, RunId, Timestamp};
use uuid::Uuid;

use super::mask::Mask;

/// How long processes that were asked to end have before they are killed (`R-CMD-2`).
pub const GRACE: Duration = Duration::from_secs(10);

/// Everything an attempt at a command needs.
pub struct CommandJob {
    /// Which attempt it is.
    pub identity: Identity,
    /// What is started.
    pub program: Program,
    /// The working folder, absolute.
    pub folder: PathBuf,
    /// Variables of the node, rendered: its `env`, the values of its script, its model.
    pub environment: Vec<(String, String)>,
    /// Names of variables that are handed on if sprag itself has them.
    pub pass_env: Vec<String>,
    /// Secrets, handed over as variables: name and value.
    pub secrets: Vec<(String, String)>,
    /// Hides secrets in everything that is kept.
    pub mask: Option<Arc<dyn Mask>>,
    /// The JSON that `SPRAG_INPUT` holds.
    pub input: Vec<u8>,
    /// What standard output is read as.
    pub output: OutputFormat,
    /// The codes of exit codes.
    pub errors: BTreeMap<String, ErrorCode>,
    /// How long the attempt may take.
    pub timeout: Option<Duration>,
    /// How long it may be silent.
    pub idle_timeout: Option<Duration>,
    /// The moment it is told to be done by.
    pub deadline: Option<Timestamp>,
    /// The file its output is logged to; created by its first byte.
    pub log: PathBuf,
    /// How long its processes have to end when they are asked to; [`GRACE`] everywhere but in tests.
    pub grace: Duration,
}

impl CommandJob {
    /// A job with nothing but what every job has.
    pub fn new(identity: Identity, program: Program, folder: PathBuf, log: PathBuf) -> Self {
        Self {
            identity,
            program,
            folder,
            environment: Vec::new(),
            pass_env: Vec::new(),
            secrets: Vec::new(),
            mask: None,
            input: b"{}".to_vec(),
            output: OutputFormat::Text,
            errors: BTreeMap::new(),
            timeout: None,
            idle_timeout: None,
            deadline: None,
            log,
            grace: GRACE,
        }
    }
}

/// Which attempt it is (`R-CLAIM-6`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The run.
    pub run: RunId,
    /// The address of the node.
    pub node: String,
    /// The attempt, from 1.
    pub attempt: u32,
    /// The id of the attempt.
    pub attempt_id: Uuid,
    /// What the outside world recognises the node's effect by.
    pub idempotency_key: Uuid,
    /// The process that executes it.
    pub owner: OwnerId,
}

/// What is started (`R-NODE-1`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// A script for `/bin/sh -c`.
    Shell(String),
    /// A program and its arguments, started as they are.
    Arguments(Vec<String>),
}
