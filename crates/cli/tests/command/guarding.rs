//! What happens to the guard, to a run that waits, and to an owner that is stopped for a while (`R-CMD-2`, `R-RETRY-2`).

use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use super::owner::{Owner, Signals, pipe};
use super::processes;
use super::space::Space;

/// R-CMD-2: an owner that lost its guard gets another one before it starts anything else.
#[test]
fn a_killed_guard_is_replaced() {
    let workflow = "workflow: w
nodes:
  first: { run: 'echo up > up; read line < go; echo $line' }
  second: { needs: [first], run: 'setsid sleep 600 > left 2>&1 & echo up > up; sleep 600' }
";
    let space = Space::new().with("sprag.yaml", workflow);
    let up = Signals::new(&space, "up");
    pipe(&space, "go");
    let mut owner = Owner::start(&space, &["run"]);
    let id = owner.said("run ").unwrap().split(' ').nth(1).unwrap().to_owned();
    assert_eq!(up.next(), "up");
    let guard = processes::guard_of(owner.pid).unwrap();
    processes::kill(guard);
    std::fs::write(space.path("go"), "gone\n").unwrap();
    assert_eq!(up.next(), "up");
    let other = processes::guard_of(owner.pid).expect("there is a guard again");
    assert_ne!(guard, other);
    assert_eq!(space.run(&["show", "--json"]).json()["nodes"][0]["output"], "gone", "the first was not disturbed");
    owner.kill();
    processes::wait_for_the_end_of(&id);
}

/// R-CMD-2: an owner whose guard is killed last of all leaves nothing behind either.
#[test]
fn a_run_ends_well_without_its_guard() {
    let workflow = "workflow: w
nodes:
  only: { run: 'setsid sleep 60 > left 2>&1 & echo up > up; read line < go; echo $line' }
";
    let space = Space::new().with("sprag.yaml", workflow);
    let up = Signals::new(&space, "up");
    pipe(&space, "go");
    let mut owner = Owner::start(&space, &["run"]);
    let id = owner.said("run ").unwrap().split(' ').nth(1).unwrap().to_owned();
    assert_eq!(up.next(), "up");
    processes::kill(processes::guard_of(owner.pid).unwrap());
    std::fs::write(space.path("go"), "gone\n").unwrap();
    let ran = owner.finish();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let left = processes::of_run(&id);
    assert!(left.is_empty(), "{left:?}");
}

