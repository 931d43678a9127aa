//! How deep values may nest that come into a journal.

use serde_json::Value;

/// The deepest nesting of a value that is stored. A reader of JSON accepts 128 levels, of which an entry takes some itself,
/// so what is let in here can always be read back.
pub const DEPTH_MAX: usize = 64;

/// Whether a value nests deeper than is stored.
pub fn is_too_deep(value: &Value) -> bool {
    let mut level = vec![value];
    for _ in 0..=DEPTH_MAX {
        let inner = |value: &&Value| matches!(value, Value::Array(_) | Value::Object(_));
        level.retain(inner);
        if level.is_empty() {
            return false;
        }
        level = level
            .into_iter()
            .flat_map(|value| match value {
                Value::Array(items) => items.iter().collect::<Vec<_>>(),
                Value::Object(entries) => entries.values().collect(),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
            })
            .collect();
    }
    true
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{DEPTH_MAX, is_too_deep};
    use crate::graph::NodeIndex;
    use crate::run::{Commit, Entry, Fence, OwnerId, Product, RunId, Seq, Timestamp, entries_from_json};

    fn nested(depth: usize) -> Value {
        (0..depth).fold(json!(1), |inner, level| if level % 2 == 0 { json!([inner]) } else { json!({ "a": inner }) })
    }

    #[test]
    fn what_is_let_in_can_be_read_back() {
        // R-JRN-2
        for depth in [0, 1, DEPTH_MAX] {
            assert!(!is_too_deep(&nested(depth)), "{depth}");
        }
        assert!(is_too_deep(&nested(DEPTH_MAX + 1)));
        assert!(is_too_deep(&nested(100)));
        let product = Product { patch: Some(nested(DEPTH_MAX).into()), ..Product::of(nested(DEPTH_MAX)) };
        let entry = Entry::Produced { node: NodeIndex(0), attempt: 1, product: Box::new(product) };
        let commit =
            Commit::new(RunId::default(), OwnerId::default(), Seq(1), Timestamp::from_millis(0), Fence(1), vec![entry]);
        assert_eq!(entries_from_json(&commit.entries_to_json().unwrap()).unwrap(), commit.entries);
    }
}
