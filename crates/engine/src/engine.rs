//! A project with its store: what the verbs about runs work on.

use std::fs::DirBuilder;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use sprag_store::Store;

use crate::error::EngineError;
use crate::guard::GuardProgram;
use crate::host::{Functions, Host, Surroundings};
use crate::project::Project;
use crate::run_error::RunError;

/// The name of the database in the state folder.
const DATABASE: &str = "sprag.db";

/// A project and its store.
#[derive(Debug, Clone)]
pub struct Engine {
    pub(crate) store: Store,
    pub(crate) surroundings: Surroundings,
}

/// Where a store is.
enum Place {
    Memory,
    Sqlite(PathBuf),
}

impl Engine {
    /// Opens the store of a project to run something; makes it if it is not there (`R-CLI-2`).
    pub fn create(project: &Project, store: Option<&str>) -> Result<Self, EngineError> {
        let state = project.state_to_be();
        make_state(&state)?;
        let store = match place(project, store)? {
            Place::Memory => Store::memory(),
            Place::Sqlite(path) => Store::sqlite(&path)?,
        };
        Ok(Self::with(store, surroundings(project, state)))
    }

    /// Opens the store of a project to read or steer what was run. Makes nothing.
    pub fn open(project: &Project, store: Option<&str>) -> Result<Self, EngineError> {
        let store = match place(project, store)? {
            Place::Memory => Store::memory(),
            Place::Sqlite(path) => match path.try_exists() {
                Ok(false) => return Err(RunError::NoRuns.into()),
                // What cannot be looked at is not what is not there: opening it says why.
                Ok(true) | Err(_) => Store::sqlite(&path)?,
            },
        };
        Ok(Self::with(store, surroundings(project, project.state_to_be())))
    }

    /// An engine on a store that the host chose.
    pub const fn with(store: Store, surroundings: Surroundings) -> Self {
        Self { store, surroundings }
    }

    /// Names the program that ends children when this process dies.
    #[must_use]
    pub fn guarded_by(mut self, program: GuardProgram) -> Self {
        self.surroundings.guard = Some(program);
        self
    }

    /// The store.
    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// Starts driving runs in this process.
    pub fn host(&self) -> Result<Host, EngineError> {
        Ok(Host::start(self.store.clone(), self.surroundings.clone())?)
    }
}

fn surroundings(project: &Project, state: PathBuf) -> Surroundings {
    Surroundings { root: project.root().to_owned(), state, functions: Functions::new(), guard: None }
}

/// Reads the text that names a store.
fn place(project: &Project, store: Option<&str>) -> Result<Place, EngineError> {
    let Some(url) = store.or(project.store()) else {
        return Ok(Place::Sqlite(project.state_to_be().join(DATABASE)));
    };
    match url.split_once(':') {
        Some(("memory", "")) => Ok(Place::Memory),
        Some(("sqlite", path)) if !path.is_empty() => Ok(Place::Sqlite(project.root().join(path))),
        _ => Err(EngineError::UnknownStore { url: url.to_owned() }),
    }
}

/// Makes the state folder: nobody else may read it, and version control leaves it alone.
fn make_state(state: &Path) -> Result<(), EngineError> {
    let unusable = |error: std::io::Error| EngineError::Workspace {
        path: state.to_owned(),
        why: error.to_string(),
        help: "run in a folder that you may write".into(),
    };
    match DirBuilder::new().mode(0o700).create(state) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists || !state.is_dir() => return Err(unusable(error)),
        _ => {}
    }
    // No reason to refuse a run: if the folder cannot be written, the store says so.
    drop(ignore(state));
    Ok(())
}

/// Whoever made the folder may have been killed before this, so it is looked at each time. The file appears whole: an
/// empty one would be there and say nothing.
fn ignore(state: &Path) -> std::io::Result<()> {
    let path = state.join(".gitignore");
    if path.symlink_metadata().is_ok() {
        return Ok(());
    }
    let mut file = tempfile::NamedTempFile::new_in(state)?;
    file.write_all(b"*\n")?;
    match file.persist_noclobber(path) {
        Err(error) if error.error.kind() != ErrorKind::AlreadyExists => Err(error.error),
        _ => Ok(()),
    }
}
