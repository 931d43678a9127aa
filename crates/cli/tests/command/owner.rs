//! A sprag that is still running: heard line by line, signalled, waited for.

use std::io::{BufRead as _, BufReader, Read};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::space::{Ran, Space};

/// Nothing that a test waits for takes so long; whoever waits longer waits for something that never comes.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// A process of sprag.
pub struct Owner {
    pub pid: u32,
    handle: OwnedFd,
    out: Receiver<String>,
    err: Receiver<String>,
    end: Receiver<ExitStatus>,
    heard: [String; 2],
}

impl Owner {
    /// Starts sprag in a space.
    pub fn start(space: &Space, arguments: &[&str]) -> Self {
        let mut command = space.command();
        command.args(arguments);
        Self::of(command)
    }

    /// Starts a command.
    pub fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let handle = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).unwrap();
        let (out, err) = (lines(child.stdout.take().unwrap()), lines(child.stderr.take().unwrap()));
        let pid = child.id();
        let (ended, end) = channel();
        std::thread::spawn(move || ended.send(child.wait().unwrap()));
        Self { pid, handle, out, err, end, heard: [String::new(), String::new()] }
    }

    /// Sends a signal to this process alone; one that has ended does not mind.
    pub fn signal(&self, signal: Signal) {
        let _ = pidfd_send_signal(&self.handle, signal);
    }

    /// The next line of standard error that holds these words; nothing if the process ends without it.
    pub fn said(&mut self, words: &str) -> Option<String> {
        next(&self.err, &mut self.heard[1], words)
    }

    /// The next line of standard output that holds these words; nothing if the process ends without it.
    pub fn printed(&mut self, words: &str) -> Option<String> {
        next(&self.out, &mut self.heard[0], words)
    }

    /// Waits for the end, at most so long.
    pub fn ends_within(&self, limit: Duration) -> bool {
        match self.end.recv_timeout(limit) {
            Err(RecvTimeoutError::Timeout) => false,
            Ok(_) | Err(RecvTimeoutError::Disconnected) => true,
        }
    }

    /// Kills the process as nothing else does, and waits until it is gone.
    pub fn kill(self) {
        self.signal(Signal::KILL);
        assert!(self.ends_within(PATIENCE));
    }

    /// Waits for the end, and returns all that was printed.
    pub fn finish(mut self) -> Ran {
        let status = self.end.recv_timeout(PATIENCE).expect("it ends");
        self.heard[0].extend(self.out.iter().map(|line| line + "\n"));
        self.heard[1].extend(self.err.iter().map(|line| line + "\n"));
        let [out, err] = self.heard;
        Ran { code: status.code(), out, err }
    }
}

/// The lines of a stream, as they come.
fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (heard, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if heard.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

fn next(lines: &Receiver<String>, heard: &mut String, words: &str) -> Option<String> {
    loop {
        match lines.recv_timeout(PATIENCE) {
            Ok(line) => {
                heard.push_str(&line);
                heard.push('\n');
                if line.contains(words) {
                    return Some(line);
                }
            }
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => panic!("nobody says `{words}`, only: {heard}"),
        }
    }
}

/// A named pipe through which commands tell that they are there: `echo up > NAME`.
pub struct Signals(Receiver<String>);

impl Signals {
    pub fn new(space: &Space, name: &str) -> Self {
        let path = pipe(space, name);
        // Open for both, so that it neither waits for the first writer nor ends with the last.
        Self(lines(std::fs::File::options().read(true).write(true).open(path).unwrap()))
    }

    /// The next line that somebody wrote.
    pub fn next(&self) -> String {
        self.0.recv_timeout(PATIENCE).expect("somebody is there")
    }

    /// Whether nobody has written anything more.
    pub fn is_silent(&self) -> bool {
        self.0.try_recv().is_err()
    }
}

/// Makes a named pipe.
pub fn pipe(space: &Space, name: &str) -> PathBuf {
    let path = space.path(name);
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}
