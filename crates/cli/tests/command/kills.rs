//! kill -9 at any moment, again and again: nothing finished is repeated, nothing started goes on, and the result is that
//! of a run nobody disturbed (`R-GATE-3`, `R-CLAIM-2`, `R-CLAIM-4`, `R-RES-1`).

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::process::Signal;
use serde_json::Value;

use super::owner::Owner;
use super::space::{Ran, Space};
use super::{ledger, processes, wide};

/// Small and repeatable; the numbers only choose moments.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// Says how to see the same again, if the test fails.
struct Seed(u64);

impl Seed {
    fn new() -> Self {
        let now = || u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros()).unwrap();
        Self(std::env::var("SPRAG_SEED").ok().map_or_else(now, |seed| seed.parse().unwrap()))
    }
}

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the same moments again: SPRAG_SEED={}", self.0);
        }
    }
}

fn space(scheduling: &str) -> Space {
    let later = wide::STEP.replace("note start\n", "");
    Space::new()
        .with("sprag.yaml", wide::workflow(scheduling))
        .with("next.yaml", "workflow: next\nnodes: { a: { noop: {} } }\n")
        .with("step.sh", wide::STEP)
        .with("later.sh", later)
}

fn shown(space: &Space) -> Value {
    let shown = space.run(&["show", "--json"]);
    assert_eq!(shown.code, Some(0), "{}{}", shown.out, shown.err);
    shown.json()
}

