//! The rows of the table: what is done, what the machine could do at best, and what must be reached.

use std::path::Path;
use std::time::Duration;

use crate::program::Project;
use crate::{growth, library, limits, workflows};

/// One figure.
pub struct Row {
    pub work: String,
    value: f64,
    unit: &'static str,
    /// What it is compared with, in words.
    pub limit: String,
    limit_value: Option<f64>,
    /// What must be reached, in words.
    pub must: String,
    bound: Bound,
}

/// What makes a figure good.
#[derive(Clone, Copy)]
enum Bound {
    RatioAtMost(f64),
    AtMost(f64),
    AtLeast(f64),
}

impl Row {
    pub fn figure(&self) -> String {
        match self.unit {
            "/s" => format!("{} /s", grouped(self.value)),
            unit if self.value < 10.0 => format!("{:.2} {unit}", self.value),
            unit => format!("{:.0} {unit}", self.value),
        }
    }

    pub fn ratio(&self) -> Option<f64> {
        self.limit_value.map(|limit| self.value / limit)
    }

    pub fn holds(&self) -> bool {
        match self.bound {
            Bound::RatioAtMost(most) => self.ratio().is_some_and(|ratio| ratio <= most),
            Bound::AtMost(most) => self.value <= most,
            Bound::AtLeast(least) => self.value >= least,
        }
    }

    /// How far it is from what must be reached: 1 is just reached, less is better.
    pub fn share(&self) -> f64 {
        match self.bound {
            Bound::RatioAtMost(most) => self.ratio().unwrap_or(f64::INFINITY) / most,
            // Nothing of nothing is as good as it can be.
            Bound::AtMost(most) => {
                if self.value == 0.0 {
                    0.0
                } else {
                    self.value / most
                }
            }
            Bound::AtLeast(least) => least / self.value,
        }
    }
}

/// Measures some rows with the binary, in so many rounds.
type Measure = fn(&Path, u32) -> Vec<Row>;

