//! What holds for any workflow, whatever its work does and people say.

use sprag_core::run::entries_from_json;
use sprag_sim::check::difference;
use sprag_sim::generate::{Features, Scenario};
use sprag_sim::keep::Keep;
use sprag_sim::{Faults, Player, WorldOptions};
use sprag_store::Memory;

/// Plays a scenario and stops at the first broken promise, with everything needed to see it again.
pub fn played(scenario: &Scenario, options: WorldOptions, faults: Faults) -> Player {
    played_in(Box::new(Memory::new()), scenario, options, faults)
}

/// The same, with the journal somewhere else.
pub fn played_in(store: Box<dyn Keep>, scenario: &Scenario, options: WorldOptions, faults: Faults) -> Player {
    let shown = format!("{scenario}\n{options:?}\n{faults:?}");
    let mut player = Player::new(scenario, options, faults).kept_in(store);
    player.play();
    if let Some(first) = player.violations.first() {
        panic!("{first}\n{shown}\n{}", player.world.picture());
    }
    player
}

/// So many seeds from one on; a longer search multiplies them with `SPRAG_SEEDS`.
pub fn seeds(from: u64, count: u64) -> std::ops::Range<u64> {
    let times = std::env::var("SPRAG_SEEDS").ok().and_then(|times| times.parse().ok()).unwrap_or(1);
    from * 1_000..from * 1_000 + count * times
}

/// How a world is for a seed.
pub fn options(seed: u64) -> WorldOptions {
    WorldOptions::drawn(seed)
}

/// Everything that may go wrong, from a seed.
pub fn faults(seed: u64) -> Faults {
    Faults::drawn(seed)
}

#[test]
fn every_run_ends_or_waits_for_a_person_and_keeps_every_promise() {
    // R-STATE-1, R-STATE-4, R-STATE-5, R-EDGE-2, R-EDGE-5, R-CLAIM-1, R-CLAIM-3, R-SCHED-1, R-SCHED-3, R-ASK-1
    let mut commits = 0;
    for seed in seeds(0, 1_500) {
        let scenario = Scenario::new(seed, Features::ALL);
        commits += played(&scenario, options(seed), Faults::default()).world.journal().len();
    }
    println!("{commits} commits");
}

#[test]
fn whatever_goes_wrong_every_promise_is_kept() {
    // R-CLAIM-2, R-CLAIM-3, R-CLAIM-4, R-CLAIM-5, R-ASK-1
    let (mut commits, mut owners) = (0, 0);
    for seed in seeds(10_000, 1_500) {
        let scenario = Scenario::new(seed, Features::ALL);
        let player = played(&scenario, options(seed), faults(seed));
        commits += player.world.journal().len();
        owners += faults(seed).crashes.len();
    }
    println!("{commits} commits, up to {owners} crashes");
}

#[test]
fn the_journal_tells_what_its_owner_knows_after_every_drain() {
    // R-JRN-2
    for seed in seeds(20_000, 300) {
        let scenario = Scenario::new(seed, Features::ALL);
        played(&scenario, options(seed), Faults { folding: true, ..Faults::default() });
    }
}

#[test]
fn every_commit_survives_its_stored_form() {
    // R-JRN-1
    for seed in seeds(30_000, 300) {
        let scenario = Scenario::new(seed, Features::ALL);
        for commit in played(&scenario, options(seed), faults(seed)).world.journal() {
            let text = commit.entries_to_json().unwrap();
            assert_eq!(entries_from_json(&text).as_ref(), Ok(&commit.entries), "seed {seed}: {text}");
        }
    }
}

#[test]
fn told_twice_everything_counts_once() {
    // R-CLAIM-3
    for seed in seeds(40_000, 300) {
        let scenario = Scenario::new(seed, Features::ALL);
        let once = played(&scenario, options(seed), Faults::default());
        let twice = played(&scenario, options(seed), Faults { twice: true, ..Faults::default() });
        assert_eq!(once.world.journal(), twice.world.journal(), "{scenario}");
    }
}

#[test]
fn the_order_of_completion_and_the_number_of_slots_do_not_show() {
    // R-SCHED-4
    let features = Features { people: true, ..Features::DETERMINISTIC };
    for seed in seeds(50_000, 200) {
        let scenario = Scenario::new(seed, features);
        let shape = |seed, slots, longest_ms| WorldOptions { seed, slots, longest_ms, crash: None };
        let first = played(&scenario, shape(1, 1, 1), Faults::default());
        assert_eq!(first.world.trace(), first.summary().trace, "{scenario}");
        assert_eq!(first.world.run().context(), first.summary().context, "{scenario}");
        for (order, slots, longest, scheduling) in [
            (2, 1, 9, "waves"),
            (3, 2, 9, "waves"),
            (4, 8, 50, "waves"),
            (5, 1, 9, "frontier"),
            (6, 2, 50, "frontier"),
            (7, 8, 9, "frontier"),
        ] {
            let scenario = scenario.with_policy(&[("max_parallelism", ""), ("scheduling", scheduling)]);
            let other = played(&scenario, shape(order, slots, longest), Faults::default());
            if let Some(difference) = difference(&first.summary(), &other.summary()) {
                panic!("{difference}\n{scenario}\n{slots} slots, order {order}, up to {longest} ms");
            }
            assert_eq!(first.world.trace(), other.world.trace(), "{scenario}");
        }
    }
}

#[test]
fn generated_runs_meet_every_kind_of_entry() {
    // What is never drawn is never tested.
    let mut met = std::collections::BTreeSet::new();
    for seed in seeds(10_000, 900) {
        let scenario = Scenario::new(seed, Features::ALL);
        for entry in played(&scenario, options(seed), faults(seed)).world.entries() {
            let shown = format!("{entry:?}");
            met.extend(shown.split(|letter: char| !letter.is_alphanumeric()).map(str::to_owned));
        }
    }
    let entries = "Created Owned DeadlineMoved Ready Started Produced Checked Graded Completed Failed Finalised Unknown \
                   Asked Answered Closed Approved Skipped Cancelled Signalled SignalTaken WaveCompleted Command Held \
                   PeopleOnly Stopping Ended";
    let causes = "FailFast NodeFailures RetriesExhausted Deadline Cancel Rejected TimedOut SkippedByPerson Stopped \
                  DependencyFailed DependencySkipped DependencyCancelled ConditionNotMet RunStopped Fallback Provided";
    for word in entries.split_whitespace().chain(causes.split_whitespace()) {
        assert!(met.contains(word), "no generated run holds `{word}`");
    }
}
