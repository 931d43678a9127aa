//! The first entry of a run that goes on from another one (`R-RES-4`, `R-RES-7`).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::options::Mode;
use super::past::Past;
use super::planned::Plan;
use crate::definition::Definition;
use crate::hash::Digest;
use crate::run::recovery::Allowance;
use crate::run::{Created, GrowthLimits, RunId, Usage};

/// A run that is about to begin with what an earlier one left.
#[derive(Debug, Clone)]
pub struct NewRun<'definition> {
    /// Its id.
    pub run: RunId,
    /// What it runs.
    pub definition: &'definition Definition,
    /// The stored definition, where a store keeps one.
    pub stored: Option<Digest>,
    /// The values of the parameters; none if they are carried over.
    pub params: Option<BTreeMap<String, Value>>,
    /// How much of earlier work it may use.
    pub mode: Mode,
    /// How far it may grow.
    pub growth: GrowthLimits,
}

impl<'definition> NewRun<'definition> {
    /// A run with this id, and everything else as usual.
    pub fn new(run: RunId, definition: &'definition Definition) -> Self {
        Self { run, definition, stored: None, params: None, mode: Mode::default(), growth: GrowthLimits::default() }
    }
}

/// The creation of the run that goes on from another one, by this plan of it. If that run has to be closed first, `past`
/// is how it was before: what awaits approval then still does.
pub fn link(past: &Past, plan: &Plan, new: NewRun<'_>) -> Created {
    let spent = Some(past.usage).filter(|usage| *usage != Usage::default());
    Created {
        first_run: past.first_run,
        previous_run: Some(past.run),
        retry_count: past.retry_count.saturating_add(1),
        spent,
        raised: Some(past.raised).filter(|raised| *raised != Allowance::default()),
        ..begun(past, plan, new)
    }
}

/// The creation of another branch of a run, by this plan of it: a lineage of its own, with its own budget.
pub fn forked(past: &Past, plan: &Plan, new: NewRun<'_>) -> Created {
    Created { forked_from: Some(past.run), ..begun(past, plan, new) }
}

fn begun(past: &Past, plan: &Plan, new: NewRun<'_>) -> Created {
    let carried = plan.carried(past);
    let params = new.params.unwrap_or_else(|| past.params.clone());
    Created {
        definition: new.stored,
        growth: new.growth,
        mode: new.mode,
        strict: past.strict,
        carried: (carried != crate::run::Carried::default()).then(|| Arc::new(carried)),
        ..Created::first(new.run, new.definition, params)
    }
}
