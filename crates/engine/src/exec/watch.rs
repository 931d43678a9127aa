//! Waits for a command: reads what it writes, watches the clocks, and stops it when that is asked for.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionread, read};
use rustix::process::{Pid, PidfdFlags, Signal, getpgid, kill_process_group, pidfd_open, pidfd_send_signal};

use super::abort::{Abort, Stop};
use super::capture::{Capture, Stream};
use super::job::CommandJob;
use super::sweep::{Marker, sweep, visit};

/// More than anybody waits, and nothing that a clock cannot say.
const GRACE_MAX: Duration = Duration::from_hours(24);

const CHUNK_BYTES: usize = 64 * 1024;

/// Why a command was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// It took too long.
    Timeout(Duration),
    /// It was silent for too long.
    Idle(Duration),
    /// Another thread asked for it.
    Aborted,
}

/// A command that runs. Its process is not reaped before everything else is over, so that until then nobody else can
/// have its number or the number of its group.
pub struct Watch<'a> {
    job: &'a CommandJob,
    abort: &'a Abort,
    capture: &'a mut Capture,
    marker: Marker,
    pid: Pid,
    process: OwnedFd,
    streams: [Option<OwnedFd>; 2],
    buffer: Vec<u8>,
    began: Instant,
    heard: Instant,
    stopped: Option<Stopped>,
    /// When what was asked to end is killed; nothing once it was.
    kill_at: Option<Instant>,
    ended: bool,
    /// What still lives of a stopped command after its main process.
    stragglers: Vec<OwnedFd>,
}

/// What `poll` waits for.
#[derive(Clone, Copy)]
enum Source {
    Abort,
    Process,
    Stream(Stream),
    Straggler,
}

impl<'a> Watch<'a> {
    /// Takes over a command that was just started.
    pub fn new(
        job: &'a CommandJob,
        abort: &'a Abort,
        capture: &'a mut Capture,
        child: &mut Child,
        began: Instant,
    ) -> io::Result<Self> {
        let pid = Pid::from_child(child);
        Ok(Self {
            job,
            abort,
            capture,
            marker: Marker::of_attempt(job.identity.attempt_id),
            pid,
            process: pidfd_open(pid, PidfdFlags::empty())?,
            streams: [child.stdout.take().map(OwnedFd::from), child.stderr.take().map(OwnedFd::from)],
            buffer: Vec::new(),
            began,
            heard: began,
            stopped: None,
            kill_at: None,
            ended: false,
            stragglers: Vec::new(),
        })
    }

    /// Returns when the main process has ended and, if the command was stopped, all others of it as well.
    pub fn until_end(mut self) -> io::Result<Option<Stopped>> {
        while !self.is_over()? {
            self.step()?;
        }
        if self.stopped.is_some() {
            // Whatever was just being started when the others ended.
            sweep(&self.marker)?;
        }
        self.drain()?;
        Ok(self.stopped)
    }

    /// Whether there is nothing left to wait for.
    fn is_over(&mut self) -> io::Result<bool> {
        if !self.ended || self.stopped.is_none() || self.kill_at.is_none() {
            return Ok(self.ended);
        }
        // The shell of a script dies of the first signal, while what it called may still be tidying up.
        if self.stragglers.is_empty() {
            let stragglers = &mut self.stragglers;
            visit(&self.marker, |_, process| stragglers.push(process))?;
        }
        Ok(self.stragglers.is_empty())
    }

    fn step(&mut self) -> io::Result<()> {
        let ready = self.wait()?;
        let mut gone = false;
        for (source, events) in ready {
            match source {
                Source::Abort => self.abort.calm(),
                Source::Process => self.ended = true,
                Source::Stream(stream) => self.hear(stream, events)?,
                Source::Straggler => gone = true,
            }
        }
        if gone {
            // They are looked for again: whoever is gone may have left others behind.
            self.stragglers.clear();
        }
        if self.ended && self.stopped.is_none() {
            return Ok(());
        }
        match (self.abort.asked(), self.stopped) {
            (Some(Stop::Now), _) => self.kill(Stopped::Aborted)?,
            (Some(Stop::Gently), None) => self.ask_to_end(Stopped::Aborted)?,
            _ => {}
        }
        self.look_at_the_clocks()
    }

    fn look_at_the_clocks(&mut self) -> io::Result<()> {
        let Some(next) = self.next_moment() else { return Ok(()) };
        if Instant::now() < next {
            return Ok(());
        }
        if let Some(why) = self.stopped {
            return self.kill(why);
        }
        match self.job.timeout {
            Some(timeout) if next.saturating_duration_since(self.began) >= timeout => {
                self.ask_to_end(Stopped::Timeout(timeout))
            }
            _ => self.ask_to_end(Stopped::Idle(self.job.idle_timeout.unwrap_or_default())),
        }
    }

