//! What an attempt costs beyond the process itself: 1,000 times `true`, two at a time, against `xargs -P2 -n1 true`.
//!
//! `cargo bench -p sprag-engine --bench command`. Both are measured in turns, and the fastest round of each counts: on a
//! busy machine the others measure the neighbours.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench reports, and stops at what it did not expect")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use sprag_core::run::{OwnerId, RunId, attempt_id};
use sprag_engine::exec::{Abort, CommandJob, Identity, Program, SlotFolders, execute};
use uuid::Uuid;

const COMMANDS: u32 = 1_000;
const SLOTS: u32 = 2;
const ROUNDS: usize = 7;

fn main() {
    let list = Program::Arguments(vec!["true".into()]);
    let shell = Program::Shell("true".into());
    let [mut plain, mut direct, mut through_shell] = [Duration::MAX; 3];
    for _ in 0..ROUNDS {
        plain = plain.min(xargs(&["true"]));
        direct = direct.min(executed(&list));
        through_shell = through_shell.min(executed(&shell));
    }
    for (name, time) in [("xargs true", plain), ("[true]", direct), ("sh -c true", through_shell)] {
        let each = time.as_secs_f64() * 1e6 / f64::from(COMMANDS);
        let ratio = time.as_secs_f64() / plain.as_secs_f64();
        println!("{name:12} {:7.1} ms  {each:7.1} µs each  {ratio:.3} x", time.as_secs_f64() * 1e3);
    }
}

fn xargs(command: &[&str]) -> Duration {
    let words = (0..COMMANDS).fold(String::new(), |mut words, number| {
        writeln!(words, "{number}").unwrap();
        words
    });
    let began = Instant::now();
    let mut child = Command::new("xargs").args(["-P2", "-n1"]).args(command).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(words.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    began.elapsed()
}

fn executed(program: &Program) -> Duration {
    let state = tempfile::tempdir().unwrap();
    let owner = OwnerId(Uuid::from_u128(u128::from(std::process::id())));
    let folders = SlotFolders::create(owner, state.path()).unwrap();
    let next = AtomicU32::new(0);
    let began = Instant::now();
    std::thread::scope(|scope| {
        for number in 0..SLOTS {
            let slot = folders.slot(number);
            let next = &next;
            let state = state.path();
            scope.spawn(move || {
                while let attempt @ 0..COMMANDS = next.fetch_add(1, Ordering::Relaxed) {
                    let job = job(program.clone(), owner, attempt, state);
                    execute(&job, &slot, &Abort::new().unwrap()).unwrap();
                }
            });
        }
    });
    began.elapsed()
}

fn job(program: Program, owner: OwnerId, attempt: u32, state: &Path) -> CommandJob {
    let run = RunId(owner.0);
    let attempt_id = attempt_id(run, "node", attempt);
    let identity = Identity { run, node: "node".into(), attempt, attempt_id, idempotency_key: run.0, owner };
    CommandJob::new(identity, program, state.to_owned(), state.join(format!("{attempt}.log")))
}
