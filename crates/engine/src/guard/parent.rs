//! The owner's side of its guard.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, PipeWriter, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use sprag_core::run::OwnerId;

/// How a guard is started: the binary, and the arguments that make it call [`super::main`].
#[derive(Debug, Clone)]
pub struct GuardProgram {
    /// The binary.
    pub program: PathBuf,
    /// What stands before the owner's id, its folder of slots and the state folder.
    pub arguments: Vec<OsString>,
}

impl GuardProgram {
    /// This very binary, even if its file was replaced or deleted meanwhile.
    pub fn same_binary(arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        Self { program: "/proc/self/exe".into(), arguments: arguments.into_iter().map(Into::into).collect() }
    }
}

/// A running guard. Dropping it lets the guard do its work, as the death of this process does.
#[derive(Debug)]
pub struct Guard {
    /// Only this process holds it; a copy in any other would keep the guard waiting.
    alive: PipeWriter,
    child: Child,
}

impl Guard {
    /// Starts the guard of an owner. It has to run before the owner starts anything else.
    ///
    /// The lock becomes the guard's standard output: so it inherits the kernel's lock, which is free when both have let
    /// it go. The guard gets none of this process's variables, since it must neither be found by its own search nor, where
    /// sprag runs inside of sprag, by that of another owner; and a process group of its own from its first moment, which neither
    /// Ctrl-C nor the end of a terminal reaches. (A session of its own would add nothing, and could only be had later.)
    pub fn start(
        owner: OwnerId,
        lock: Option<File>,
        slot_folders: &Path,
        state_folder: &Path,
        program: &GuardProgram,
    ) -> io::Result<Self> {
        let (ended, alive) = io::pipe()?;
        let mut command = Command::new(&program.program);
        command.arg0("sprag-guard").args(&program.arguments).arg(owner.to_string());
        // The guard works in another folder.
        command.arg(std::path::absolute(slot_folders)?).arg(std::path::absolute(state_folder)?);
        command.env_clear();
        // It says where folders of slots may be.
        if let Some(place) = std::env::var_os("XDG_RUNTIME_DIR") {
            command.env("XDG_RUNTIME_DIR", place);
        }
        command.current_dir("/").process_group(0);
        command.stdin(ended).stdout(lock.map_or_else(Stdio::null, Stdio::from)).stderr(Stdio::null());
        Ok(Self { alive, child: command.spawn()? })
    }

    /// Whether the guard still watches. If not, the owner has to start another one before it starts anything else.
    pub fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Lets the guard do its work and waits for it: then nothing that this owner started is left.
    pub fn finish(self) -> io::Result<()> {
        let Self { mut alive, mut child } = self;
        // A guard that is gone cannot be told, and the wait says how it ended.
        let _ = alive.write_all(b"q");
        drop(alive);
        let status = child.wait()?;
        if status.success() { Ok(()) } else { Err(io::Error::other(format!("the guard failed: {status}"))) }
    }
}
