//! Plays many seeds and tells what it found, each kind of broken promise once, with its first seed, and how fast it was:
//! `cargo run -p sprag-sim --example search -- 0 10000 growing faults`.

#![allow(clippy::print_stdout, reason = "it is a tool for people")]

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::Instant;

use sprag_sim::generate::{Features, Scenario};
use sprag_sim::{Faults, Player, WorldOptions};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse().ok());
    let (from, count): (u64, u64) = (number(0).unwrap_or(0), number(1).unwrap_or(1_000));
    let has = |word: &str| words.iter().any(|other| other == word);
    let features = match () {
        () if has("everything") => Features::EVERYTHING,
        () if has("recovering") => Features::RECOVERING,
        () if has("growing") => Features::GROWING,
        () => Features::ALL,
    };
    let (faulty, shown) = (has("faults"), has("show"));
    if !shown {
        std::panic::set_hook(Box::new(|_| {}));
    }
    let found: Mutex<BTreeMap<String, (u64, u64, String)>> = Mutex::default();
    let began = Instant::now();
    let workers = std::thread::available_parallelism().map_or(2, |cores| cores.get() as u64);
    std::thread::scope(|scope| {
        for worker in 0..workers {
            let found = &found;
            scope.spawn(move || {
                for seed in (from + worker..from + count).step_by(usize::try_from(workers).unwrap_or(1)) {
                    if let Some((kind, what)) = broken(seed, features, faulty)
                        && let Ok(mut found) = found.lock()
                    {
                        let entry = found.entry(kind).or_insert((0, seed, what));
                        entry.0 += 1;
                        entry.1 = entry.1.min(seed);
                    }
                }
            });
        }
    });
    let took = began.elapsed();
    if let Ok(found) = found.lock() {
        for (kind, (times, seed, what)) in found.iter() {
            println!("{times} times, first with seed {seed}: {kind}");
            if shown {
                println!("{what}\n");
            }
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "seeds are few")]
    let rate = count as f64 / took.as_secs_f64();
    println!("{count} seeds in {took:.1?}: {rate:.0} a second on {workers} cores");
}

/// The first promise that a seed breaks, without names, and everything about it.
fn broken(seed: u64, features: Features, faulty: bool) -> Option<(String, String)> {
    let played = catch_unwind(AssertUnwindSafe(|| {
        let scenario = Scenario::new(seed, features);
        let mut player = Player::new(
            &scenario,
            WorldOptions::drawn(seed),
            if faulty { Faults::drawn(seed) } else { Faults::default() },
        );
        player.play();
        while player.violations.is_empty()
            && let Some(next) = player.goes_on()
        {
            player = next;
            player.play();
        }
        let first = player.violations.first()?;
        Some((first.to_string(), format!("{first}\n{scenario}\n{}", player.world.picture())))
    }));
    let (what, whole) = match played {
        Ok(found) => found?,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned().unwrap_or_default();
            (format!("panic: {}", text.lines().last().unwrap_or_default()), text)
        }
    };
    // Names and numbers differ, the kind does not.
    let kind: String = what.chars().filter(|letter| !letter.is_ascii_digit()).take(160).collect();
    let mut named = false;
    let bare: String = kind
        .chars()
        .filter(|letter| {
            named ^= *letter == '`';
            !named
        })
        .collect();
    Some((bare, whole))
}
