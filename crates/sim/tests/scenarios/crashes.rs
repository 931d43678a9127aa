//! Owners that die around every store operation (`R-CLAIM-4`, `R-STATE-8`, `R-RETRY-2`).

use sprag_core::run::Stage;
use sprag_sim::check::{Summary, difference};
use sprag_sim::generate::{Features, Scenario};
use sprag_sim::keep::Keep;
use sprag_sim::{Crash, Faults, Player, WorldOptions, dag};
use sprag_store::Memory;

use crate::generated::{played, played_in};

const SHAPES: [&str; 10] = [
    "a",
    "a -> b -> c -> d",
    "a, b, c, d",
    "a -> b, a -> c, b -> d, c -> d",
    "a -> d, b -> d, c -> d",
    "a -> b, a -> c, a -> d",
    "a -> b -> d, a -> c -> d, d -> e -> g, d -> f -> g",
    "a -> c, b -> c, b -> d",
    "a -> e, b -> e, c -> e, d -> e, e -> f",
    "z -> y -> x -> w -> v, z -> w",
];

/// Shapes by hand, and as many generated ones as it takes.
pub fn scenarios() -> Vec<Scenario> {
    let features = Features { nodes: 20, people: true, ..Features::DETERMINISTIC };
    let drawn = (60_000..60_200).map(|seed| Scenario::new(seed, features));
    SHAPES.iter().map(|shape| Scenario::of(dag(shape))).chain(drawn).collect()
}

pub fn world() -> WorldOptions {
    WorldOptions { seed: 7, slots: 3, longest_ms: 6, crash: None }
}

fn crashed(scenario: &Scenario, crashes: &[Crash], undisturbed: &Summary) -> Player {
    crashed_in(Box::new(Memory::new()), scenario, crashes, undisturbed)
}

/// Plays a scenario whose owners die, and compares what it comes to with what it came to when nobody died.
pub fn crashed_in(store: Box<dyn Keep>, scenario: &Scenario, crashes: &[Crash], undisturbed: &Summary) -> Player {
    let player = played_in(store, scenario, world(), Faults { crashes: crashes.to_vec(), ..Faults::default() });
    if let Some(difference) = difference(undisturbed, &player.summary()) {
        panic!("{difference}\n{scenario}\n{crashes:?}\n{}", player.world.picture());
    }
    player
}

#[test]
fn a_crash_around_any_store_operation_changes_nothing_in_the_end() {
    // R-CLAIM-4, R-STATE-8, R-RETRY-2
    let (mut points, mut shapes) = (0, 0);
    for scenario in scenarios() {
        let undisturbed = played(&scenario, world(), Faults::default());
        let summary = undisturbed.summary();
        shapes += 1;
        for operation in 1..=undisturbed.world.operations() {
            for after in [false, true] {
                crashed(&scenario, &[Crash { operation, after }], &summary);
                points += 1;
            }
        }
    }
    println!("{points} points in {shapes} shapes");
    assert!(shapes >= 40 && points >= 3_000);
}

#[test]
fn two_crashes_change_no_more_than_one() {
    // R-CLAIM-4
    let mut pairs = 0;
    for scenario in SHAPES.iter().take(4).map(|shape| Scenario::of(dag(shape))) {
        let undisturbed = played(&scenario, world(), Faults::default());
        let summary = undisturbed.summary();
        let operations = undisturbed.world.operations();
        for first in 1..=operations {
            for second in first + 1..=operations + 2 {
                for (before, after) in [(false, false), (false, true), (true, false), (true, true)] {
                    let crashes = [Crash { operation: first, after: before }, Crash { operation: second, after }];
                    crashed(&scenario, &crashes, &summary);
                    pairs += 1;
                }
            }
        }
    }
    println!("{pairs} pairs");
}

#[test]
fn what_is_completed_is_never_executed_again() {
    // R-CLAIM-3
    let scenario = Scenario::of(dag("a -> b, a -> c, b -> d, c -> d"));
    let undisturbed = played(&scenario, world(), Faults::default());
    for operation in 1..=undisturbed.world.operations() {
        let crash = Crash { operation, after: true };
        let player = crashed(&scenario, &[crash], &undisturbed.summary());
        for node in ["a", "b", "c", "d"] {
            let index = player.world.node(node);
            let ran = player.world.ledger.iter().filter(|done| done.node == index && done.stage == Stage::Work);
            // Each attempt that began and has no outcome was cut short by the only crash.
            assert!((1..=2).contains(&ran.count()), "{node} after {crash:?}");
        }
    }
}