/// Measures the wanted rows, or all; each figure is the best of several rounds, taken in turn with its limit.
pub fn measure(program: &Path, rounds: u32, wanted: &[String]) -> Vec<Row> {
    let all: [(&str, Measure); 7] = [
        ("chain", chain),
        ("fan", fan),
        ("many", many),
        ("commands", commands),
        ("kill", kill),
        ("start", start),
        ("growth", large),
    ];
    let named = |name: &str| wanted.is_empty() || wanted.iter().any(|wanted| wanted == name);
    let mut rows = Vec::new();
    for (name, measure) in all.into_iter().filter(|(name, _)| named(name)) {
        eprintln!("measuring {name}");
        rows.extend(measure(program, rounds));
    }
    rows
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

/// The best of several rounds of each, in turn.
fn best<const N: usize>(rounds: u32, mut each: [&mut dyn FnMut() -> Duration; N]) -> [Duration; N] {
    let mut best = [Duration::MAX; N];
    for _ in 0..rounds {
        for (best, measure) in best.iter_mut().zip(&mut each) {
            *best = measure().min(*best);
        }
    }
    best
}

fn chain(program: &Path, rounds: u32) -> Vec<Row> {
    const NODES: u32 = 1_000;
    let project = Project::new(program).with("chain.yaml", &workflows::chain(NODES as usize));
    project.time(&["run", "-q", "chain.yaml"]);
    let [run, commit, flush] = best(
        rounds,
        [
            &mut || project.time(&["run", "-q", "chain.yaml"]) / NODES,
            &mut || limits::sqlite_commit(project.folder(), NODES),
            &mut || limits::flush(project.folder(), NODES),
        ],
    );
    let mut rows = vec![Row {
        work: "chain of 1,000 no-op nodes, per node".into(),
        value: millis(run),
        unit: "ms",
        limit: format!("one SQLite commit {:.2} ms (one flush {:.2} ms)", millis(commit), millis(flush)),
        limit_value: Some(millis(commit)),
        must: "at most 1.5 × one commit".into(),
        bound: Bound::RatioAtMost(1.5),
    }];
    if let Some(flushes) = project.flushes(&["run", "-q", "chain.yaml"]) {
        rows.push(Row {
            work: "the same: flushes per node".into(),
            value: f64::from(flushes) / f64::from(NODES),
            unit: "",
            limit: "one".into(),
            limit_value: None,
            must: "1 (and a few for the whole run)".into(),
            bound: Bound::AtMost(1.05),
        });
    }
    rows
}

fn fan(program: &Path, rounds: u32) -> Vec<Row> {
    let mut rows = Vec::new();
    for (nodes, name) in [(10_000_u32, "10,000"), (100_000, "100,000")] {
        let project = Project::new(program).with("fan.yaml", &workflows::fan(nodes as usize));
        project.time(&["run", "-q", "fan.yaml"]);
        let [run] = best(rounds, [&mut || project.time(&["run", "-q", "fan.yaml"])]);
        rows.push(Row {
            work: format!("fan-out 1 → {name} → 1, nodes per second"),
            value: f64::from(nodes + 2) / run.as_secs_f64(),
            unit: "/s",
            limit: String::new(),
            limit_value: None,
            must: "at least 50,000 /s".into(),
            bound: Bound::AtLeast(50_000.0),
        });
    }
    rows
}

fn many(_: &Path, rounds: u32) -> Vec<Row> {
    let run = || {
        let folder = tempfile::tempdir().unwrap();
        library::at_once(folder.path(), workflows::short_chain(10), 300)
    };
    let [run] = best(rounds, [&mut || run()]);
    vec![Row {
        work: "300 runs × 10 nodes at once (library), nodes per second".into(),
        value: 3_000.0 / run.as_secs_f64(),
        unit: "/s",
        limit: String::new(),
        limit_value: None,
        must: "at least 20,000 /s".into(),
        bound: Bound::AtLeast(20_000.0),
    }]
}

fn commands(program: &Path, rounds: u32) -> Vec<Row> {
    let project = Project::new(program).with("commands.yaml", &workflows::commands());
    project.time(&["run", "-q", "commands.yaml"]);
    let [run, xargs, spawn] =
        best(rounds, [&mut || project.time(&["run", "-q", "commands.yaml"]), &mut limits::xargs, &mut limits::spawn]);
    vec![Row {
        work: "1,000 commands (`true`), 10 layers × 100, two at a time".into(),
        value: millis(run),
        unit: "ms",
        limit: format!("xargs {:.0} ms (bare spawning {:.0} ms)", millis(xargs), millis(spawn)),
        limit_value: Some(millis(xargs)),
        must: "at most 1.2 × xargs".into(),
        bound: Bound::RatioAtMost(1.2),
    }]
}

fn kill(program: &Path, rounds: u32) -> Vec<Row> {
    let project = Project::new(program).with("chain.yaml", &workflows::chain(1_000));
    let mut repeated = 0;
    let [first] = best(
        rounds,
        [&mut || {
            let (first, again) = project.kill_and_resume("chain.yaml", 500);
            repeated += again;
            first
        }],
    );
    let row = |work: &str, value: f64, unit, must: &str, most| Row {
        work: work.into(),
        value,
        unit,
        limit: String::new(),
        limit_value: None,
        must: must.into(),
        bound: Bound::AtMost(most),
    };
    vec![
        row("kill -9 in a 1,000-node chain: restart to first new node", millis(first), "ms", "at most 50 ms", 50.0),
        row("the same: finished nodes that were repeated", f64::from(u32::try_from(repeated).unwrap()), "", "0", 0.0),
    ]
}

fn start(program: &Path, rounds: u32) -> Vec<Row> {
    let project = Project::new(program).with("one.yaml", workflows::ONE);
    project.time(&["run", "-q", "one.yaml"]);
    let [version, one] =
        best(rounds * 4, [&mut || project.time(&["--version"]), &mut || project.time(&["run", "-q", "one.yaml"])]);
    let row = |work: &str, value: Duration, must: &str, most| Row {
        work: work.into(),
        value: millis(value),
        unit: "ms",
        limit: String::new(),
        limit_value: None,
        must: must.into(),
        bound: Bound::AtMost(most),
    };
    vec![
        row("`sprag --version`", version, "under 10 ms", 10.0),
        row("`sprag run` of one no-op in an existing project", one, "under 20 ms", 20.0),
    ]
}

fn large(_: &Path, _: u32) -> Vec<Row> {
    let small = growth::measure(10_000);
    let large = growth::measure(1_000_000);
    let per_node = |large: growth::Large, nodes: f64| large.time.as_secs_f64() * 1e6 / nodes;
    let row = |work: &str, value, unit, must: &str, most| Row {
        work: work.into(),
        value,
        unit,
        limit: String::new(),
        limit_value: None,
        must: must.into(),
        bound: Bound::AtMost(most),
    };
    let growth = per_node(large, 1e6) / per_node(small, 1e4);
    let memory = f64::from(u32::try_from(large.peak_mib).unwrap_or(u32::MAX));
    vec![
        row("a million nodes (library, SQLite)", large.time.as_secs_f64(), "s", "under 5 min", 300.0),
        row("the same: most memory", memory, "MiB", "under 1 GiB", 1_024.0),
        row("the same: time per node against 10,000 nodes", growth, "×", "at most 2 ×", 2.0),
    ]
}

/// A whole number with its thousands set apart.
fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(|group| String::from_utf8_lossy(group)).collect();
    groups.join(",")
}
