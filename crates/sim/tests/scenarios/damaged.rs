//! A journal that was tampered with folds to something or is told apart; it never takes the reader down.

use std::sync::Arc;

use serde_json::Value;
use sprag_core::limits::Limits;
use sprag_core::load::load;
use sprag_core::run::{Choice, Entry, Run, Seq, Timestamp};
use sprag_sim::{Outcome, Rng, World};

const STORY: &str = "
workflow: w
policy: { max_parallelism: 2, max_node_failures: 9 }
nodes:
  flaky: { call: x, retry: { max_attempts: 2 } }
  gate: { approve: { message: go?, timeout: 1h }, needs: [flaky] }
  sign: { wait: { signal: go }, needs: [flaky] }
  nap: { wait: { for: 5s } }
  risky: { call: x, semantics: at_most_once, needs: [gate] }
  mend: { call: x, needs: [{ node: risky, when: on_failure }] }
  last: { call: x, join: any, needs: [risky, sign, { node: nap, when: always, condition: output is none }] }
";

fn journal() -> Vec<(Timestamp, Entry)> {
    let mut world = World::of(STORY);
    world.scripted("flaky", [Outcome::fails("NETWORK"), Outcome::patch(serde_json::json!({ "a": 1 }))]);
    world.scripted("risky", [Outcome::fails("TIMEOUT")]);
    world.will_answer("gate", Choice::Approve).will_answer("risky", Choice::Fail);
    world.starts().signals("go", serde_json::json!(1)).settles();
    assert_eq!(world.end(), "completed 0");
    let commits = world.journal();
    commits.iter().flat_map(|commit| commit.entries.iter().map(|entry| (commit.at, entry.clone()))).collect()
}

#[test]
fn a_tampered_journal_is_told_apart_or_harmless() {
    // R-STATE-1, R-CP-5
    let definition = Arc::new(load(STORY, &Limits::default()).unwrap().definition);
    let whole = journal();
    let (mut refused, mut folded) = (0, 0);
    for seed in 0..4_000 {
        let mut rng = Rng::new(seed);
        let mut entries = whole.clone();
        for _ in 0..=rng.below(3) {
            tamper(&mut rng, &mut entries);
        }
        match Run::fold(Arc::clone(&definition), entries.iter().map(|(at, entry)| (*at, entry))) {
            Ok(mut run) => {
                folded += 1;
                let _ = (run.trace(), run.context(), run.next_wake(), run.owed(Seq(0), run.seq()).count());
                let _ = run.come_to_rest(Timestamp::from_millis(1_900_000_000_000), 2, &mut Vec::new());
            }
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 2_000 && folded > 50, "{refused} refused, {folded} folded");
}

/// Drops, repeats, swaps or alters one entry.
fn tamper(rng: &mut Rng, entries: &mut Vec<(Timestamp, Entry)>) {
    let count = entries.len() as u64;
    let at = usize::try_from(rng.below(count)).unwrap();
    match rng.below(4) {
        0 => {
            entries.remove(at);
        }
        1 => {
            let again = entries[at].clone();
            let to = usize::try_from(rng.below(count)).unwrap();
            entries.insert(to, again);
        }
        2 => entries.swap(at, usize::try_from(rng.below(count)).unwrap()),
        _ => {
            let mut value = serde_json::to_value(&entries[at].1).unwrap();
            alter(rng, &mut value);
            if let Ok(entry) = serde_json::from_value(value) {
                entries[at].1 = entry;
            }
        }
    }
}

/// Puts another number at one place.
fn alter(rng: &mut Rng, value: &mut Value) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let which = usize::try_from(rng.below(fields.len() as u64)).unwrap();
            if let Some(inner) = fields.values_mut().nth(which) {
                alter(rng, inner);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            let which = usize::try_from(rng.below(items.len() as u64)).unwrap();
            alter(rng, &mut items[which]);
        }
        Value::Number(_) => {
            *value = Value::from([0, 1, 2, 3, 7, 4_294_967_295_u64][usize::try_from(rng.below(6)).unwrap()]);
        }
        _ => {}
    }
}
