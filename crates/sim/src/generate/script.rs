//! What the work of a generated workflow does, attempt by attempt.

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};
use sprag_core::run::{Grade, NodeError, Product};

use super::options::Features;
use super::workflow::Drawn;
use crate::chance::{self, CODES, Chance};
use crate::rng::Rng;
use crate::script::{Outcome, Script};

/// What a probe finds out each time it is asked.
type Found = Vec<Result<Option<Value>, NodeError>>;

/// What nodes do, in a form that can be printed.
#[derive(Debug, Clone, Default)]
pub(super) struct Plan {
    pub outcomes: Vec<(String, Vec<Outcome>)>,
    checks: Vec<(String, Vec<bool>)>,
    grades: Vec<(String, Vec<Grade>)>,
    probes: Vec<(String, Found)>,
    /// What decides about nodes that nobody could name before.
    chance: Option<Chance>,
}

impl Plan {
    pub fn script(&self) -> Script {
        let mut script = Script::default();
        for (node, outcomes) in &self.outcomes {
            script.node(node, outcomes.iter().cloned());
        }
        for (node, fits) in &self.checks {
            script.checks(node, fits.iter().copied());
        }
        for (node, grades) in &self.grades {
            script.grades(node, grades.iter().copied());
        }
        for (node, found) in &self.probes {
            script.probes(node, found.iter().cloned());
        }
        script.chance = self.chance;
        script
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (node, outcomes) in &self.outcomes {
            writeln!(formatter, "{node} does {outcomes:?}")?;
        }
        for (node, fits) in &self.checks {
            writeln!(formatter, "{node} fits {fits:?}")?;
        }
        for (node, grades) in &self.grades {
            writeln!(formatter, "{node} is graded {grades:?}")?;
        }
        for (node, found) in &self.probes {
            writeln!(formatter, "{node} is probed {found:?}")?;
        }
        match self.chance {
            Some(chance) => writeln!(formatter, "the rest is up to {chance:?}"),
            None => Ok(()),
        }
    }
}

pub(super) fn draw(rng: &mut Rng, drawn: &Drawn, seed: u64) -> Plan {
    let mut plan = Plan::default();
    // Some runs go well, some do not.
    let failing = [4, 8, 30].get(usize::try_from(rng.below(3)).unwrap_or(0)).copied().unwrap_or(8);
    if drawn.features.growth || drawn.features.recovery {
        let hanging = if drawn.hangs { 6 } else { 0 };
        let Features { unknown: probing, clock: silent, recovery: paid, .. } = drawn.features;
        plan.chance = Some(Chance { seed, failing, hanging, probing, silent, paid });
        return plan;
    }
    for node in drawn.nodes.iter().filter(|node| node.works) {
        let attempts = 1 + rng.below(3);
        let outcomes = (0..attempts).map(|_| outcome(rng, failing)).collect();
        plan.outcomes.push((node.id.clone(), outcomes));
        if node.checked {
            plan.checks.push((node.id.clone(), (0..3).map(|_| !rng.one_in(4)).collect()));
        }
        if node.graded {
            let grades = (0..3).filter_map(|_| rng.pick(&Grade::ALL).copied()).collect();
            plan.grades.push((node.id.clone(), grades));
        }
        if node.probed && drawn.features.unknown {
            let found = |rng: &mut Rng| match rng.below(3) {
                0 => Ok(Some(json!({ "ok": true, "n": 9 }))),
                1 => Ok(None),
                _ => Err(NodeError::new(sprag_core::run::Known::TOOL_ERROR, "the probe does not know")),
            };
            plan.probes.push((node.id.clone(), (0..3).map(|_| found(rng)).collect()));
        }
    }
    if drawn.hangs
        && let Some(node) = drawn.nodes.iter().find(|node| node.works)
    {
        plan.outcomes.push((node.id.clone(), vec![Outcome::Hangs]));
    }
    plan
}

fn outcome(rng: &mut Rng, failing: u64) -> Outcome {
    if rng.one_in(failing) {
        return Outcome::fails(rng.pick(&CODES).copied().unwrap_or("MINE"));
    }
    let output = json!({ "ok": !rng.one_in(3), "n": rng.below(6) });
    let patch = rng.one_in(4).then(|| chance::patch(rng));
    Outcome::Produces(Product { output: Arc::new(output), patch, ..Product::default() })
}