/// R-CLAIM-1, R-CLAIM-2: while the lock is held nobody takes over, however long it takes to end what a dead owner left.
#[test]
fn nothing_is_taken_over_while_the_guard_has_the_lock() {
    let workflow = "workflow: w
nodes:
  only: { run: 'echo $SPRAG_OWNER > up; read line < go; echo $line' }
";
    let space = Space::new().with("sprag.yaml", workflow);
    let up = Signals::new(&space, "up");
    pipe(&space, "go");
    let mut owner = Owner::start(&space, &["run"]);
    let id = owner.said("run ").unwrap().split(' ').nth(1).unwrap().to_owned();
    let name = up.next();
    let guard = processes::guard_of(owner.pid).unwrap();
    // The kernel wakes stopped processes with a hang-up when their group loses its last tie to the session; this is one.
    let mut tie = Command::new("cat").process_group(guard).stdin(Stdio::piped()).spawn().unwrap();
    processes::signal(guard, Signal::STOP);
    owner.kill();
    let ran = space.run(&["resume", &id]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert!(ran.err.contains("error[RUN_OWNED]"), "{}", ran.err);
    assert!(ran.err.contains(&format!("what the process that ran `{id}` left behind is still ending")), "{}", ran.err);
    assert!(ran.err.contains(&format!("`SPRAG_OWNER={name}`")), "{}", ran.err);
    assert!(up.is_silent(), "something was started");
    assert_eq!(space.run(&["show", "--json"]).json()["nodes"][0]["ledger"].as_array().unwrap().len(), 1);
    processes::signal(guard, Signal::CONT);
    let resumed = Owner::start(&space, &["resume", &id]);
    assert_ne!(up.next(), name);
    std::fs::write(space.path("go"), "gone\n").unwrap();
    let ran = resumed.finish();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    drop(tie.stdin.take());
    tie.wait().unwrap();
}

/// R-CMD-3, R-RES-1: a run that was started in a login session is resumed and ended from outside of it.
#[test]
fn another_session_may_go_on() {
    for verb in ["resume", "cancel"] {
        let space =
            Space::new().with("sprag.yaml", "workflow: w\nnodes: { a: { run: 'mkdir up && sleep 60; true' } }\n");
        std::fs::create_dir(space.path("session")).unwrap();
        let mut command = space.command();
        command.arg("run").env("XDG_RUNTIME_DIR", space.path("session"));
        let mut owner = Owner::of(command);
        assert!(owner.said("a: running").is_some());
        // The guard would clean up, in its own session.
        processes::guard_of(owner.pid).into_iter().for_each(processes::kill);
        owner.kill();
        std::fs::create_dir_all(space.path("up")).unwrap();
        let ran = space.run(&[verb, "@last"]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    }
}

/// R-RETRY-2: what is left of a delay is waited for, not the whole again.
#[test]
fn a_delay_goes_on_after_a_kill() {
    let workflow = "workflow: w
nodes:
  again: { run: 'mkdir tried && exit 1; true',
           retry: { max_attempts: 2, initial_delay: 3s, max_delay: 3s, backoff: fixed, jitter: 0 } }
";
    let space = Space::new().with("sprag.yaml", workflow);
    let mut owner = Owner::start(&space, &["run"]);
    assert!(owner.said("again in ").is_some());
    let node = |space: &Space| space.run(&["show", "--json"]).json()["nodes"][0].clone();
    let due = node(&space)["due"].clone();
    assert!(!owner.ends_within(Duration::from_millis(1_500)));
    owner.kill();
    assert_eq!((node(&space)["state"].as_str(), &node(&space)["due"]), (Some("failed"), &due));
    let ran = space.run(&["resume"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let second = &node(&space)["ledger"][1];
    let late = millis(&second["started_at"]) - millis(&due);
    assert!((0..1_400).contains(&late), "due {due}, started {}", second["started_at"]);
    assert_eq!(node(&space)["attempts"], 2, "the kill cost nothing");
}

/// R-RETRY-2: a delay that is over when the run is resumed is not waited for at all.
#[test]
fn a_delay_that_is_over_is_over() {
    let workflow = "workflow: w
nodes:
  again: { run: 'mkdir tried && exit 1; true',
           retry: { max_attempts: 2, initial_delay: 3s, max_delay: 3s, backoff: fixed, jitter: 0 } }
";
    let space = Space::new().with("sprag.yaml", workflow);
    let mut owner = Owner::start(&space, &["run"]);
    assert!(owner.said("again in ").is_some());
    owner.signal(Signal::STOP);
    assert!(!owner.ends_within(Duration::from_millis(3_200)));
    owner.kill();
    let began = std::time::Instant::now();
    assert_eq!(space.run(&["resume"]).code, Some(0));
    assert!(began.elapsed() < Duration::from_millis(2_500), "{:?}", began.elapsed());
}

/// An owner that was stopped for a while goes on as if nothing had been.
#[test]
fn a_stopped_owner_goes_on() {
    let workflow = "workflow: w
nodes:
  first: { run: 'echo up > up; echo first' }
  second: { needs: [first], run: 'echo {{ nodes.first.output }} and second' }
";
    let space = Space::new().with("sprag.yaml", workflow);
    let up = Signals::new(&space, "up");
    let owner = Owner::start(&space, &["run"]);
    assert_eq!(up.next(), "up");
    owner.signal(Signal::STOP);
    assert!(!owner.ends_within(Duration::from_millis(300)));
    assert_eq!(space.run(&["runs", "--json"]).json()["runs"][0]["status"], "running");
    owner.signal(Signal::CONT);
    assert_eq!(owner.finish().code, Some(0));
    let shown = space.run(&["show", "--json"]).json();
    assert_eq!(shown["nodes"][1]["output"], "first and second");
    assert_eq!(shown["nodes"][0]["attempts"], 1);
}

/// The time of a day in milliseconds, from a moment such as `2026-01-31T23:59:59.5Z`.
fn millis(moment: &Value) -> i64 {
    let (_, time) = moment.as_str().unwrap().trim_end_matches('Z').split_once('T').unwrap();
    let parts: Vec<f64> = time.split(':').map(|part| part.parse().unwrap()).collect();
    #[expect(clippy::cast_possible_truncation, reason = "a day has few milliseconds")]
    let millis = ((parts[0] * 3600.0 + parts[1] * 60.0 + parts[2]) * 1000.0).round() as i64;
    millis
}
