//! The project: the folder that holds `.sprag/`, found upwards like `.git` (`R-CLI-2`).

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sprag_core::limits::Limits;

use crate::error::EngineError;
use crate::settings::Settings;

/// The name of the state folder.
const STATE: &str = ".sprag";

/// Where commands run and state lives.
#[derive(Debug, Clone)]
pub struct Project {
    root: PathBuf,
    state: Option<PathBuf>,
    limits: Limits,
    store: Option<String>,
}

impl Project {
    /// Finds the project around a folder: the nearest one upwards with a `.sprag/`, else the folder itself.
    pub fn find(start: &Path) -> Result<Self, EngineError> {
        let start = std::path::absolute(start).map_err(|error| EngineError::from_io(start.to_owned(), &error))?;
        if !start.is_dir() {
            return Err(EngineError::Workspace {
                path: start.clone(),
                why: if start.exists() { "it is not a folder" } else { "it does not exist" }.into(),
                help: "name a folder with `-C`".into(),
            });
        }
        let found = start.ancestors().map(|folder| folder.join(STATE)).find(|state| state.exists());
        if let Some(state) = &found {
            trusted(state)?;
            if !state.is_dir() {
                return Err(EngineError::Workspace {
                    path: state.clone(),
                    why: "it is not a folder, and sprag keeps its state in a folder of that name".into(),
                    help: "move it away; `sprag run` makes the folder".into(),
                });
            }
        }
        let root = found.as_deref().and_then(Path::parent).unwrap_or(&start).to_owned();
        let settings = Settings::read(&root)?;
        Ok(Self { root, state: found, limits: settings.limits(), store: settings.store })
    }

    /// The folder that commands, inputs and outputs are relative to.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The state folder, if there is one.
    pub fn state(&self) -> Option<&Path> {
        self.state.as_deref()
    }

    /// The state folder, where it is or where `run` makes it.
    pub fn state_to_be(&self) -> PathBuf {
        self.state.clone().unwrap_or_else(|| self.root.join(STATE))
    }

    /// The store that the project's settings name.
    pub fn store(&self) -> Option<&str> {
        self.store.as_deref()
    }

    /// How large workflow files may be.
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }
}

/// State that someone else could have planted is not used: it and its parents belong to the user or root, and nobody else
/// may write it (`R-CLI-2`, S-35). Folders above it may be for all, as `/tmp` is.
fn trusted(state: &Path) -> Result<(), EngineError> {
    let me = rustix::process::geteuid().as_raw();
    for folder in state.ancestors() {
        let owner = std::fs::metadata(folder).map_err(|error| EngineError::from_io(folder.to_owned(), &error))?.uid();
        if owner != me && owner != 0 {
            return Err(EngineError::Workspace {
                path: state.to_owned(),
                why: format!("`{}` belongs to another user (uid {owner})", folder.display()),
                help: "work in a folder of your own, or change its owner".into(),
            });
        }
    }
    let mode = std::fs::metadata(state).map_err(|error| EngineError::from_io(state.to_owned(), &error))?.mode();
    if mode & 0o022 != 0 {
        return Err(EngineError::Workspace {
            path: state.to_owned(),
            why: format!("others may write it (mode {:03o})", mode & 0o777),
            help: "see that nobody put anything into it, then run `chmod go-w .sprag`".into(),
        });
    }
    Ok(())
}
