//! The real binary in a project folder, from its start to its end.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The binary and a project to run it in.
pub struct Project {
    program: PathBuf,
    folder: tempfile::TempDir,
}

impl Project {
    pub fn new(program: &Path) -> Self {
        Self { program: program.to_owned(), folder: tempfile::tempdir().unwrap() }
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a workflow file and runs a small one first, so that the project exists.
    pub fn with(self, name: &str, text: &str) -> Self {
        std::fs::write(self.folder().join(name), text).unwrap();
        self
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(self.folder()).args(arguments).stdin(Stdio::null());
        command
    }

    /// How long a command takes that must succeed.
    pub fn time(&self, arguments: &[&str]) -> Duration {
        let began = Instant::now();
        let status = self.command(arguments).stderr(Stdio::null()).stdout(Stdio::null()).status().unwrap();
        assert!(status.success(), "{arguments:?}: {status}");
        began.elapsed()
    }

    /// How many flushes a command asks for, counted by strace where that is installed.
    pub fn flushes(&self, arguments: &[&str]) -> Option<u32> {
        let log = self.folder().join("strace.log");
        let mut command = Command::new("strace");
        command.args(["-f", "-e", "trace=fsync,fdatasync", "-o"]).arg(&log).arg(&self.program).args(arguments);
        command.current_dir(self.folder()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().ok().filter(std::process::ExitStatus::success)?;
        let calls = std::fs::read_to_string(log).ok()?;
        u32::try_from(calls.lines().filter(|line| line.contains("sync(")).count()).ok()
    }

    /// Kills a run in the middle, resumes it, and says how long it took from the start of the resuming process to the
    /// first new node, and how many finished nodes were started again.
    pub fn kill_and_resume(&self, file: &str, after: usize) -> (Duration, usize) {
        let mut run =
            self.command(&["run", "--json", file]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(run.stdout.take().unwrap()).lines();
        let mut finished = std::collections::BTreeSet::new();
        while finished.len() < after {
            let event: serde_json::Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
            if event["to"] == "completed" {
                finished.insert(event["node"].as_str().unwrap().to_owned());
            }
        }
        run.kill().unwrap();
        run.wait().unwrap();
        let began = Instant::now();
        let mut resume =
            self.command(&["resume", "--json"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (mut first, mut repeated) = (None, 0);
        for line in BufReader::new(resume.stdout.take().unwrap()).lines() {
            let event: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
            if event["to"] == "running" {
                first.get_or_insert_with(|| began.elapsed());
                repeated += usize::from(finished.contains(event["node"].as_str().unwrap()));
            }
        }
        assert!(resume.wait().unwrap().success());
        (first.unwrap(), repeated)
    }
}
