//! `sprag.toml`, the project's settings file.

use std::path::Path;

use serde::Deserialize;
use sprag_core::limits::Limits;

use crate::error::EngineError;

/// The settings of a project. Unknown keys are refused: a misspelt limit must not be a missing one.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// How large workflow files may be (`R-FILE-3`).
    pub limits: LimitSettings,
    /// Where runs are kept, as after `--store`.
    pub store: Option<String>,
}

/// Limits that a project raises or lowers.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitSettings {
    /// Bytes of a file.
    pub bytes: Option<u64>,
    /// Nodes of a workflow.
    pub nodes: Option<usize>,
    /// Values in a file.
    pub values: Option<usize>,
    /// Values that all aliases of a file stand for.
    pub alias_values: Option<u64>,
}

impl Settings {
    /// Reads the settings of a project; without a file, the defaults.
    pub fn read(root: &Path) -> Result<Self, EngineError> {
        let path = root.join("sprag.toml");
        let fail = |why: String| EngineError::Settings { path: path.clone(), why };
        match std::fs::read_to_string(&path) {
            Ok(text) => toml::from_str(&text).map_err(|error| fail(error.to_string().trim_end().to_owned())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(fail(error.to_string())),
        }
    }

    /// The limits in force.
    pub fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        if let Some(bytes) = self.limits.bytes {
            limits.bytes = bytes;
        }
        if let Some(nodes) = self.limits.nodes {
            limits.nodes = nodes;
        }
        if let Some(values) = self.limits.values {
            limits.tree.values = values;
        }
        if let Some(values) = self.limits.alias_values {
            limits.tree.alias_values = values;
        }
        limits
    }
}
