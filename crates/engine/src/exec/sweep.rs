//! Finds and kills every process of an attempt or an owner, however far it ran from its parent (`R-CMD-2`).
//!
//! Forking twice, `setsid` and an own process group hide a process from its parent, but it keeps the variables it was
//! started with, and the kernel shows them in `/proc`. Only what is started with other variables is not found.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};
use sprag_core::run::OwnerId;
use uuid::Uuid;

use super::environment::{ATTEMPT_VARIABLE, OWNER_VARIABLE};

/// How long one round waits for what it killed; a process that waits for a disk may take longer, and is found again.
const ROUND: Duration = Duration::from_secs(1);

/// How many processes one round waits for, so that a swarm does not use up all file descriptors.
const WAITED_MAX: usize = 256;

/// What a process is recognised by: a variable that it inherited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker(String);

impl Marker {
    /// All processes of one attempt.
    pub fn of_attempt(attempt_id: Uuid) -> Self {
        Self(format!("{ATTEMPT_VARIABLE}={attempt_id}"))
    }

    /// All processes that an owner started.
    pub fn of_owner(owner: OwnerId) -> Self {
        Self(format!("{OWNER_VARIABLE}={owner}"))
    }
}

/// Kills every process that carries the marker, and returns how many there were. It returns when two looks in a row
/// found none: a process in the middle of `execve` shows no variables for a moment, and one look could miss it.
pub fn sweep(marker: &Marker) -> io::Result<usize> {
    let mut killed = 0;
    let mut clean = 0;
    while clean < 2 {
        let mut dying = Vec::new();
        let mut found = 0;
        visit(marker, |_, process| {
            // What may not be killed is no process of ours, whatever its variables say.
            if pidfd_send_signal(&process, Signal::KILL).is_ok() {
                found += 1;
                if dying.len() < WAITED_MAX {
                    dying.push(process);
                }
            }
        })?;
        killed += found;
        clean = if found == 0 { clean + 1 } else { 0 };
        wait_for(&dying, ROUND)?;
    }
    Ok(killed)
}

/// Calls `each` with every process that carries the marker, except this one.
///
/// A number may stand for another process at any time. The handle does not: it is opened first, then the variables are
/// read again; if they were those of another process, the one of the handle is dead and cannot be hurt.
pub fn visit(marker: &Marker, mut each: impl FnMut(Pid, OwnedFd)) -> io::Result<()> {
    let own = getpid();
    let mut variables = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw);
        let Some(pid) = number.filter(|pid| *pid != own) else { continue };
        if !carries(pid, marker, &mut variables) {
            continue;
        }
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(process) if carries(pid, marker, &mut variables) => each(pid, process),
            // It is gone.
            Ok(_) | Err(Errno::SRCH | Errno::INVAL) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Waits until all of them are gone, or for as long as is given.
fn wait_for(processes: &[OwnedFd], limit: Duration) -> io::Result<()> {
    let end = Instant::now() + limit;
    for process in processes {
        let left = Timespec::try_from(end.saturating_duration_since(Instant::now())).ok();
        match poll(&mut [PollFd::new(process, PollFlags::IN)], left.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Whether a process has the variable of the marker. Of a process that is gone, or not ours, nothing can be read.
fn carries(pid: Pid, marker: &Marker, variables: &mut Vec<u8>) -> bool {
    variables.clear();
    let path = format!("/proc/{}/environ", pid.as_raw_nonzero());
    let read = File::open(path).and_then(|mut file| file.read_to_end(variables));
    read.is_ok() && holds(variables, marker)
}

fn holds(variables: &[u8], marker: &Marker) -> bool {
    variables.split(|byte| *byte == 0).any(|variable| variable == marker.0.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::{Marker, holds};

    #[test]
    fn only_the_whole_variable_counts() {
        // R-CMD-2
        let marker = Marker("SPRAG_OWNER=1".into());
        for (variables, expected) in [
            (&b"SPRAG_OWNER=1"[..], true),
            (b"A=1\0SPRAG_OWNER=1\0B=2\0", true),
            (b"", false),
            (b"SPRAG_OWNER=12\0", false),
            (b"X_SPRAG_OWNER=1\0", false),
            (b"A=SPRAG_OWNER=1\0", false),
            (b"A=\nSPRAG_OWNER=1\n\0", false),
        ] {
            assert_eq!(holds(variables, &marker), expected, "{}", String::from_utf8_lossy(variables));
        }
    }
}