    /// When something is to be done even if nothing happens.
    fn next_moment(&self) -> Option<Instant> {
        if self.stopped.is_some() {
            return self.kill_at;
        }
        // What is further away than a clock can say never comes.
        let timeout = self.job.timeout.and_then(|timeout| self.began.checked_add(timeout));
        let idle = self.job.idle_timeout.and_then(|timeout| self.heard.checked_add(timeout));
        [timeout, idle].into_iter().flatten().min()
    }

    /// Waits for whatever comes first, and says what did.
    fn wait(&self) -> io::Result<Vec<(Source, PollFlags)>> {
        let mut sources: Vec<(Source, BorrowedFd<'_>)> = vec![(Source::Abort, self.abort.wake())];
        if !self.ended {
            sources.push((Source::Process, self.process.as_fd()));
        }
        for stream in Stream::ALL {
            if let Some(pipe) = &self.streams[stream as usize] {
                sources.push((Source::Stream(stream), pipe.as_fd()));
            }
        }
        sources.extend(self.stragglers.iter().map(|process| (Source::Straggler, process.as_fd())));
        let mut polled: Vec<_> = sources.iter().map(|(_, fd)| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
        let left = self.next_moment().map(|moment| moment.saturating_duration_since(Instant::now()));
        match poll(&mut polled, left.and_then(|left| Timespec::try_from(left).ok()).as_ref()) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        }
        let events = sources.iter().zip(&polled).map(|((source, _), polled)| (*source, polled.revents()));
        Ok(events.filter(|(_, events)| !events.is_empty()).collect())
    }

    /// Reads once from a stream that has something to say.
    fn hear(&mut self, stream: Stream, events: PollFlags) -> io::Result<()> {
        // A pipe that is hung up and not readable is at its end; asking it would cost a system call.
        if !events.contains(PollFlags::IN) || self.read_some(stream, CHUNK_BYTES)? == 0 {
            self.streams[stream as usize] = None;
        }
        Ok(())
    }

    fn read_some(&mut self, stream: Stream, at_most: usize) -> io::Result<usize> {
        let Some(pipe) = &self.streams[stream as usize] else { return Ok(0) };
        if self.buffer.is_empty() {
            self.buffer.resize(CHUNK_BYTES, 0);
        }
        let count = loop {
            match read(pipe, &mut self.buffer[..at_most.min(CHUNK_BYTES)]) {
                Err(Errno::INTR) => {}
                other => break other?,
            }
        };
        if count > 0 {
            self.capture.take(stream, &self.buffer[..count]);
            if self.job.idle_timeout.is_some() {
                self.heard = Instant::now();
            }
        }
        Ok(count)
    }

    /// Reads what is in the pipes now and not what comes later: a process in the background may hold them open for ever,
    /// and may never stop writing.
    fn drain(&mut self) -> io::Result<()> {
        for stream in Stream::ALL {
            let Some(pipe) = &self.streams[stream as usize] else { continue };
            let mut left = usize::try_from(ioctl_fionread(pipe)?).unwrap_or(usize::MAX);
            while left > 0 {
                match self.read_some(stream, left)? {
                    0 => break,
                    count => left = left.saturating_sub(count),
                }
            }
        }
        Ok(())
    }

    /// Asks all processes of the command to end.
    fn ask_to_end(&mut self, why: Stopped) -> io::Result<()> {
        self.stopped = Some(why);
        self.kill_at = Some(Instant::now() + self.job.grace.min(GRACE_MAX));
        let mut outside = Vec::new();
        visit(&self.marker, |pid, process| {
            if getpgid(Some(pid)).is_ok_and(|group| group != self.pid) {
                outside.push(process);
            }
        })?;
        // Each is asked once: some programs take a second request for impatience. Who is gone need not be asked.
        let _ = kill_process_group(self.pid, Signal::TERM);
        for process in outside {
            let _ = pidfd_send_signal(process, Signal::TERM);
        }
        Ok(())
    }

    /// Kills all processes of the command.
    fn kill(&mut self, why: Stopped) -> io::Result<()> {
        if self.stopped.is_some() && self.kill_at.is_none() {
            return Ok(());
        }
        self.stopped.get_or_insert(why);
        self.kill_at = None;
        self.stragglers.clear();
        kill_all(self.pid, &self.marker)
    }
}

/// Kills the group of a command that is not reaped yet, and all its other processes.
pub fn kill_all(group: Pid, marker: &Marker) -> io::Result<()> {
    let _ = kill_process_group(group, Signal::KILL);
    sweep(marker).map(drop)
}
