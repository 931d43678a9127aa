//! What the tests stand on: folders, jobs, signals from processes, and processes that are watched.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use sprag_core::run::{NodeError, OwnerId, Product, RunId};
use sprag_engine::exec::{Abort, CommandJob, Identity, Program, SlotFolder, SlotFolders, execute};
use tempfile::TempDir;
use uuid::Uuid;

/// How long a signal may take before a test gives up; nothing waits that long when all is well.
const PATIENCE: Timespec = Timespec { tv_sec: 60, tv_nsec: 0 };

/// Tells a test that it is the one in the process that [`alone`] started.
const ALONE: &str = "SPRAG_TEST_ALONE";

/// An id that no other test, in this process or another, has.
pub fn fresh_id() -> Uuid {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("{}/{number}", std::process::id()).as_bytes())
}

/// An owner with one slot and a folder to work in.
pub struct Bed {
    folder: TempDir,
    pub owner: OwnerId,
    pub slots: SlotFolders,
    slot: SlotFolder,
}

impl Bed {
    pub fn new() -> Self {
        let (folder, owner) = (tempfile::tempdir().unwrap(), OwnerId(fresh_id()));
        let slots = SlotFolders::create(owner, folder.path()).unwrap();
        Self { slot: slots.slot(0), folder, owner, slots }
    }

    /// A path in the folder that commands work in.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn job(&self, program: Program) -> CommandJob {
        let identity = Identity {
            run: RunId(fresh_id()),
            node: "each/0/build".into(),
            attempt: 2,
            attempt_id: fresh_id(),
            idempotency_key: fresh_id(),
            owner: self.owner,
        };
        CommandJob::new(identity, program, self.folder().to_owned(), self.path("attempt.log"))
    }

    /// A job that runs a script.
    pub fn script(&self, script: &str) -> CommandJob {
        self.job(Program::Shell(script.to_owned()))
    }

    pub fn execute(&self, job: &CommandJob) -> Result<Product, NodeError> {
        self.execute_until(job, &Abort::new().unwrap())
    }

    pub fn execute_until(&self, job: &CommandJob, abort: &Abort) -> Result<Product, NodeError> {
        let outcome = execute(job, &self.slot, abort);
        self.slot.tidy();
        outcome
    }

    /// What a script fails with, as one line.
    pub fn failure(&self, job: &CommandJob) -> String {
        self.execute(job).expect_err("the command fails").to_string()
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.path("attempt.log")).unwrap_or_default()
    }
}

/// A pipe with a name, by which processes tell a test that they have come somewhere.
pub struct Signal {
    pipe: File,
    read: Vec<u8>,
}

impl Signal {
    pub fn new(path: &Path) -> Self {
        mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        // Open for both, so that neither opening nor reading depends on who comes first.
        Self { pipe: File::options().read(true).write(true).open(path).unwrap(), read: Vec::new() }
    }

    /// The next line that a process wrote.
    pub fn line(&mut self) -> String {
        loop {
            if let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.read.drain(..=end).collect();
                return String::from_utf8(line).unwrap().trim().to_owned();
            }
            let ready = poll(&mut [PollFd::new(&self.pipe, PollFlags::IN)], Some(&PATIENCE)).unwrap();
            assert_eq!(ready, 1, "no signal came");
            let mut chunk = [0; 256];
            let count = self.pipe.read(&mut chunk).unwrap();
            self.read.extend_from_slice(&chunk[..count]);
        }
    }

    /// The process whose number is the next line.
    pub fn process(&mut self) -> Process {
        Process::of(self.line().parse().unwrap())
    }
}

/// A process that some command started.
pub struct Process(OwnedFd);

impl Process {
    pub fn of(pid: i32) -> Self {
        Self(pidfd_open(Pid::from_raw(pid).unwrap(), PidfdFlags::empty()).unwrap())
    }

    pub fn lives(&self) -> bool {
        poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&Timespec::default())).unwrap() == 0
    }
}

/// Whether this is the process that [`alone`] started for a test.
pub fn is_alone() -> bool {
    std::env::var_os(ALONE).is_some()
}

/// Runs one test in a process of its own, with variables of its own; there it finds [`is_alone`].
pub fn alone(test: &str, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(ALONE, "1").envs(variables.iter().copied());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}{}", String::from_utf8_lossy(&output.stderr));
    output
}
