//! Random agents, ladders and budgets, and what a run knows about prices (`R-REC-1`, `R-REC-6`, `R-REC-7`).

use std::collections::BTreeMap;

use sprag_core::run::{Created, Usage};

use super::node::Node;
use crate::chance::usage;
use crate::rng::Rng;
use crate::world::World;

/// Models of the usual tiers, and one of another family.
const MODELS: [&str; 4] = ["haiku", "sonnet", "opus", "other"];

/// The work of a node: plain or an agent, with or without a ladder.
pub(super) fn work(rng: &mut Rng, keys: &mut Vec<String>) {
    let agent = rng.one_in(2);
    if agent {
        let model = match rng.below(6) {
            0 => String::new(),
            1 => "model: other, ".to_owned(),
            2 => "model: sonnet, ".to_owned(),
            _ => "model: haiku, ".to_owned(),
        };
        keys.push(format!("agent: {{ provider: fake, script: [], {model}prompt: x }}"));
    } else {
        keys.push("call: world".into());
    }
    if rng.below(5) < 3 {
        keys.push(ladder(rng));
    }
}

fn ladder(rng: &mut Rng) -> String {
    let mut keys = Vec::new();
    if rng.one_in(10) {
        keys.push("ladder: false".to_owned());
    }
    if rng.one_in(2) {
        keys.push(format!("max_attempts: {}", 1 + rng.below(4)));
    }
    match rng.below(6) {
        0 => keys.push("tiers: [haiku, sonnet]".to_owned()),
        1 => keys.push("tiers: [small, large, huge]".to_owned()),
        _ => {}
    }
    match rng.below(4) {
        0 | 1 => keys.push("human: pause".to_owned()),
        2 => keys.push("human: fail".to_owned()),
        _ => {}
    }
    if rng.one_in(2) {
        keys.push("decompose: { call: split }".to_owned());
    }
    format!("recovery: {{ {} }}", keys.join(", "))
}

/// A budget that a run may well hit.
pub(super) fn budget(rng: &mut Rng) -> String {
    let mut keys = Vec::new();
    if rng.below(4) > 0 {
        keys.push(format!("usd: {}.{}", rng.below(3), rng.below(10)));
    }
    if keys.is_empty() || rng.one_in(3) {
        keys.push(format!("tokens: {}", 20 + rng.below(400)));
    }
    match rng.below(4) {
        0 => keys.push("on_exceeded: fail".to_owned()),
        1 => keys.push("on_exceeded: ask".to_owned()),
        _ => {}
    }
    format!("budget: {{ {} }}", keys.join(", "))
}

/// What a run begins with besides its workflow.
#[derive(Debug, Clone, Default)]
pub(crate) struct Terms {
    strict: bool,
    expected: BTreeMap<String, Usage>,
    model_maximum: BTreeMap<String, Usage>,
}

impl Terms {
    pub(super) fn draw<'nodes>(rng: &mut Rng, nodes: impl Iterator<Item = &'nodes Node>) -> Self {
        let mut terms = Self { strict: rng.one_in(6), ..Self::default() };
        if !rng.one_in(3) {
            terms.model_maximum = MODELS.map(|model| (model.to_owned(), usage(rng))).into_iter().collect();
        }
        if rng.one_in(2) {
            for node in nodes.filter(|node| node.works) {
                if rng.one_in(3) {
                    terms.expected.insert(node.id.clone(), usage(rng));
                }
            }
        }
        terms
    }

    /// The first entry of a run in a world.
    pub(crate) fn creation(&self, world: &World) -> Created {
        let Self { strict, expected, model_maximum } = self.clone();
        let first = Created::first(world.id, world.definition(), BTreeMap::new());
        Created { strict, expected, model_maximum, growth: world.growth, ..first }
    }
}
