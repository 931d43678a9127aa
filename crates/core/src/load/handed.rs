//! Whether the values that a node hands to a sub-workflow are the ones it takes.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use crate::file::{Json, Param, ParamName};
use crate::suggest;

/// A parameter that is handed over and not taken, or taken and not handed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The parameter.
    pub name: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// Compares what a sub-workflow declares with what a node hands over.
pub fn mismatches(declared: &IndexMap<ParamName, Param>, handed: &BTreeMap<ParamName, Json>) -> Vec<Mismatch> {
    let unknown = handed.keys().filter(|name| !declared.contains_key(name.as_str())).map(|name| Mismatch {
        name: name.to_string(),
        message: format!("the sub-workflow has no parameter `{name}`"),
        help: suggest::did_you_mean(name.as_str(), declared.keys().map(ParamName::as_str))
            .unwrap_or_else(|| "declare it there under `params`, or remove it".into()),
    });
    let missing = declared
        .iter()
        .filter(|(name, param)| param.default.is_none() && !handed.contains_key(name.as_str()))
        .map(|(name, _)| Mismatch {
            name: name.to_string(),
            message: format!("the sub-workflow needs the parameter `{name}`"),
            help: format!("hand it over: `params: {{ {name}: … }}`, or give it a default there"),
        });
    unknown.chain(missing).collect()
}
