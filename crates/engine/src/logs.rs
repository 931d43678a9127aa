//! Where the output of attempts is kept: one file each, flat (`R-CMD-3`).

use std::path::{Path, PathBuf};

use sprag_core::run::RunId;

/// The folder of all logs.
pub fn folder(state: &Path) -> PathBuf {
    state.join("logs")
}

/// The log of one attempt. Ids of nodes have no character that means something in a path.
pub fn path(state: &Path, run: RunId, node: &str, attempt: u32) -> PathBuf {
    folder(state).join(format!("{run}.{node}.{attempt}.log"))
}
