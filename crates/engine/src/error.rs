//! What can go wrong outside the text of a workflow file.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use sprag_core::codes::Code;
use sprag_core::facts::Facts;
use sprag_core::params::ParamProblem;
use sprag_core::suggest;
use sprag_store::{OpenError, StoreError};

use crate::run_error::RunError;
use crate::support::NotYetSupported;

/// A failure of the engine. [`EngineError::facts`] says what it means to a caller.
#[derive(Debug)]
pub enum EngineError {
    /// The named file is not there.
    NotFound {
        /// What was named.
        path: PathBuf,
        /// A file beside it with nearly the same name.
        nearest: Option<String>,
    },
    /// The named file is a folder, a device, or cannot be opened.
    Unreadable {
        /// What was named.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The file is not text.
    NotText {
        /// What was named.
        path: PathBuf,
        /// The first byte that is no UTF-8.
        at: usize,
    },
    /// The file is over the limit.
    TooLarge {
        /// What was named.
        path: PathBuf,
        /// The limit in bytes.
        limit: u64,
    },
    /// `sprag.toml` cannot be used.
    Settings {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The text that names a store names none.
    UnknownStore {
        /// What was given.
        url: String,
    },
    /// The store cannot be opened.
    Open(OpenError),
    /// The store did not do what it was asked.
    Store(StoreError),
    /// The workflow that was stored with a run cannot be read.
    Definition {
        /// Why.
        why: String,
    },
    /// A run, or its workflow, needs something that is not built yet.
    NotYetSupported(NotYetSupported),
    /// Parameters that do not fit.
    Params(Vec<ParamProblem>),
    /// About runs and those who steer them.
    Run(RunError),
    /// The project folder cannot be used.
    Workspace {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
        /// What to do.
        help: String,
    },
}

impl EngineError {
    /// Wraps what the system said about a file that was named.
    pub(crate) fn from_io(path: PathBuf, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                let nearest = nearest_file(&path);
                Self::NotFound { path, nearest }
            }
            io::ErrorKind::PermissionDenied => Self::Unreadable { path, why: "permission denied".into() },
            _ => Self::Unreadable { path, why: error.to_string() },
        }
    }

    /// A stored workflow that cannot be read.
    pub(crate) fn definition(why: impl Into<String>) -> Self {
        Self::Definition { why: why.into() }
    }

    /// The stable code and what to do next.
    pub fn facts(&self) -> Facts {
        match self {
            Self::NotFound { nearest: Some(nearest), .. } => {
                Facts::new(Code::FILE_NOT_FOUND, format!("did you mean `{nearest}`?"))
            }
            Self::NotFound { nearest: None, .. } => {
                Facts::new(Code::FILE_NOT_FOUND, "name a workflow file; without one sprag looks for `sprag.yaml`")
            }
            Self::Unreadable { .. } => Facts::new(Code::FILE_UNREADABLE, "name a readable file"),
            Self::NotText { .. } => Facts::new(
                Code::NOT_TEXT,
                "a workflow file is YAML or JSON in UTF-8; check that this is the right file",
            ),
            Self::TooLarge { .. } => Facts::new(
                Code::TOO_LARGE,
                "split it into sub-workflows or use a `map`; `limits.bytes` in `sprag.toml` raises the limit",
            ),
            Self::Settings { .. } => Facts::new(Code::BAD_SETTINGS, "mend the file, or remove it to use the defaults"),
            Self::Workspace { help, .. } => Facts::new(Code::BAD_WORKSPACE, help),
            Self::UnknownStore { .. } => Facts::new(
                Code::UNKNOWN_STORE,
                "write `sqlite:FILE`, or `memory:` for a run that leaves nothing behind",
            ),
            Self::Open(error) => open_facts(error),
            Self::Store(error) => store_facts(error),
            Self::Definition { .. } => {
                Facts::new(Code::DAMAGED_STORE, "start the workflow anew with `sprag run`; keep the store for a report")
            }
            Self::NotYetSupported(_) => NotYetSupported::facts(),
            Self::Params(problems) => {
                let help = problems.iter().map(|problem| problem.help.as_str()).collect::<Vec<_>>().join("; ");
                Facts::new(Code::INVALID_PARAM, help)
            }
            Self::Run(error) => error.facts(),
        }
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { path, .. } => write!(formatter, "there is no file `{}`", path.display()),
            Self::Unreadable { path, why } => write!(formatter, "`{}` cannot be read: {why}", path.display()),
            Self::NotText { path, at } => {
                write!(formatter, "`{}` is not a text file: byte {at} is not UTF-8", path.display())
            }
            Self::TooLarge { path, limit } => {
                write!(formatter, "`{}` is larger than the limit of {limit} bytes", path.display())
            }
            Self::UnknownStore { url } => write!(formatter, "`{url}` names no store"),
            Self::Open(error) => error.fmt(formatter),
            Self::Store(error) => error.fmt(formatter),
            Self::Definition { why } => write!(formatter, "the workflow stored with the run cannot be read: {why}"),
            Self::NotYetSupported(error) => error.fmt(formatter),
            Self::Params(problems) => {
                let messages: Vec<_> = problems.iter().map(|problem| problem.message.as_str()).collect();
                formatter.write_str(&messages.join("; "))
            }
            Self::Run(error) => error.fmt(formatter),
            Self::Settings { path, why } | Self::Workspace { path, why, .. } => {
                write!(formatter, "`{}` cannot be used: {why}", path.display())
            }
        }
    }
}

