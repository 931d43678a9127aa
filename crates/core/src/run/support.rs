//! What a run can carry out so far. Anything else is refused before it starts, never ignored.

use crate::definition::{Definition, Kind};

/// The first thing in a definition that runs do not carry out yet, in words for a message.
pub fn unsupported(definition: &Definition) -> Option<String> {
    if !definition.phases.is_empty() {
        return Some("phases".into());
    }
    if definition.policy.budget.is_some() {
        return Some("`policy.budget`".into());
    }
    definition.graph.nodes().find_map(|node| {
        let compiled = definition.node(node);
        let id = definition.graph.id(node);
        let kind = compiled.kind;
        if kind.grows() || kind == Kind::Agent {
            return Some(format!("`{}` nodes such as `{id}`", kind.as_str()));
        }
        compiled.spec.recovery.is_some().then(|| format!("`recovery` on node `{id}`"))
    })
}
