//! A folder of its own for each test, and the binary to run in it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A workflow that is fine.
pub const GOOD: &str = "workflow: hello\nnodes:\n  greet:\n    run: echo hello\n";
/// A workflow with two mistakes.
pub const BAD: &str = "workflow: hello\nnodes:\n  greet:\n    runs: echo hello\n    needs: [nobody]\n";

pub struct Space {
    folder: tempfile::TempDir,
}

/// What a run of the binary left behind.
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Space {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn with(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sprag"));
        command.current_dir(self.folder.path()).env_clear().stdin(Stdio::null());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        Ran::from(self.command().args(arguments).output().unwrap())
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap()
    }

    /// Fails unless the run refused its input politely: exit 2, an error with a code, no trace of a panic.
    pub fn is_refusal(&self, code: &str) {
        assert_eq!(self.code, Some(2), "{}", self.err);
        assert!(self.err.contains(&format!("error[{code}]")), "expected {code} in: {}", self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        assert_eq!(self.out, "");
    }
}

pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
