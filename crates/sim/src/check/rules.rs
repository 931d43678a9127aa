//! What a policy comes to for one graph of a run: inside another graph it narrows, and never widens (`R-GROW-2`).

use sprag_core::file::{Duration, Policy, Scheduling};

/// The policy of one graph.
#[derive(Debug, Clone)]
pub(super) struct Rules {
    pub waves: bool,
    pub fail_open: bool,
    pub fail_fast: bool,
    pub max_parallelism: Option<u32>,
    pub max_node_failures: Option<u32>,
    pub max_retries_exhausted: Option<u32>,
    pub max_interruptions: Option<u32>,
    pub deadline: Option<Duration>,
}

impl Rules {
    /// Those of a workflow.
    pub fn of(policy: &Policy) -> Self {
        Self {
            waves: policy.scheduling != Some(Scheduling::Frontier),
            fail_open: policy.fail_open == Some(true),
            fail_fast: policy.fail_fast == Some(true),
            max_parallelism: policy.max_parallelism,
            max_node_failures: policy.max_node_failures,
            max_retries_exhausted: policy.max_retries_exhausted,
            max_interruptions: policy.max_interruptions,
            deadline: policy.deadline,
        }
    }

    /// Those of a graph inside with a policy of its own.
    pub fn narrowed(&self, own: &Policy) -> Self {
        let least = [self.max_interruptions, own.max_interruptions].into_iter().flatten().min();
        Self {
            waves: own.scheduling.map_or(self.waves, |scheduling| scheduling == Scheduling::Waves),
            fail_open: self.fail_open && own.fail_open != Some(false),
            fail_fast: self.fail_fast || own.fail_fast == Some(true),
            max_interruptions: least,
            ..Self::of(own)
        }
    }

    /// Those of a graph inside that has none.
    pub fn inherited(&self) -> Self {
        self.narrowed(&Policy::default())
    }
}
