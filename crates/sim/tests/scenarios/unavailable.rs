//! Stores that fail now and then, and leave open whether they took what they were given (`R-JRN-3`).

use sprag_sim::check::difference;
use sprag_sim::generate::{Features, Scenario};
use sprag_sim::keep::{Death, File, Keep, Unsteady};
use sprag_sim::{Crash, Faults, Rng};
use sprag_store::Memory;

use crate::crashes::{crashed_in, scenarios, world};
use crate::generated::{faults, options, played, played_in, seeds};

/// How stores fail: of every so many appends so many in a row.
const WAYS: [(u64, u64); 5] = [(2, 1), (3, 1), (3, 2), (5, 4), (7, 1)];

fn stores() -> [Box<dyn Keep>; 2] {
    [Box::new(Memory::new()), Box::new(File::new(Death::Killed))]
}

#[test]
fn nothing_is_lost_or_done_twice_when_appends_fail_and_are_repeated() {
    // R-JRN-3
    let mut runs = 0;
    for scenario in scenarios().iter().step_by(4) {
        let steady = played(scenario, world(), Faults::default());
        for (every, row) in WAYS {
            for store in stores() {
                let unsteady = Box::new(Unsteady::new(store, every, row));
                let player = played_in(unsteady, scenario, world(), Faults::default());
                runs += 1;
                if let Some(difference) = difference(&steady.summary(), &player.summary()) {
                    panic!("{difference}\n{scenario}\n{row} of {every}\n{}", player.world.picture());
                }
                // Nothing was executed again, because nobody forgot that it had been.
                assert_eq!(player.world.ledger.len(), steady.world.ledger.len(), "{scenario}");
            }
        }
    }
    println!("{runs} runs");
}

#[test]
fn owners_that_die_before_they_know_what_landed_change_nothing() {
    // R-JRN-3, R-CLAIM-4
    let mut points = 0;
    for scenario in scenarios().iter().take(40) {
        let summary = played(scenario, world(), Faults::default()).summary();
        let unsteady = || Box::new(Unsteady::new(Box::new(Memory::new()), 3, 2));
        let operations = played_in(unsteady(), scenario, world(), Faults::default()).world.operations();
        for operation in 1..=operations {
            for after in [false, true] {
                crashed_in(unsteady(), scenario, &[Crash { operation, after }], &summary);
                points += 1;
            }
        }
    }
    println!("{points} points");
    assert!(points >= 1_000, "{points} points");
}

#[test]
fn whatever_else_goes_wrong_an_unsteady_store_breaks_no_promise() {
    // R-JRN-3, R-CLAIM-2, R-CLAIM-3
    for seed in seeds(100_000, 300) {
        let scenario = Scenario::new(seed, Features::ALL);
        let mut rng = Rng::new(seed);
        let (every, row) = rng.pick(&WAYS).copied().unwrap();
        let store: Box<dyn Keep> =
            if seed % 2 == 0 { Box::new(Memory::new()) } else { Box::new(File::new(Death::Torn(rng))) };
        played_in(Box::new(Unsteady::new(store, every, row)), &scenario, options(seed), faults(seed));
    }
}
