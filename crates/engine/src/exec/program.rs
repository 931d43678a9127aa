//! Which file a command starts, and what it means when it cannot be started.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::io::Errno;
use sprag_core::run::{Known, NodeError};

use super::job::{CommandJob, Program};

const SHELL: &str = "/bin/sh";

/// The command of a job, without variables and files.
///
/// Its program is an absolute path: the standard library would leave the cheap way of starting processes if it had to
/// look for a program in a `PATH` that is the child's. The look-up itself is a handful of system calls, and is done
/// each time, since a node may well install what the next one calls.
pub fn command(job: &CommandJob, search: &OsStr) -> Result<Command, NodeError> {
    match &job.program {
        Program::Shell(script) => {
            let mut command = Command::new(SHELL);
            command.arg("-c").arg(script);
            Ok(command)
        }
        Program::Arguments(words) => {
            let Some((name, arguments)) = words.split_first().filter(|(name, _)| !name.is_empty()) else {
                return Err(NodeError::new(Known::MISSING_DEPENDENCY, "`run` names no program"));
            };
            let mut command = Command::new(find(name, search, &job.folder)?);
            command.arg0(name).args(arguments);
            Ok(command)
        }
    }
}

/// Why a command did not start.
pub fn not_started(job: &CommandJob, command: &Command, error: &io::Error) -> NodeError {
    let program = match &job.program {
        Program::Shell(_) => SHELL,
        Program::Arguments(words) => words.first().map_or("", String::as_str),
    };
    let folder = job.folder.display();
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        _ if !job.folder.exists() => {
            NodeError::new(Known::MISSING_DEPENDENCY, format!("the working folder `{folder}` does not exist"))
        }
        _ if !job.folder.is_dir() => {
            NodeError::new(Known::MISSING_DEPENDENCY, format!("the working folder `{folder}` is not a folder"))
        }
        Some(Errno::ACCESS | Errno::PERM) if accessat(CWD, &job.folder, Access::EXEC_OK, AtFlags::EACCESS).is_err() => {
            NodeError::new(Known::PERMISSION_DENIED, format!("the working folder `{folder}` may not be entered"))
        }
        Some(Errno::NOENT) if Path::new(command.get_program()).exists() => NodeError::new(
            Known::MISSING_DEPENDENCY,
            format!("`{program}` exists, but the interpreter in its first line does not"),
        ),
        Some(Errno::NOENT | Errno::NOTDIR) => {
            NodeError::new(Known::MISSING_DEPENDENCY, format!("there is no program `{program}`"))
        }
        Some(Errno::ACCESS | Errno::PERM) => not_executable(program),
        Some(Errno::NOEXEC) => NodeError::new(
            Known::PERMISSION_DENIED,
            format!("`{program}` is not a program; a script starts with a line such as `#!/bin/sh`"),
        ),
        Some(Errno::TOOBIG) => NodeError::new(
            Known::CONDITION_ERROR,
            "arguments and variables are too large for the system; read large values from the file that \
             `SPRAG_INPUT` names",
        ),
        None if error.kind() == io::ErrorKind::InvalidInput => NodeError::new(
            Known::CONDITION_ERROR,
            "an argument or a variable holds a NUL byte, which the system cannot hand over; read such values from the \
             file that `SPRAG_INPUT` names",
        ),
        // Too many processes, files or too little memory: later it may work.
        _ => NodeError::new(Known::UNAVAILABLE, format!("`{program}` could not be started: {error}")),
    }
}

fn not_executable(program: &str) -> NodeError {
    NodeError::new(Known::PERMISSION_DENIED, format!("`{program}` may not be executed; `chmod +x` makes it a program"))
}

/// The file that a name stands for, as a shell in the working folder would find it.
fn find(name: &str, search: &OsStr, folder: &Path) -> Result<PathBuf, NodeError> {
    if name.contains('/') {
        return Ok(folder.join(name));
    }
    let mut forbidden = false;
    for place in std::env::split_paths(search) {
        let path = folder.join(place).join(name);
        match accessat(CWD, &path, Access::EXEC_OK, AtFlags::EACCESS) {
            // A folder may be entered, which is not what is meant.
            Ok(()) if path.is_file() => return Ok(path),
            Err(Errno::ACCESS) => forbidden |= path.is_file(),
            Ok(()) | Err(_) => {}
        }
    }
    if forbidden {
        return Err(not_executable(name));
    }
    Err(NodeError::new(Known::MISSING_DEPENDENCY, format!("there is no program `{}` in PATH", name.escape_debug())))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::path::Path;

    use super::find;

    #[test]
    fn names_are_found_as_a_shell_finds_them() {
        // R-NODE-1
        let folder = Path::new("/bin");
        let found =
            |name: &str, search: &str| find(name, OsStr::new(search), folder).map_err(|error| error.to_string());
        assert_eq!(found("sh", "/nowhere:/bin:/usr/bin"), Ok("/bin/sh".into()));
        assert_eq!(found("sh", "nowhere:."), Ok("/bin/./sh".into()), "relative places are in the working folder");
        assert_eq!(found("./sh", "/nowhere"), Ok("/bin/./sh".into()));
        assert_eq!(found("/x/y", ""), Ok("/x/y".into()), "what is a path is not looked for");
        assert_eq!(
            found("no-such-program", "/bin"),
            Err("MISSING_DEPENDENCY: there is no program `no-such-program` in PATH".into())
        );
        assert!(found("bin", "/usr").is_err(), "a folder is no program");
        assert!(found("passwd", "/etc").unwrap_err().starts_with("PERMISSION_DENIED: `passwd` may not be executed"));
    }
}
