//! Which processes there are, read from the kernel.

use std::fs;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

/// A process with the variables it was started with.
pub struct Process {
    pub pid: i32,
    pub name: String,
    variables: Vec<u8>,
}

impl std::fmt::Debug for Process {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let node = self.variable("SPRAG_NODE_ID").unwrap_or_default();
        write!(formatter, "{} `{}` of {node}", self.pid, self.name)
    }
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

/// Waits until no process of a run is left.
pub fn wait_for_the_end_of(run: &str) {
    while let Some(process) = of_run(run).pop() {
        if let Ok(handle) = pidfd_open(Pid::from_raw(process.pid).unwrap(), PidfdFlags::empty()) {
            wait_for(&handle, &format!("{process:?}"));
        }
    }
}

/// Waits until so many processes of a run are there: one that is just being started shows no variables for a moment.
pub fn wait_for_so_many(run: &str, count: usize) {
    let began = std::time::Instant::now();
    while of_run(run).len() < count {
        assert!(began.elapsed() < super::owner::PATIENCE, "{:?}", of_run(run));
        std::thread::yield_now();
    }
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

/// Kills a process, and waits until it is dead.
pub fn kill(pid: i32) {
    let handle = pidfd_open(Pid::from_raw(pid).unwrap(), PidfdFlags::empty());
    signal(pid, Signal::KILL);
    if let Ok(handle) = handle {
        wait_for(&handle, "what was killed");
    }
}

fn wait_for(handle: &OwnedFd, what: &str) {
    let limit = rustix::event::Timespec::try_from(super::owner::PATIENCE).unwrap();
    let ended = poll(&mut [PollFd::new(handle, PollFlags::IN)], Some(&limit)).unwrap();
    assert_eq!(ended, 1, "{what} goes on");
}

pub fn signal(pid: i32, signal: Signal) {
    let _ = kill_process(Pid::from_raw(pid).unwrap(), signal);
}

/// Whether a signal that was sent to a process has not reached it yet.
pub fn has_pending_signals(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let pending = status.lines().filter_map(|line| line.strip_prefix("ShdPnd:").or(line.strip_prefix("SigPnd:")));
    pending.map(str::trim).any(|mask| mask.contains(|digit| digit != '0'))
}
