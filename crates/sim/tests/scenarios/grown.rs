//! What holds for any workflow whose nodes grow and that runs in phases (`R-GROW-1`, `R-GROW-2`, `R-PHASE-1`).

use std::collections::BTreeSet;

use sprag_core::run::entries_from_json;
use sprag_sim::check::difference;
use sprag_sim::generate::{Features, Scenario};
use sprag_sim::{Faults, Player, WorldOptions};

use crate::generated::{faults, options, played, seeds};

/// What the run still has of its outputs is what its history comes to.
fn outputs_are_right(scenario: &Scenario, player: &Player) {
    let summary = player.summary();
    let run = player.world.run();
    for node in run.all_nodes().filter(|node| run.is_settled(*node)) {
        if let Some(output) = run.output(node) {
            assert_eq!(summary.outputs.get(&run.address(node)), Some(output), "{}\n{scenario}", run.address(node));
        }
    }
    assert_eq!(run.context(), summary.context, "{scenario}\n{}", player.world.picture());
    assert_eq!(player.world.trace(), summary.trace, "{scenario}");
}

fn all(from: u64, count: u64, faulty: bool) {
    let (mut commits, mut nodes) = (0, 0);
    for seed in seeds(from, count) {
        let scenario = Scenario::new(seed, Features::GROWING);
        let player = played(&scenario, options(seed), if faulty { faults(seed) } else { Faults::default() });
        outputs_are_right(&scenario, &player);
        commits += player.world.journal().len();
        nodes = nodes.max(player.world.run().all_nodes().len());
    }
    assert!(nodes <= 60, "a seed with {nodes} nodes is no longer cheap");
    assert!(commits as u64 > 5 * count, "{commits} commits");
}

#[test]
fn every_growing_run_keeps_every_promise() {
    // R-GROW-1, R-GROW-2, R-PHASE-1, R-STATE-10, R-EDGE-6
    all(100_000, 1_000, false);
}

#[test]
fn every_growing_run_keeps_every_promise_second_half() {
    // R-GROW-1, R-GROW-2, R-PHASE-1, R-STATE-10, R-EDGE-6
    all(110_000, 1_000, false);
}

#[test]
fn whatever_goes_wrong_a_growing_run_keeps_every_promise() {
    // R-GROW-2, R-CLAIM-3, R-CLAIM-4
    all(120_000, 1_000, true);
}

#[test]
fn whatever_goes_wrong_a_growing_run_keeps_every_promise_second_half() {
    // R-GROW-2, R-CLAIM-3, R-CLAIM-4
    all(130_000, 1_000, true);
}

#[test]
fn the_journal_of_a_growing_run_tells_what_its_owner_knows() {
    // R-JRN-2
    for seed in seeds(140_000, 200) {
        let scenario = Scenario::new(seed, Features::GROWING);
        played(&scenario, options(seed), Faults { folding: true, ..Faults::default() });
    }
}

#[test]
fn growth_survives_its_stored_form() {
    // R-JRN-1
    for seed in seeds(150_000, 200) {
        let scenario = Scenario::new(seed, Features::GROWING);
        for commit in played(&scenario, options(seed), faults(seed)).world.journal() {
            let text = commit.entries_to_json().unwrap();
            assert_eq!(entries_from_json(&text).as_ref(), Ok(&commit.entries), "seed {seed}: {text}");
        }
    }
}

#[test]
fn growth_told_twice_counts_once() {
    // R-CLAIM-3
    for seed in seeds(160_000, 200) {
        let scenario = Scenario::new(seed, Features::GROWING);
        let once = played(&scenario, options(seed), Faults::default());
        let twice = played(&scenario, options(seed), Faults { twice: true, ..Faults::default() });
        assert_eq!(once.world.journal(), twice.world.journal(), "{scenario}");
    }
}

#[test]
fn who_was_faster_does_not_show_in_what_grew() {
    // R-SCHED-4
    let features = Features { people: true, growth: true, ..Features::DETERMINISTIC };
    for seed in seeds(170_000, 200) {
        let scenario = Scenario::new(seed, features);
        let shape = |seed, slots, longest_ms| WorldOptions { seed, slots, longest_ms, crash: None };
        let first = played(&scenario, shape(1, 1, 1), Faults::default());
        outputs_are_right(&scenario, &first);
        let summary = first.summary();
        for (order, slots, longest, scheduling) in [
            (2, 1, 9, "waves"),
            (3, 2, 9, "waves"),
            (4, 3, 20, "frontier"),
            (5, 4, 50, "waves"),
            (6, 5, 9, "frontier"),
            (7, 6, 50, "frontier"),
            (8, 7, 9, "waves"),
            (9, 8, 50, "frontier"),
        ] {
            let scenario = scenario.with_policy(&[("max_parallelism", ""), ("scheduling", scheduling)]);
            let other = played(&scenario, shape(order, slots, longest), Faults::default());
            if let Some(difference) = difference(&summary, &other.summary()) {
                panic!("{difference}\n{scenario}\n{slots} slots, order {order}, up to {longest} ms");
            }
            assert_eq!(first.world.trace(), other.world.trace(), "{scenario}");
        }
    }
}

#[test]
fn growing_runs_meet_everything_that_has_to_do_with_growth() {
    // What is never drawn is never tested.
    let mut met = BTreeSet::new();
    for seed in seeds(120_000, 2_000) {
        let scenario = Scenario::new(seed, Features::GROWING);
        let player = played(&scenario, options(seed), faults(seed));
        for entry in player.world.entries() {
            let shown = format!("{entry:?}");
            met.extend(shown.split(|letter: char| !letter.is_alphanumeric()).map(str::to_owned));
        }
        let run = player.world.run();
        let depth = run.all_nodes().map(|node| run.address(node).matches('/').count()).max().unwrap_or(0);
        met.insert(format!("depth{depth}"));
    }
    let words = "Expanded Items Params Body Gathered PhaseCompleted PhaseFailed PhaseTimeout Timeout Deadline FailFast \
                 NodeFailures RetriesExhausted Cancel CYCLE_DETECTED MISSING_DEPENDENCY INVALID_OUTPUT depth1 depth2 depth3";
    let words = words
        .replace("CYCLE_DETECTED", "CYCLE")
        .replace("MISSING_DEPENDENCY", "MISSING")
        .replace("INVALID_OUTPUT", "INVALID");
    for word in words.split_whitespace() {
        assert!(met.contains(word), "no growing run holds `{word}`: {met:?}");
    }
}
