//! What can go wrong outside the text of a workflow file.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use sprag_core::codes::Code;
use sprag_core::facts::Facts;
use sprag_core::suggest;

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
            Self::Settings { path, why } | Self::Workspace { path, why, .. } => {
                write!(formatter, "`{}` cannot be used: {why}", path.display())
            }
        }
    }
}

impl std::error::Error for EngineError {}

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
