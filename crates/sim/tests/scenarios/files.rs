//! The same runs over a store in an SQLite file, which whoever comes next opens from what the dead left behind.

use std::sync::{Arc, Barrier};

use sprag_core::run::{Commit, OwnerId, Taking};
use sprag_engine::Driver;
use sprag_sim::generate::{Features, Scenario};
use sprag_sim::keep::{Death, File};
use sprag_sim::{Crash, Faults, Rng, World};
use sprag_store::{Append, Journal as _, Sqlite, StoreError};
use uuid::Uuid;

use crate::crashes::{crashed_in, scenarios, world};
use crate::generated::{faults, options, played, played_in, seeds};

/// So many tests share the crash points, so that they run side by side.
const PARTS: usize = 4;

/// Every crash point of every fourth shape: how many there are, in how many shapes.
fn crash_points(part: usize) -> (usize, u64) {
    let (mut points, mut shapes) = (0, 0);
    for scenario in scenarios().iter().skip(part).step_by(PARTS) {
        let undisturbed = played_in(Box::new(File::new(Death::Closing)), scenario, world(), Faults::default());
        let summary = undisturbed.summary();
        shapes += 1;
        for operation in 1..=undisturbed.world.operations() {
            for after in [false, true] {
                let death = if (operation + shapes) % 4 == 0 { Death::Closing } else { Death::Killed };
                crashed_in(Box::new(File::new(death)), scenario, &[Crash { operation, after }], &summary);
                points += 1;
            }
        }
    }
    // Four of them are 3,000 points in 40 shapes, and more.
    assert!(points >= 3_000 / PARTS && shapes >= 10, "{points} points in {shapes} shapes");
    (points, shapes)
}

#[test]
fn a_crash_around_any_append_to_a_file_changes_nothing_first_quarter() {
    // R-CLAIM-4, R-STATE-8, R-RETRY-2, R-JRN-1
    let (points, shapes) = crash_points(0);
    println!("{points} points in {shapes} shapes");
}

#[test]
fn a_crash_around_any_append_to_a_file_changes_nothing_second_quarter() {
    // R-CLAIM-4, R-STATE-8, R-RETRY-2, R-JRN-1
    let (points, shapes) = crash_points(1);
    println!("{points} points in {shapes} shapes");
}

#[test]
fn a_crash_around_any_append_to_a_file_changes_nothing_third_quarter() {
    // R-CLAIM-4, R-STATE-8, R-RETRY-2, R-JRN-1
    let (points, shapes) = crash_points(2);
    println!("{points} points in {shapes} shapes");
}

#[test]
fn a_crash_around_any_append_to_a_file_changes_nothing_last_quarter() {
    // R-CLAIM-4, R-STATE-8, R-RETRY-2, R-JRN-1
    let (points, shapes) = crash_points(3);
    println!("{points} points in {shapes} shapes");
}

/// Kills owners in the middle of appends; how many appends had landed, and how many had not.
fn torn(store: impl Fn(Death) -> File, shapes: usize, times: u64) -> (usize, usize) {
    let (mut landed, mut lost) = (0, 0);
    for (number, scenario) in scenarios().iter().enumerate().skip(10).take(shapes) {
        let undisturbed = played(scenario, world(), Faults::default());
        let summary = undisturbed.summary();
        for operation in 1..=undisturbed.world.operations() {
            for time in 0..times {
                let death = Death::Torn(Rng::new(number as u64 * 1_000_000 + operation * 1_000 + time));
                let crash = Crash { operation, after: true };
                let player = crashed_in(Box::new(store(death)), scenario, &[crash], &summary);
                *(if player.world.landed == [true] { &mut landed } else { &mut lost }) += 1;
            }
        }
    }
    (landed, lost)
}

#[test]
fn killed_in_the_middle_of_an_append_it_landed_whole_or_not_at_all() {
    // R-JRN-1, R-JRN-2, R-CLAIM-4
    let (landed, lost) = torn(File::new, 30, 2);
    println!("{landed} appends had landed, {lost} had not");
    assert!(landed >= 60 && lost >= 200, "{landed} and {lost}");
}

#[test]
fn killed_while_the_log_is_written_back_or_begun_again_nothing_is_lost() {
    // R-JRN-1, R-JRN-2, R-CLAIM-4
    let (landed, lost) = torn(File::about_to_write_back, 12, 2);
    println!("{landed} appends had landed, {lost} had not");
    assert!(landed >= 20 && lost >= 60, "{landed} and {lost}");
}

