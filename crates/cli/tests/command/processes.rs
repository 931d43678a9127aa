//! Which processes there are, read from the kernel.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

/// A process with the variables it was started with.
#[derive(Debug)]
pub struct Process {
    pub pid: i32,
    pub name: String,
    variables: Vec<u8>,
}

impl Process {
    pub fn variable(&self, name: &str) -> Option<&str> {
        let start = format!("{name}=");
        let all = self.variables.split(|byte| *byte == 0).filter_map(|variable| std::str::from_utf8(variable).ok());
        all.into_iter().find_map(|variable| variable.strip_prefix(&start))
    }
}

fn all() -> impl Iterator<Item = Process> {
    fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let pid: i32 = entry.unwrap().file_name().to_str()?.parse().ok()?;
        let variables = fs::read(format!("/proc/{pid}/environ")).ok()?;
        let name = String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/cmdline")).ok()?).replace('\0', " ");
        Some(Process { pid, name, variables })
    })
}

/// The processes that were started for a run.
pub fn of_run(run: &str) -> Vec<Process> {
    all().filter(|process| process.variable("SPRAG_RUN_ID") == Some(run)).collect()
}

/// The guard that a process of sprag started, if it has one.
pub fn guard_of(owner: u32) -> Option<i32> {
    let parent = |pid: i32| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        status.lines().find_map(|line| line.strip_prefix("PPid:")?.trim().parse::<u32>().ok())
    };
    all()
        .find(|process| process.name.starts_with("sprag-guard ") && parent(process.pid) == Some(owner))
        .map(|process| process.pid)
}

pub fn kill(pid: i32) {
    let _ = kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL);
}
