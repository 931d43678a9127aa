//! A very large run, made in code, in a process of its own whose memory is read at the end.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::{library, workflows};

/// The argument that makes this program measure one case.
pub const CHILD: &str = "one-large-run";

/// What a large run cost.
#[derive(Debug, Clone, Copy)]
pub struct Large {
    /// From the first line of code to the end of the run, the workflow's making included.
    pub time: Duration,
    /// The most memory the process ever had.
    pub peak_mib: u64,
}

/// Measures a run of so many nodes.
pub fn measure(nodes: u32) -> Large {
    let output = Command::new(std::env::current_exe().unwrap()).args([CHILD, &nodes.to_string()]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let mut figures = text.split_whitespace().map(|figure| figure.parse::<u64>().unwrap());
    let time = Duration::from_micros(figures.next().unwrap());
    Large { time, peak_mib: figures.next().unwrap() }
}

/// What the child does: the figures go to standard output.
pub fn one_case(nodes: u32) {
    let folder = tempfile::tempdir().unwrap();
    let began = Instant::now();
    library::at_once(folder.path(), workflows::layers(nodes), 1);
    println!("{} {}", began.elapsed().as_micros(), peak_mib());
}

fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib: u64 = line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0);
    kib / 1024
}