#[test]
fn over_a_file_told_twice_everything_counts_once() {
    // R-CLAIM-3
    for seed in seeds(70_000, 200) {
        let scenario = Scenario::new(seed, Features::ALL);
        let once = played(&scenario, options(seed), Faults::default());
        let twice = Faults { twice: true, ..Faults::default() };
        let twice = played_in(Box::new(File::new(Death::Closing)), &scenario, options(seed), twice);
        assert_eq!(once.world.journal(), twice.world.journal(), "{scenario}");
    }
}

#[test]
fn over_a_file_whatever_goes_wrong_every_promise_is_kept() {
    // R-CLAIM-2, R-CLAIM-3, R-CLAIM-4, R-CLAIM-5, R-ASK-1
    let mut deaths = 0;
    for seed in seeds(80_000, 300) {
        let scenario = Scenario::new(seed, Features::ALL);
        // Late writers above all.
        let faults = Faults { late: true, ..faults(seed) };
        let death = match seed % 3 {
            0 => Death::Closing,
            1 => Death::Killed,
            _ => Death::Torn(Rng::new(seed)),
        };
        let file = played_in(Box::new(File::new(death.clone())), &scenario, options(seed), faults.clone());
        deaths += file.world.landed.len();
        if !matches!(death, Death::Torn(_)) {
            // Memory is the reference: the same story leaves the same journal.
            let memory = played(&scenario, options(seed), faults);
            assert_eq!(file.world.journal(), memory.world.journal(), "{scenario}");
        }
    }
    println!("{deaths} deaths");
    assert!(deaths >= 300, "{deaths} deaths");
}

/// A process that folded the journal and is about to claim the run.
fn taker(world: &World, owner: u128) -> Driver {
    let (run, commits) = (world.folded().unwrap().id().unwrap(), world.journal());
    let definition = Arc::new(world.definition().clone());
    let commits = commits.iter().map(AsRef::as_ref);
    Driver::resume(definition, run, commits, OwnerId(Uuid::from_u128(owner)), Taking::Automatic, 4).unwrap()
}

#[test]
fn of_owners_that_race_for_a_file_one_wins_and_the_other_writes_nothing() {
    // R-CLAIM-1, R-CLAIM-2
    let (mut races, mut firsts) = (0, 0);
    for seed in seeds(90_000, 200) {
        let scenario = Scenario::new(seed, Features::DETERMINISTIC);
        let file = File::new(Death::Killed);
        let path = file.path().to_owned();
        let mut world = World::around(scenario.definition(), options(seed)).kept_in(Box::new(file));
        *world.script() = scenario.script();
        world.starts();
        for _ in 0..seed % 5 {
            world.advance();
        }
        let before = world.journal();
        if world.run().ended().is_some() {
            continue;
        }
        let start = Barrier::new(2);
        let claims = [9_001, 9_002].map(|owner| taker(&world, owner).drain(world.now()).unwrap().unwrap());
        let claim = |claim: Append| {
            // Each has the file open for itself, and repeats what it wrote, as if it had not heard the answer.
            let store = Sqlite::open(&path).unwrap();
            let claim = Append { relaxed: true, ..claim };
            start.wait();
            [(); 2].map(|()| store.append(std::slice::from_ref(&claim)).remove(0))
        };
        let [one, two] = std::thread::scope(|scope| {
            let threads = claims.map(|append| scope.spawn(|| claim(append)));
            threads.map(|thread| thread.join().unwrap())
        });
        races += 1;
        firsts += u32::from(one[0].is_ok());
        let (won, lost) = if one[0].is_ok() { (one, two) } else { (two, one) };
        assert!(won.iter().all(Result::is_ok), "seed {seed}: {won:?}");
        let refused = |answer: &_| matches!(answer, Err(StoreError::Conflict { .. } | StoreError::Fenced { .. }));
        assert!(lost.iter().all(refused), "seed {seed}: {lost:?}");
        let after = world.journal();
        assert_eq!((after.len(), &after[..before.len()]), (before.len() + 1, &before[..]), "seed {seed}");
        // The old owner, which knows of nothing, is refused as well.
        let (old, next) = (before.last().unwrap(), after.last().unwrap().last().next());
        let run = world.folded().unwrap().id().unwrap();
        let late = Commit::new(run, OwnerId(Uuid::from_u128(1)), next, old.at, old.fence, old.entries.clone());
        let late = Append::new(run, Arc::new(late));
        let answer = Sqlite::open(&path).unwrap().append(&[late]).remove(0);
        assert!(matches!(answer, Err(StoreError::Fenced { .. })), "seed {seed}: {answer:?}");
        world.crashes().takes(Taking::Automatic).settles();
        assert!(world.run().ended().is_some(), "seed {seed}: {}", world.picture());
    }
    println!("{races} races, of which the first won {firsts}");
    assert!(races >= 100, "{races} races");
}