impl std::error::Error for EngineError {}

impl From<StoreError> for EngineError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<OpenError> for EngineError {
    fn from(error: OpenError) -> Self {
        Self::Open(error)
    }
}

impl From<RunError> for EngineError {
    fn from(error: RunError) -> Self {
        Self::Run(error)
    }
}

impl From<NotYetSupported> for EngineError {
    fn from(error: NotYetSupported) -> Self {
        Self::NotYetSupported(error)
    }
}

fn open_facts(error: &OpenError) -> Facts {
    match error {
        OpenError::Foreign { .. } => Facts::new(
            Code::FOREIGN_STORE,
            "sprag changes no file that it did not make: name another one with `--store`, or move this one away; \
             if it was a store once, restore it from a backup",
        ),
        OpenError::Newer { .. } => {
            Facts::new(Code::NEWER_STORE, "use the newer sprag for this project; older ones leave its store alone")
        }
        OpenError::Damaged { .. } => Facts::new(
            Code::DAMAGED_STORE,
            "restore it from a backup, or move it away and start anew; sprag does not repair it by guessing",
        ),
        OpenError::Network { .. } => Facts::new(
            Code::STORE_UNAVAILABLE,
            "put it on a local disk with `--store sqlite:FILE`; locks are not reliable over a network",
        ),
        OpenError::Linked { .. } => Facts::new(
            Code::STORE_UNAVAILABLE,
            "remove the other names, or make a copy with `cp`; a symbolic link to it is fine",
        ),
        OpenError::Exposed { .. } => Facts::new(
            Code::STORE_UNAVAILABLE,
            "let it be a folder of your own that nobody else may write (`chmod go-w`), or move it away while nothing runs",
        ),
        OpenError::Outdated { .. } => Facts::new(Code::INTERNAL, "build sprag with the SQLite that comes with it"),
        OpenError::Inaccessible { .. } => Facts::new(
            Code::STORE_UNAVAILABLE,
            "check that the folder exists, that you may write it, and that there is space; nothing was changed",
        ),
    }
}

fn store_facts(error: &StoreError) -> Facts {
    match error {
        StoreError::Conflict { .. } | StoreError::Fenced { .. } => {
            Facts::new(Code::RUN_OWNED, "another process runs it: `sprag show` says how far it is")
        }
        StoreError::NoRun(_) => Facts::new(Code::RUN_NOT_FOUND, "`sprag runs` lists what there is"),
        StoreError::Unavailable { .. } => Facts::new(
            Code::STORE_UNAVAILABLE,
            "make sure that it can be written and that there is space, or wait for the other process; then try again",
        ),
        StoreError::Broken { .. } => {
            Facts::new(Code::STORE_UNAVAILABLE, "check the disk (`dmesg`), then go on with `sprag resume`")
        }
        StoreError::Damaged { .. } => {
            Facts::new(Code::DAMAGED_STORE, "restore it from a backup; sprag does not repair it by guessing")
        }
        StoreError::Corrupt { .. } => Facts::new(
            Code::CORRUPT_JOURNAL,
            "the other runs of the store are not concerned; restore it from a backup to go on with this one",
        ),
    }
}

/// A file in the same folder whose name is nearly the one that was given.
fn nearest_file(path: &Path) -> Option<String> {
    const LOOKED_AT: usize = 1_000;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let names: Vec<String> = std::fs::read_dir(folder.unwrap_or_else(|| ".".as_ref()))
        .ok()?
        .take(LOOKED_AT)
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| Path::new(name).extension().is_some_and(|end| end == "yaml" || end == "yml" || end == "json"))
        .collect();
    let wanted = path.file_name()?.to_str()?;
    let found = suggest::nearest(wanted, names.iter().map(String::as_str))?;
    Some(folder.map_or_else(|| found.to_owned(), |folder| folder.join(found).display().to_string()))
}
