//! A scenario: everything about a run that its seed decides, printed whole when it goes wrong.

use std::fmt;
use std::sync::{Arc, OnceLock};

use sprag_core::definition::Definition;
use sprag_core::run::Choice;

use super::node::Node;
use super::options::Features;
use super::recovering::Terms;
use super::script::{self, Plan};
use super::workflow;
use crate::rng::Rng;
use crate::script::{Outcome, Script};
use crate::world::read;

/// A workflow, what its work does and what people say.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// Where it comes from.
    pub seed: u64,
    /// What it may hold.
    pub features: Features,
    /// The workflow file.
    pub yaml: String,
    /// What people answer by themselves, by node.
    pub answers: Vec<(String, Choice)>,
    /// The signals that its nodes wait for.
    pub signals: Vec<String>,
    /// What the run knows about prices, and whether it is strict.
    pub(crate) terms: Terms,
    plan: Plan,
    definition: OnceLock<Arc<Definition>>,
}

impl Scenario {
    /// The scenario of a seed.
    pub fn new(seed: u64, features: Features) -> Self {
        let mut rng = Rng::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ 0x5eed);
        let drawn = workflow::draw(&mut rng, &features);
        let plan = script::draw(&mut rng, &drawn, seed);
        let mut answers = Vec::new();
        for node in drawn.nodes.iter().filter(|node| node.gate && !features.growth && !features.recovery) {
            // Some answer at once, some only when nothing else moves, and some let it time out.
            if !features.clock || rng.one_in(2) {
                let choice = if rng.one_in(4) { Choice::Reject } else { Choice::Approve };
                answers.push((node.id.clone(), choice));
            }
        }
        let signals = drawn.all().flat_map(Node::all_signals).collect();
        let terms = if features.recovery { Terms::draw(&mut rng, drawn.all()) } else { Terms::default() };
        Self { seed, features, yaml: drawn.yaml(), answers, signals, terms, plan, definition: OnceLock::new() }
    }

    /// A scenario of somebody's own, in which all work is done and says nothing.
    pub fn of(yaml: String) -> Self {
        let features = Features::DETERMINISTIC;
        Self {
            seed: 0,
            features,
            yaml,
            answers: Vec::new(),
            signals: Vec::new(),
            terms: Terms::default(),
            plan: Plan::default(),
            definition: OnceLock::new(),
        }
    }

    /// The same with what some nodes do, by address.
    #[must_use]
    pub fn scripted(mut self, node: &str, outcomes: impl IntoIterator<Item = Outcome>) -> Self {
        self.plan.outcomes.push((node.to_owned(), outcomes.into_iter().collect()));
        self
    }

    /// The same with other keys in its policy: each is set, or left out if it is empty.
    #[must_use]
    pub fn with_policy(&self, keys: &[(&str, &str)]) -> Self {
        let is_policy = |line: &&str| line.starts_with("policy: ");
        let line = self.yaml.lines().find(is_policy).unwrap_or_default();
        let written = line.trim_start_matches("policy: { ").trim_end_matches(" }");
        let kept = written.split(", ").filter(|pair| {
            let key = pair.split(':').next().unwrap_or_default();
            !key.is_empty() && !keys.iter().any(|(other, _)| *other == key)
        });
        let new = keys.iter().filter(|(_, value)| !value.is_empty()).map(|(key, value)| format!("{key}: {value}"));
        let policy = kept.map(str::to_owned).chain(new).collect::<Vec<_>>().join(", ");
        let rest = self.yaml.lines().filter(|line| !is_policy(line)).collect::<Vec<_>>().join("\n");
        Self { yaml: format!("policy: {{ {policy} }}\n{rest}\n"), definition: OnceLock::new(), ..self.clone() }
    }

    /// The workflow, read once.
    ///
    /// # Panics
    /// When the file is not fine: then whoever wrote it, or the generator, is wrong.
    pub fn definition(&self) -> Arc<Definition> {
        Arc::clone(self.definition.get_or_init(|| read(&self.yaml)))
    }

    /// What its work does.
    pub fn script(&self) -> Script {
        self.plan.script()
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "seed {} with {:?}", self.seed, self.features)?;
        writeln!(formatter, "{}", self.yaml)?;
        writeln!(formatter, "answers: {:?}, {:?}", self.answers, self.terms)?;
        write!(formatter, "{}", self.plan)
    }
}
