//! Random runs over everything there is: growth, phases, ladders, budgets, people, crashes, runs that go on from others,
//! and snapshots on the way. One seed is one lineage.
//!
//! An ordinary test run plays 4,000 seeds; `SPRAG_SEEDS=3` plays 12,000.

use std::collections::BTreeSet;
use std::sync::Arc;

use sprag_core::run::Run;
use sprag_sim::generate::{Features, Scenario};
use sprag_sim::{Faults, Player, Rng};

use crate::generated::{faults, options, seeds};

/// From a random commit on, what is restored goes on as what was folded (`R-JRN-2`, `R-CP-6`).
fn restored(player: &Player, rng: &mut Rng, shown: &dyn Fn() -> String) {
    let definition = Arc::new(player.world.definition().clone());
    let journal = player.world.journal();
    let cut = usize::try_from(rng.below(journal.len() as u64 + 1)).unwrap();
    let mut run = Run::new(Arc::clone(&definition));
    for commit in &journal[..cut] {
        commit.entries.iter().for_each(|entry| run.apply(commit.at, entry).unwrap());
    }
    let mut other = Run::restore(definition, &run.snapshot()).unwrap();
    assert!(other == run, "a run restored after {cut} commits is another\n{}", shown());
    for commit in &journal[cut..] {
        for entry in &commit.entries {
            run.apply(commit.at, entry).unwrap();
            other.apply(commit.at, entry).unwrap();
        }
    }
    assert!(other == run, "a run restored after {cut} commits ends as another\n{}", shown());
}

fn all(from: u64, features: Features, disturbed: bool) {
    let mut links = 0;
    for seed in seeds(from, 500) {
        let scenario = Scenario::new(seed, features);
        let faults = if disturbed { faults(seed) } else { Faults::default() };
        let mut player = Player::new(&scenario, options(seed), faults);
        let mut rng = Rng::new(seed ^ 0x11ea);
        loop {
            player.play();
            let shown = || format!("link {links}\n{scenario}\n{}", player.world.picture());
            if let Some(first) = player.violations.first() {
                panic!("{first}\n{}", shown());
            }
            if rng.one_in(4) {
                restored(&player, &mut rng, &shown);
            }
            match player.goes_on() {
                Some(next) => player = next,
                None => break,
            }
            links += 1;
        }
    }
    assert!(links > 0, "no run went on from another");
}

macro_rules! everything {
    ($($name:ident: $from:literal, $features:ident, $faulty:literal;)*) => {
        $(
            #[test]
            fn $name() {
                // R-REC-1, R-REC-2, R-REC-3, R-REC-4, R-REC-5, R-REC-6, R-REC-7, R-RES-2, R-RES-7, R-GROW-2, R-JRN-2
                all($from, Features::$features, $faulty);
            }
        )*
    };
}

// Several tests, so that they share the cores.
everything! {
    plain_runs_recover: 200_000, RECOVERING, false;
    plain_runs_recover_from_faults: 300_000, RECOVERING, true;
    plain_runs_recover_from_more_faults: 400_000, RECOVERING, true;
    growing_runs_recover: 500_000, EVERYTHING, false;
    growing_runs_recover_too: 600_000, EVERYTHING, false;
    growing_runs_recover_from_faults: 700_000, EVERYTHING, true;
    growing_runs_recover_from_more_faults: 800_000, EVERYTHING, true;
    growing_runs_recover_from_even_more_faults: 900_000, EVERYTHING, true;
}

#[test]
fn runs_that_recover_meet_every_kind_of_entry() {
    // What is never drawn is never tested.
    let mut met = BTreeSet::new();
    for seed in seeds(300_000, 500) {
        let scenario = Scenario::new(seed, Features::RECOVERING);
        let mut player = Player::new(&scenario, options(seed), faults(seed));
        player.play();
        for entry in player.world.entries() {
            let shown = format!("{entry:?}");
            met.extend(shown.split(|letter: char| !letter.is_alphanumeric() && letter != '_').map(str::to_owned));
        }
    }
    let words = "Decomposing Spent Withheld BudgetRaised Intervention Budget RetrySame RetryWithFeedback EscalateModel \
                 DecomposeFurther SkipWithFallback HumanIntervention Fallback Provided Raise reserved \
                 MISSING_DEPENDENCY BUDGET_EXCEEDED CYCLE_DETECTED";
    for word in words.split_whitespace() {
        assert!(met.contains(word), "no generated run holds `{word}`");
    }
}
