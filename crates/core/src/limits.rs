//! How large a workflow may be (`R-FILE-3`).

use crate::yaml;

/// The limits on a workflow file; `sprag.toml` can raise them.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Bytes of the file.
    pub bytes: u64,
    /// Nodes of the workflow, sub-workflows written in it included.
    pub nodes: usize,
    /// What a reader of trees accepts.
    pub tree: yaml::Limits,
}

impl Limits {
    /// No limits but that on nesting, for a text that was accepted before.
    pub fn none() -> Self {
        let tree = yaml::Limits { alias_values: u64::MAX, values: usize::MAX, ..yaml::Limits::default() };
        Self { bytes: u64::MAX, nodes: usize::MAX, tree }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 16 * 1024 * 1024, nodes: 200_000, tree: yaml::Limits::default() }
    }
}
