//! Functions of the Rust host that `call` nodes name (`R-NODE-1`).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use sprag_core::run::{NodeError, Product, RunId};
use uuid::Uuid;

use crate::exec::Abort;

/// What a function is told about the attempt that calls it.
#[derive(Debug)]
pub struct Call {
    /// The run.
    pub run: RunId,
    /// The node.
    pub node: String,
    /// The attempt, from 1.
    pub attempt: u32,
    /// The id of the attempt.
    pub attempt_id: Uuid,
    /// What the other side may deduplicate by: the same over attempts and resumes (`R-CLAIM-6`).
    pub idempotency_key: Uuid,
    /// The node's `with`, its templates filled in.
    pub with: Value,
    /// What a command would read from `SPRAG_INPUT`.
    pub input: Value,
    pub(super) abort: Abort,
}

impl Call {
    /// Whether the attempt is no longer wanted. A function that takes long asks now and then, and returns.
    pub fn is_cancelled(&self) -> bool {
        self.abort.asked().is_some()
    }
}

/// A function that `call` nodes name.
pub type Function = dyn Fn(&Call) -> Result<Product, NodeError> + Send + Sync;

/// The functions of a host, by name.
#[derive(Clone, Default)]
pub struct Functions {
    by_name: BTreeMap<String, Arc<Function>>,
}

impl Functions {
    /// No functions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers a function under a name.
    #[must_use]
    pub fn with(
        mut self,
        name: impl Into<String>,
        function: impl Fn(&Call) -> Result<Product, NodeError> + Send + Sync + 'static,
    ) -> Self {
        self.by_name.insert(name.into(), Arc::new(function));
        self
    }

    /// The function of this name.
    pub fn find(&self, name: &str) -> Option<Arc<Function>> {
        self.by_name.get(name).cloned()
    }

    /// The names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }
}

impl std::fmt::Debug for Functions {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_set().entries(self.by_name.keys()).finish()
    }
}
