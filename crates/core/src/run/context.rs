//! The context: what the workflow starts with, and the patches of completed nodes in canonical order (`R-SCHED-4`).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::graph::{Ancestry, Graph, NodeIndex};

/// Where a patch counts: phase, depth, id, and its place among several of one node.
type Place = (u16, u32, NodeIndex, u32);

/// Patches in the order in which they count, whatever the order in which nodes completed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Context {
    base: Map<String, Value>,
    patches: BTreeMap<Place, Arc<Value>>,
    /// Whose patches a node sees; labelled with the first patch, since most runs have none.
    ancestry: Option<Arc<Ancestry>>,
}

impl Context {
    pub const fn new(base: Map<String, Value>) -> Self {
        Self { base, patches: BTreeMap::new(), ancestry: None }
    }

    /// A node patches the context, or what grew inside it does, one after the other.
    pub fn patch(&mut self, graph: &Graph, node: NodeIndex, patches: impl IntoIterator<Item = Arc<Value>>) {
        for (place, patch) in (0_u32..).zip(patches) {
            self.restore(graph, node, place, patch);
        }
    }

    /// Each patch with the node that made it and its place among those of that node.
    pub fn stored(&self) -> impl Iterator<Item = (NodeIndex, u32, &Arc<Value>)> {
        // The base and the labels come from the graph.
        let Self { base: _, patches, ancestry: _ } = self;
        patches.iter().map(|((_, _, node, place), patch)| (*node, *place, patch))
    }

    /// Puts a patch back to its place.
    pub fn restore(&mut self, graph: &Graph, node: NodeIndex, place: u32, patch: Arc<Value>) {
        self.ancestry.get_or_insert_with(|| Arc::new(Ancestry::new(graph)));
        self.patches.insert((graph.phase(node), graph.wave(node), node, place), patch);
    }

    /// All patches so far, in order.
    pub fn patches(&self) -> impl Iterator<Item = &Arc<Value>> {
        self.patches.values()
    }

    /// The context after all patches so far.
    pub fn whole(&self) -> Value {
        self.merged(None, self.patches.values())
    }

    /// What a node sees: the context around its graph if that is shared, the patches of its ancestors, and those of
    /// earlier phases.
    pub fn seen_by(&self, graph: &Graph, node: NodeIndex, around: Option<Value>) -> Value {
        let phase = graph.phase(node);
        let seen = |(of, _, patcher, _): &Place| {
            *of < phase || self.ancestry.as_ref().is_some_and(|ancestry| ancestry.reaches(graph, *patcher, node))
        };
        self.merged(around, self.patches.iter().filter(|(place, _)| seen(place)).map(|(_, patch)| patch))
    }

    fn merged<'patch>(&self, around: Option<Value>, patches: impl Iterator<Item = &'patch Arc<Value>>) -> Value {
        let mut context = match around {
            Some(Value::Object(mut around)) => {
                around.extend(self.base.clone());
                Value::Object(around)
            }
            _ => Value::Object(self.base.clone()),
        };
        for patch in patches {
            merge_patch(&mut context, patch);
        }
        context
    }
}

/// A JSON merge patch (RFC 7396): objects merge, null removes, everything else replaces.
pub fn merge_patch(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        target.clone_from(patch);
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(target) = target else { return };
    for (key, value) in patch {
        if value.is_null() {
            target.remove(key);
        } else {
            merge_patch(target.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::merge_patch;

    #[test]
    fn patches_merge_as_the_rfc_says() {
        // R-CMD-1
        for (target, patch, expected) in [
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
            (json!({"a": "b", "b": "c"}), json!({"a": null}), json!({"b": "c"})),
            (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": {"b": "c"}}), json!({"a": {"b": "d", "c": null}}), json!({"a": {"b": "d"}})),
            (json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]})),
            (json!({"e": null}), json!({"a": 1}), json!({"e": null, "a": 1})),
            (json!({}), json!({"a": {"bb": {"ccc": null}}}), json!({"a": {"bb": {}}})),
            (json!([1, 2]), json!({"a": "b", "c": null}), json!({"a": "b"})),
        ] {
            let mut merged = target.clone();
            merge_patch(&mut merged, &patch);
            assert_eq!(merged, expected, "{target} with {patch}");
        }
    }
}