/// Kills until that was done so often, over as many runs as that takes.
fn disturb(scheduling: &str, parallel: &str, kills: u32, guard_too: bool) {
    let seed = Seed::new();
    let mut random = Random(seed.0 | 1);
    let calm = space(scheduling);
    let ran = calm.run(&["run", "--parallel", parallel]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let expected = ledger::result(&shown(&calm));
    ledger::check(&calm, &shown(&calm));
    let mut killed = 0;
    while killed < kills {
        let space = space(scheduling);
        killed += until_the_end(&space, parallel, &mut random, guard_too);
        let shown = shown(&space);
        assert_eq!(ledger::result(&shown), expected);
        ledger::check(&space, &shown);
        if guard_too {
            // If both were killed after the end of the run nobody resumes it, and the next run cleans up.
            let ran = space.run(&["run", "next.yaml"]);
            assert_eq!(ran.code, Some(0), "{}", ran.err);
        }
        let run = shown["run_id"].as_str().unwrap();
        let left = processes::of_run(run);
        assert!(left.is_empty(), "still there after the end: {left:?}");
    }
}

/// Starts a run, and kills and resumes it until it has ended. Returns how often.
fn until_the_end(space: &Space, parallel: &str, random: &mut Random, guard_too: bool) -> u32 {
    let mut killed = 0;
    let mut exists = false;
    let mut dead: BTreeSet<String> = BTreeSet::new();
    loop {
        let verb = if exists { "resume" } else { "run" };
        let mut owner = Owner::start(space, &[verb, "--parallel", parallel]);
        // Later and later, so that the slowest machine comes to an end.
        let mut moment = Duration::from_micros(random.below(160_000 + 10_000 * u64::from(killed)));
        if exists && random.below(2) == 0 {
            // R-CMD-2: who goes on goes on alone.
            let Some(line) = owner.said("resuming run ") else {
                // The last kill came after the end; what it ended with is looked at by the caller.
                let ran = owner.finish();
                assert!(ran.code == Some(3) && ran.err.contains("NOTHING_TO_RESUME"), "{}", ran.err);
                return killed;
            };
            let run = line.split(' ').nth(2).unwrap();
            let of_the_dead =
                |process: &processes::Process| process.variable("SPRAG_OWNER").is_some_and(|id| dead.contains(id));
            let left: Vec<_> = processes::of_run(run).into_iter().filter(of_the_dead).collect();
            assert!(left.is_empty(), "still there after a resume: {left:?}");
            moment /= 2;
        }
        if owner.ends_within(moment) {
            let ran = space.run(&["resume"]);
            assert_eq!(ran.code, Some(3), "the run ended by itself, and completely: {}", ran.err);
            return killed;
        }
        let guard = if guard_too { processes::guard_of(owner.pid) } else { None };
        if let Some(guard) = guard {
            processes::kill(guard);
        }
        owner.kill();
        killed += 1;
        dead.extend(ledger::owners(space));
        exists = exists || space.run(&["runs", "--json"]).json()["runs"] != serde_json::json!([]);
    }
}

#[test]
fn a_hundred_kills_in_waves() {
    disturb("waves", "4", 100, false);
}

#[test]
fn sixty_kills_at_the_frontier() {
    disturb("frontier", "8", 60, false);
}

/// Without a guard, whoever resumes ends what was left.
#[test]
fn forty_kills_of_the_guard_together_with_its_owner() {
    disturb("frontier", "4", 40, true);
}

/// A project whose very first moments are cut short can be used all the same.
#[test]
fn forty_kills_while_everything_is_being_made() {
    let seed = Seed::new();
    let mut random = Random(seed.0 | 1);
    let space = Space::new().with("sprag.yaml", "workflow: w\nnodes: { a: { run: 'sleep 0.01' } }\n");
    std::fs::create_dir(space.path("memory")).unwrap();
    for _ in 0..40 {
        // R-CMD-3: slots are where the test can look for them.
        let mut command = space.command();
        command.arg("run").env("XDG_RUNTIME_DIR", space.path("memory"));
        let owner = Owner::of(command);
        if !owner.ends_within(Duration::from_micros(random.below(30_000))) {
            owner.kill();
        }
    }
    let runs = |status: &str| {
        let ran = space.run(&["runs", "--json", "--limit", "100", "--status", status]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        ran.json()["runs"].as_array().unwrap().len()
    };
    let in_memory = |verb: &str| {
        let output = space.command().arg(verb).env("XDG_RUNTIME_DIR", space.path("memory")).output();
        Ran::from(output.unwrap())
    };
    let left = runs("interrupted");
    for _ in 0..left {
        let ran = in_memory("resume");
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    }
    let ran = in_memory("run");
    let slots: Vec<_> = std::fs::read_dir(space.path("memory")).unwrap().collect();
    assert!(slots.is_empty(), "what the dead left is gone: {slots:?}");
    assert_eq!((ran.code, runs("interrupted"), runs("running")), (Some(0), 0, 0), "{}", ran.err);
}

/// R-GATE-3, R-CLI-3: whenever Ctrl-C comes, what exists is saved and can be resumed, and the exit code says so.
#[test]
fn ctrl_c_at_any_moment() {
    let seed = Seed::new();
    let mut random = Random(seed.0 | 1);
    let calm = space("frontier");
    assert_eq!(calm.run(&["run"]).code, Some(0));
    let expected = ledger::result(&shown(&calm));
    let space = space("frontier");
    let mut verb = "run";
    for limit in (120_000..).step_by(10_000) {
        let owner = Owner::start(&space, &[verb, "-q"]);
        let by_itself = owner.ends_within(Duration::from_micros(random.below(limit)));
        owner.signal(Signal::INT);
        let exists = space.run(&["runs", "--json"]).json()["runs"] != serde_json::json!([]);
        if by_itself {
            break;
        }
        let ran = owner.finish();
        match ran.code {
            Some(0) => break,
            Some(130) => verb = "resume",
            // It came before sprag listened, and so before anything was started.
            code => assert!(code.is_none() && (verb == "resume" || !exists), "{code:?} of {verb}: {}", ran.err),
        }
    }
    let shown = shown(&space);
    assert_eq!(ledger::result(&shown), expected);
    ledger::check(&space, &shown);
    let interrupted = shown["nodes"].as_array().unwrap().iter().filter(|node| {
        node["ledger"].as_array().unwrap().iter().any(|attempt| attempt["last_error"]["code"] == "INTERRUPTED")
    });
    assert_eq!(interrupted.count(), 0, "whoever asks once waits for what runs");
}
