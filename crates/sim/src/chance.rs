//! What happens where a script says nothing: drawn from a seed and the address of a node, so that it is the same in
//! whichever order nodes run, and known for nodes that nobody could name before.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use sprag_core::file::ErrorCode;
use sprag_core::run::{Choice, Feedback, Grade, Known, NodeError, Product, Severity, Usage};

use crate::rng::Rng;
use crate::script::Outcome;

/// The chances of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chance {
    pub seed: u64,
    /// Work fails once in so many times.
    pub failing: u64,
    /// Work never ends once in so many times; 0 for never.
    pub hanging: u64,
    /// Whether probes find anything.
    pub probing: bool,
    /// Whether some questions are left to whoever comes along.
    pub silent: bool,
    /// Whether work costs something, fails in every way there is, and may be split.
    pub paid: bool,
}

/// Codes of every class, and one of a user's own.
pub(crate) const CODES: [&str; 8] =
    ["NETWORK", "TIMEOUT", "RATE_LIMITED", "TOOL_ERROR", "MINE", "INVALID_OUTPUT", "PERMISSION_DENIED", "INTERNAL"];

/// More of each class, for runs that recover.
const ALL_CODES: [&str; 14] = [
    "NETWORK",
    "TIMEOUT",
    "UNAVAILABLE",
    "RATE_LIMITED",
    "MODEL_ERROR",
    "TOOL_ERROR",
    "MINE",
    "INVALID_OUTPUT",
    "SCHEMA_MISMATCH",
    "INVALID_OUTPUT",
    "PERMISSION_DENIED",
    "SCOPE_VIOLATION",
    "INTERNAL",
    "GATE_ERROR",
];

impl Chance {
    fn rng(self, address: &str, what: u64, turn: usize) -> Rng {
        // FNV-1a, written out, so that a seed means the same in every release.
        let start = 0xcbf2_9ce4_8422_2325 ^ self.seed.wrapping_mul(0x2545_f491_4f6c_dd1d);
        let mixed =
            address.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
        Rng::new(mixed ^ what << 56 ^ (turn as u64) << 40)
    }

    /// How the work of a node ends, this time.
    pub fn outcome(self, address: &str, turn: usize) -> Outcome {
        let mut rng = self.rng(address, 1, turn);
        if rng.one_in(self.failing) {
            return if self.paid { fails_in_any_way(&mut rng) } else { fails(&mut rng) };
        }
        if self.hanging > 0 && rng.one_in(self.hanging) {
            return Outcome::Hangs;
        }
        if generates(address) {
            return Outcome::Produces(Product { usage: self.usage(&mut rng), ..Product::of(graph(&mut rng, address)) });
        }
        let items: Vec<_> = (0..rng.below(4)).map(|at| json!({ "n": at })).collect();
        let output = json!({ "ok": !rng.one_in(3), "n": rng.below(6), "items": items });
        let patch = rng.one_in(4).then(|| patch(&mut rng));
        Outcome::Produces(Product {
            output: Arc::new(output),
            patch,
            usage: self.usage(&mut rng),
            ..Product::default()
        })
    }

    /// What a node's hook makes of its task: smaller ones, or nothing that could run.
    pub fn split(self, address: &str, turn: usize) -> Outcome {
        let mut rng = self.rng(address, 6, turn);
        match rng.below(8) {
            0 => fails_in_any_way(&mut rng),
            1 => Outcome::output(Value::Null),
            _ => Outcome::Produces(Product { usage: self.usage(&mut rng), ..Product::of(graph(&mut rng, address)) }),
        }
    }

    fn usage(self, rng: &mut Rng) -> Option<Usage> {
        (self.paid && !rng.one_in(4)).then(|| usage(rng))
    }

    /// Whether an output fits its schemas.
    pub fn fits(self, address: &str, turn: usize) -> bool {
        !self.rng(address, 2, turn).one_in(5)
    }

    /// What a grader says.
    pub fn grade(self, address: &str, turn: usize) -> Grade {
        self.rng(address, 3, turn).pick(&Grade::ALL).copied().unwrap_or(Grade::A)
    }

    /// What a probe finds out.
    pub fn found(self, address: &str, turn: usize) -> Result<Option<Value>, NodeError> {
        match self.rng(address, 4, turn).below(3) {
            _ if !self.probing => Ok(None),
            0 => Ok(Some(json!({ "ok": true, "n": 9, "items": [] }))),
            1 => Ok(None),
            _ => Err(NodeError::new(Known::TOOL_ERROR, "the probe does not know")),
        }
    }

