//! One case, measured in a process of its own, so that its memory is only its own.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use sprag_core::definition::Definition;
use sprag_core::run::{
    Created, Effect, EndStatus, GrowthLimits, Input, OwnerId, Report, Run, RunId, RunStatus, Seq, Timestamp,
};
use sprag_engine::Driver;
use sprag_store::{Journal, Memory};

use super::shapes::Shape;

/// The argument that makes the bench measure one case.
pub const ONE_CASE: &str = "--one-case";

/// How many attempts may run at once.
const SLOTS: u32 = 64;

/// What one case costs.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    /// The shape.
    pub shape: Shape,
    /// How many nodes.
    pub nodes: u32,
    /// The run, from its creation to its end, as time on a processor.
    pub run: Duration,
    /// Folding its journal again.
    pub fold: Duration,
    /// How many commits it wrote.
    pub commits: u64,
    /// How many entries.
    pub entries: u64,
    /// The most memory the process ever had, in KiB: definition, run and the whole journal.
    pub peak_kib: u64,
}

impl Cost {
    /// The time per node in nanoseconds.
    pub fn ns_per_node(&self) -> f64 {
        self.run.as_secs_f64() * 1e9 / f64::from(self.nodes)
    }

    /// The time per node to fold the journal, in nanoseconds.
    pub fn fold_ns_per_node(&self) -> f64 {
        self.fold.as_secs_f64() * 1e9 / f64::from(self.nodes)
    }
}

/// Measures one case in a child process.
pub fn in_child(shape: Shape, nodes: u32) -> Cost {
    let this = std::env::current_exe().unwrap();
    let output = Command::new(this).args([ONE_CASE, shape.name(), &nodes.to_string()]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let figures: Vec<u64> = text.split_whitespace().map(|figure| figure.parse().unwrap()).collect();
    let [run, fold, commits, entries, peak_kib] = figures[..] else { panic!("{text}") };
    let (run, fold) = (Duration::from_nanos(run), Duration::from_nanos(fold));
    Cost { shape, nodes, run, fold, commits, entries, peak_kib }
}

/// What the child does: the figures go to standard output.
pub fn one_case(shape: &str, nodes: u32) -> String {
    let shape = Shape::ALL.into_iter().find(|known| known.name() == shape).unwrap();
    let definition = Arc::new(shape.definition(nodes));
    // The first round is the one whose memory counts; small runs are over so soon that one round says little.
    let (mut run, journal) = drive(shape, nodes, &definition);
    let peak_kib = peak_kib();
    let (commits, entries) = written(&journal);
    let mut fold = refold(&definition, &journal);
    drop(journal);
    for _ in 1..(2_000_000 / nodes).clamp(5, 100) {
        let (time, journal) = drive(shape, nodes, &definition);
        run = run.min(time);
        fold = fold.min(refold(&definition, &journal));
    }
    format!("{} {} {commits} {entries} {peak_kib}", run.as_nanos(), fold.as_nanos())
}

/// Runs a workflow whose nodes all end at once and well.
fn drive(shape: Shape, nodes: u32, definition: &Arc<Definition>) -> (Duration, Memory) {
    let journal = Memory::new();
    let first = Created::first(RunId::default(), definition, std::collections::BTreeMap::new());
    let created = Created { growth: GrowthLimits { nodes: u32::MAX, depth: 1 }, ..first };
    let now = Timestamp::from_millis(0);
    let start = thread_time();
    let mut driver = Driver::create(Arc::clone(definition), created, OwnerId::default(), SLOTS);
    while let Some(append) = driver.drain(now).unwrap() {
        let last = journal.append(&[append]).pop().unwrap().unwrap();
        driver.durable(last);
        for effect in driver.effects() {
            if let Effect::Execute { node, attempt, .. } = effect {
                driver.offer(Input::Report { node, attempt, report: Report::Produced(shape.product(nodes, node)) });
            }
        }
        drop(driver.replies());
    }
    let time = thread_time().saturating_sub(start);
    assert_eq!(driver.run().status(), RunStatus::Ended(EndStatus::Completed));
    (time, journal)
}

fn refold(definition: &Arc<Definition>, journal: &Memory) -> Duration {
    let commits = journal.read(RunId::default(), Seq(0), usize::MAX).unwrap();
    let start = thread_time();
    let entries = commits.iter().flat_map(|commit| commit.entries.iter().map(|entry| (commit.at, entry)));
    let run = Run::fold(Arc::clone(definition), entries).unwrap();
    let time = thread_time().saturating_sub(start);
    assert_eq!(run.status(), RunStatus::Ended(EndStatus::Completed));
    time
}

fn written(journal: &Memory) -> (usize, u64) {
    let commits = journal.read(RunId::default(), Seq(0), usize::MAX).unwrap();
    (commits.len(), commits.last().unwrap().last().0)
}

/// The time that this thread had a processor: everything happens on it, and what others do meanwhile does not count.
fn thread_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap()
}

/// The high-water mark of this process.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
