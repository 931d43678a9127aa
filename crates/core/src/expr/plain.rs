//! Expressions that only name something.

use serde_json::Value;

use super::evaluate::Names;
use super::names::references;

/// The value of an expression that is a name and nothing else, such as `nodes.fetch.output.rows`, if there is one.
///
/// Nothing is computed, so nothing has to be bounded: a list of a million items is handed on as it is.
pub fn plain(source: &str, names: &dyn Names) -> Option<Value> {
    let found = references(source).ok()?;
    let [reference] = found.as_slice() else { return None };
    if reference.computed || source.get(reference.range.clone())? != source.trim() {
        return None;
    }
    let (root, path) = reference.path.split_first()?;
    let mut value = names.value(root, &[path.to_vec()])?;
    for part in path {
        value = match value {
            std::borrow::Cow::Borrowed(value) => std::borrow::Cow::Borrowed(value.get(part)?),
            std::borrow::Cow::Owned(mut value) => std::borrow::Cow::Owned(value.get_mut(part)?.take()),
        };
    }
    Some(value.into_owned())
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use serde_json::{Value, json};

    use super::{Names, plain};

    struct One(Value);

    impl Names for One {
        fn value(&self, root: &str, _: &[Vec<String>]) -> Option<Cow<'_, Value>> {
            (root == "params").then(|| Cow::Borrowed(&self.0))
        }
    }

    #[test]
    fn only_names_are_plain() {
        // R-EXPR-1
        let names = One(json!({ "a": { "b-c": [1, 2] }, "list": [3] }));
        for (source, expected) in [
            ("params.list", Some(json!([3]))),
            ("  params.list\n", Some(json!([3]))),
            ("params.a['b-c']", Some(json!([1, 2]))),
            ("params", Some(json!({ "a": { "b-c": [1, 2] }, "list": [3] }))),
            ("params.none", None),
            ("params.list.x", None),
            ("context.a", None),
            ("params.list | length", None),
            ("params.list + params.list", None),
            ("[1]", None),
            ("not params.list", None),
            ("params.list[0]", None),
            ("(", None),
        ] {
            assert_eq!(plain(source, &names), expected, "{source}");
        }
    }
}
