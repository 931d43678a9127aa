//! A plan: what happens to each node, why, and what that saves (`R-RES-3`, `R-CLI-8`).

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::changes::Changes;
use super::reason::Reason;
use crate::run::{Cost, Usage};

/// What is done with a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It stays as it is; its result, if it has one, is used.
    Reuse,
    /// It is decided anew, and runs unless its edges say otherwise.
    Execute,
    /// It waits for a person, as before.
    Wait,
}

/// One node of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedNode {
    /// Its address.
    pub id: String,
    /// Why it is planned so; what is done follows from it.
    pub reason: Reason,
    /// What it cost when it last ran, if it will run; none if it never did.
    pub expected: Option<Usage>,
}

impl PlannedNode {
    /// What is done with it.
    pub const fn action(&self) -> Action {
        self.reason.action()
    }
}

impl Serialize for PlannedNode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut node = serializer.serialize_struct("PlannedNode", 4)?;
        node.serialize_field("id", &self.id)?;
        node.serialize_field("action", &self.action())?;
        node.serialize_field("reason", &self.reason.to_string())?;
        node.serialize_field("expected", &self.expected)?;
        node.end()
    }
}

/// What need not be done again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Saved {
    /// How many nodes keep their result, those inside others included.
    pub nodes: u64,
    /// How long they were worked on.
    pub seconds: f64,
    /// The tokens they took, in and out.
    pub tokens: u64,
    /// The money.
    pub usd: f64,
}

impl Saved {
    /// Counts a node that keeps its result.
    pub(super) fn count(&mut self, cost: Cost) {
        self.nodes += 1;
        self.seconds += std::time::Duration::from_millis(cost.millis).as_secs_f64();
        self.tokens = self.tokens.saturating_add(cost.usage.tokens_in).saturating_add(cost.usage.tokens_out);
        self.usd += cost.usage.usd;
    }
}

/// What a run will do.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Plan {
    /// Every node that is known now, by (phase, wave, id), each followed by what is inside it.
    pub nodes: Vec<PlannedNode>,
    /// The addresses of those that execute.
    pub nodes_to_execute: Vec<String>,
    /// The addresses of those that keep their result.
    pub completed_results: Vec<String>,
    /// The first wave of that phase with something to do; none if there is nothing to do.
    pub start_from_wave: Option<u32>,
    /// The first phase with something to do, counted from 0; none if there is nothing to do.
    pub start_from_phase: Option<u16>,
    /// What the lineage has cost up to here.
    pub previous_token_usage: Usage,
    /// What need not be done again.
    pub saved: Saved,
    /// How the workflow differs from the one of the earlier run.
    pub changes: Changes,
    /// Whether the new run is a lineage of its own, so that no generation goes on.
    #[serde(skip)]
    pub own_lineage: bool,
}

impl Plan {
    /// What is planned for an address.
    pub fn node(&self, address: &str) -> Option<&PlannedNode> {
        self.nodes.iter().find(|node| node.id == address)
    }

    /// Whether there is nothing to do.
    pub fn is_done(&self) -> bool {
        self.start_from_phase.is_none()
    }
}
