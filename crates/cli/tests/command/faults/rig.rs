//! What these tests need of the machine. A rig that the machine forbids is printed as not run, by name.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ChildStderr, Command, Stdio};

use crate::space::{Ran, Space};

/// The user that owns nothing.
const NOBODY: u32 = 65_534;

/// Prints that a rig was not run.
#[expect(clippy::print_stdout, reason = "whoever reads what the tests say has to see it")]
pub fn not_run(rig: &str, why: &str) {
    println!("not run: {rig}: {why}");
}

/// Asks the database with the tool of the system, as a person would.
pub fn sql(space: &Space, statement: &str) -> String {
    let database = space.path(".sprag/sprag.db");
    let output = Command::new("sqlite3").args(["-batch", "-bail"]).arg(database).arg(statement).output().unwrap();
    let ran = Ran::from(output);
    assert_eq!(ran.code, Some(0), "{statement}: {}", ran.err);
    ran.out
}

/// Whether system calls of a process may be changed here.
pub fn may_inject(rig: &str) -> bool {
    let mut trial = Command::new("strace");
    trial.args(["-f", "-qq", "-o", "/dev/null", "-e", "inject=fsync:error=EIO", "true"]);
    let works = trial.output().is_ok_and(|output| output.status.success());
    if !works {
        not_run(rig, "`strace` cannot be used");
    }
    works
}

/// The binary under `strace`, with its system calls on the database and its log changed; the trace is in `trace`.
pub fn traced(space: &Space, changes: &[&str], arguments: &[&str]) -> Ran {
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o", "trace", "-e", "trace=fsync,fdatasync,pwrite64"]);
    for file in [".sprag/sprag.db", ".sprag/sprag.db-wal"] {
        command.arg("-P").arg(space.path(file));
    }
    for change in changes {
        command.arg("-e").arg(format!("inject={change}"));
    }
    command.arg(env!("CARGO_BIN_EXE_sprag")).args(arguments).current_dir(space.path(".")).stdin(Stdio::null());
    Ran::from(command.output().unwrap())
}

/// Runs a script with its own mounts; nothing if the machine forbids that. `$SPRAG` is the binary.
pub fn with_own_mounts(rig: &str, space: &Space, script: &str) -> Option<Ran> {
    let possible = Command::new("unshare").args(["-m", "true"]).output();
    if !possible.is_ok_and(|output| output.status.success()) {
        not_run(rig, "mounts of its own are not allowed");
        return None;
    }
    let mut command = Command::new("unshare");
    command.args(["-m", "/bin/sh", "-c", script]).current_dir(space.path("."));
    let ran = Ran::from(command.env("SPRAG", env!("CARGO_BIN_EXE_sprag")).output().unwrap());
    if ran.code == Some(99) {
        not_run(rig, &format!("mounting is not allowed: {}", ran.err.trim()));
        return None;
    }
    Some(ran)
}

/// How to run the binary as somebody for whom permissions count, in a folder that belongs to that user.
pub struct Somebody(Vec<String>);

impl Somebody {
    /// The user of the test, or nobody if that is root; nothing if the machine forbids it.
    pub fn of(rig: &str, space: &Space) -> Option<Self> {
        if std::fs::metadata(space.path(".")).unwrap().uid() != 0 {
            return Some(Self(Vec::new()));
        }
        let flags = [format!("--reuid={NOBODY}"), format!("--regid={NOBODY}"), "--clear-groups".to_owned()];
        let somebody = Self(["setpriv".to_owned()].into_iter().chain(flags).collect());
        let given = Command::new("chown").args(["-R", &NOBODY.to_string()]).arg(space.path(".")).status();
        let works = given.is_ok_and(|status| status.success()) && somebody.run(space, &["--version"]).code == Some(0);
        if !works {
            not_run(rig, "the binary cannot be run as another user");
        }
        works.then_some(somebody)
    }

    pub fn run(&self, space: &Space, arguments: &[&str]) -> Ran {
        let words = self.0.iter().map(String::as_str).chain([env!("CARGO_BIN_EXE_sprag")]);
        let words: Vec<_> = words.chain(arguments.iter().copied()).collect();
        let mut command = Command::new(words[0]);
        Ran::from(command.args(&words[1..]).current_dir(space.path(".")).stdin(Stdio::null()).output().unwrap())
    }
}

/// A run that goes on while the test looks at it.
pub struct Going {
    child: Child,
    said: BufReader<ChildStderr>,
    pub heard: String,
}

impl Going {
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let said = BufReader::new(child.stderr.take().unwrap());
        Self { child, said, heard: String::new() }
    }

    /// Waits until it says something.
    pub fn until(&mut self, words: &str) {
        loop {
            let from = self.heard.len();
            let read = self.said.read_line(&mut self.heard).unwrap();
            assert!(read > 0, "it never said `{words}`: {}", self.heard);
            if self.heard[from..].contains(words) {
                return;
            }
        }
    }

    /// Kills it with what cannot be caught.
    pub fn kill(mut self) -> String {
        self.child.kill().unwrap();
        assert_eq!(self.child.wait().unwrap().signal(), Some(9));
        self.heard
    }

    /// Waits for its end.
    pub fn end(mut self) -> Ran {
        std::io::Read::read_to_string(&mut self.said, &mut self.heard).unwrap();
        Ran { code: self.child.wait().unwrap().code(), out: String::new(), err: self.heard }
    }
}

/// A door that nodes wait at (`read go < NAME`) until the test opens it.
pub fn gate(space: &Space, name: &str) -> std::fs::File {
    let path = space.path(name);
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    // Open for both, so that neither side waits for the other.
    std::fs::File::options().read(true).write(true).open(path).unwrap()
}