    /// What somebody answers by themselves to the gate of a node.
    pub fn answer(self, address: &str) -> Option<Choice> {
        let mut rng = self.rng(address, 5, 0);
        let choice = if rng.one_in(4) { Choice::Reject } else { Choice::Approve };
        (!self.silent || rng.one_in(2)).then_some(choice)
    }
}

fn fails(rng: &mut Rng) -> Outcome {
    Outcome::fails(rng.pick(&CODES).copied().unwrap_or("MINE"))
}

/// A failure of any class, with or without feedback and cost.
fn fails_in_any_way(rng: &mut Rng) -> Outcome {
    let code = rng.pick(&ALL_CODES).copied().unwrap_or("MINE");
    let code = ErrorCode::new(code).unwrap_or_else(|_| Known::INTERNAL.into());
    let mut error = NodeError::new(code, "as chance has it");
    for _ in 0..rng.below(3) {
        let severity = if rng.one_in(2) { Severity::Critical } else { Severity::Minor };
        error.feedback.push(Feedback { severity, text: "better".to_owned() });
    }
    if rng.one_in(2) { Outcome::Fails(error) } else { Outcome::FailsAt(error, usage(rng)) }
}

/// A small cost: cents and a few tokens.
pub(crate) fn usage(rng: &mut Rng) -> Usage {
    let cents = u32::try_from(rng.below(40)).unwrap_or(1);
    Usage { tokens_in: rng.below(50), tokens_out: rng.below(20), usd: f64::from(cents) / 100.0 }
}

/// A patch of the context.
pub(crate) fn patch(rng: &mut Rng) -> Arc<Value> {
    let key = ["x", "y", "z"].get(usize::try_from(rng.below(3)).unwrap_or(0)).copied().unwrap_or("x");
    let value = match rng.below(4) {
        0 => Value::Null,
        1 => json!({ "in": rng.below(9) }),
        _ => json!(rng.below(9)),
    };
    Arc::new(json!({ key: value }))
}

/// Whether the work of a node makes a graph: generated workflows say so in its name, or in that of the map it is copied by.
fn generates(address: &str) -> bool {
    let named = address.split('/').rev().find(|word| !word.starts_with(|letter: char| letter.is_ascii_digit()));
    let is_copy =
        address.ends_with(|letter: char| letter.is_ascii_digit()) && named.is_some_and(|word| !address.ends_with(word));
    named.is_some_and(|word| if is_copy { word.starts_with("mg") } else { word.starts_with('g') })
}

/// A small graph, now and then one that cannot run.
fn graph(rng: &mut Rng, address: &str) -> Value {
    let call = |needs: &[&str]| json!({ "call": "world", "needs": needs });
    match rng.below(16) {
        0 => return json!({ "nodes": { "n0": call(&["n1"]), "n1": call(&["n0"]) } }),
        1 => return json!({ "nodes": { "n0": call(&["missing"]) } }),
        2 => return json!({ "nodes": {} }),
        3 => return json!("no graph"),
        _ => {}
    }
    let shallow = address.matches('/').count() < 2;
    let mut nodes = Map::new();
    let names = ["n0", "n1", "n2"];
    let count = usize::try_from(1 + rng.below(3)).unwrap_or(1);
    for at in 0..count {
        let mut needs = Vec::new();
        for name in &names[..at] {
            if rng.one_in(2) {
                let when = ["on_success", "on_success", "always", "on_failure"];
                needs.push(json!({ "node": name, "when": rng.pick(&when) }));
            }
        }
        let body = match rng.below(8) {
            0 if shallow => json!({ "map": { "over": "[1, 2]", "node": { "call": "world" } }, "needs": needs }),
            1 => json!({ "wait": { "for": "5ms" }, "needs": needs }),
            2 => json!({ "call": "world", "continue_on_error": true, "needs": needs }),
            3 => {
                json!({ "call": "world", "retry": { "max_attempts": 2, "initial_delay": "1ms", "max_delay": "9ms" }, "needs": needs })
            }
            _ => json!({ "call": "world", "needs": needs }),
        };
        nodes.insert(names[at].to_owned(), body);
    }
    if shallow && rng.one_in(6) {
        nodes.insert("g3".to_owned(), json!({ "generate": { "call": "world" } }));
    }
    match rng.below(6) {
        0 => json!({ "nodes": nodes, "policy": { "max_parallelism": 1 } }),
        1 => json!({ "nodes": nodes, "policy": { "scheduling": "frontier" }, "context": { "x": 7 } }),
        _ => json!({ "nodes": nodes }),
    }
}
