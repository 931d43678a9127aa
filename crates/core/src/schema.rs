//! The JSON Schema of the workflow file, generated from its types (`R-FILE-2`).

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use serde_json::{Value, json};

use crate::file::Workflow;

/// The schema, for editors and other tools.
pub fn json_schema() -> Value {
    let settings = SchemaSettings::draft2020_12().with_transform(NullIsNothing);
    let mut schema = settings.into_generator().into_root_schema_for::<Workflow>();
    schema.insert("title".into(), "sprag workflow".into());
    let mut value = schema.to_value();
    // What the loader says better than serde could, and the types therefore leave open.
    value["required"] = json!(["workflow"]);
    value["$defs"]["SubWorkflow"]["required"] = json!(["nodes"]);
    value["oneOf"] = json!([{ "required": ["nodes"] }, { "required": ["phases"] }]);
    value
}

/// A key that is there has a value: what serde calls an option is an absent key, never `null`.
#[derive(Debug, Clone)]
struct NullIsNothing;

impl Transform for NullIsNothing {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        let Some(object) = schema.as_object_mut() else { return };
        if let Some(Value::Array(types)) = object.get_mut("type") {
            types.retain(|name| name != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                object.insert("type".into(), only);
            }
        }
        // Serde's defaults say that a key may be absent, which its absence from `required` says already.
        object.remove("default");
        let is_noop = object.get("anyOf").is_some_and(|choices| choices.to_string().contains("\"const\":true"));
        if !is_noop && let Some(Value::Array(choices)) = object.get_mut("anyOf") {
            choices.retain(|choice| choice.get("type") != Some(&json!("null")));
            if let [Value::Object(only)] = choices.as_slice() {
                let only = only.clone();
                object.remove("anyOf");
                object.extend(only);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::json_schema;

    #[test]
    fn the_schema_is_a_schema_and_refuses_nulls() {
        // R-FILE-2
        let schema = json_schema();
        assert!(jsonschema::meta::is_valid(&schema));
        let validator = jsonschema::validator_for(&schema).unwrap();
        let good = serde_json::json!({ "workflow": "w", "nodes": { "a": { "noop": null }, "b": { "run": ["x"] } } });
        assert!(
            validator.is_valid(&good),
            "{:?}",
            validator.iter_errors(&good).map(|e| e.to_string()).collect::<Vec<_>>()
        );
        for bad in [
            serde_json::json!({ "workflow": "w" }),
            serde_json::json!({ "nodes": {} }),
            serde_json::json!({ "workflow": "w", "nodes": {}, "phases": [] }),
            serde_json::json!({ "workflow": "w", "nodes": { "a": { "run": null } } }),
            serde_json::json!({ "workflow": "w", "nodes": { "a": { "runs": "x" } } }),
            serde_json::json!({ "workflow": "w", "nodes": { "a": { "run": "x", "timeout": "5" } } }),
        ] {
            assert!(!validator.is_valid(&bad), "{bad}");
        }
    }
}
