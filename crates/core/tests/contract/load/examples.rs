//! The examples are valid, fit the schema, and survive being compiled and kept.

use sprag_core::definition::Definition;
use sprag_core::limits::Limits;
use sprag_core::load::load;
use sprag_core::schema::json_schema;
use sprag_core::yaml::{self, Reader, typed};

fn examples() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "yaml" || end == "json"))
        .map(|path| (path.display().to_string(), std::fs::read_to_string(&path).unwrap()))
        .collect();
    found.sort();
    assert!(found.len() >= 4, "there are at least four examples");
    found
}

/// R-FILE-2
#[test]
fn examples_are_valid_and_fit_the_schema() {
    let schema = json_schema();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (name, text) in examples() {
        let loaded = load(&text, &Limits::default());
        assert!(loaded.is_ok(), "{name}: {:?}", loaded.err());
        assert!(loaded.unwrap().warnings.is_empty(), "{name} has warnings");
        let (tree, _) = yaml::read(&text, yaml::Limits::default()).unwrap();
        let reader = Reader::new(&tree);
        let value: serde_json::Value = typed(&reader, tree.root()).unwrap();
        let errors: Vec<_> =
            validator.iter_errors(&value).map(|error| format!("{} at {}", error, error.instance_path())).collect();
        assert!(errors.is_empty(), "{name}: {errors:#?}");
    }
}

/// R-FILE-4: the compiled form is the definition, and nothing else is taken for it.
#[test]
fn the_compiled_form_is_strict() {
    for (name, text) in examples() {
        let definition = load(&text, &Limits::default()).unwrap().definition;
        let bytes = definition.to_bytes().unwrap();
        assert_eq!(Definition::from_bytes(&bytes).as_ref(), Ok(&definition), "{name}");
        let mut longer = bytes.clone();
        longer.push(0);
        assert!(Definition::from_bytes(&longer).is_err(), "{name}: trailing bytes");
        for length in 0..bytes.len() {
            assert!(Definition::from_bytes(&bytes[..length]).is_err(), "{name}: cut at {length}");
        }
    }
}

/// What the schema refuses the loader refuses too, key by key.
#[test]
fn schema_and_loader_know_the_same_keys() {
    let schema = json_schema();
    let keys = |pointer: &str| -> Vec<String> {
        let properties = schema.pointer(pointer).unwrap_or_else(|| panic!("{pointer} is in the schema"));
        properties.as_object().unwrap().keys().cloned().collect()
    };
    for (pointer, wrap) in [
        ("/properties", "workflow: w\nnodes: { a: { noop: } }\nKEY: [[[]]]"),
        ("/$defs/Node/properties", "workflow: w\nnodes: { a: { KEY: [[[]]] } }"),
        ("/$defs/Policy/properties", "workflow: w\nnodes: { a: { noop: } }\npolicy: { KEY: [[[]]] }"),
        ("/$defs/Retry/properties", "workflow: w\nnodes: { a: { run: x, retry: { KEY: [[[]]] } } }"),
        ("/$defs/Http/properties", "workflow: w\nnodes: { a: { http: { KEY: [[[]]] } } }"),
        ("/$defs/Agent/properties", "workflow: w\nnodes: { a: { agent: { KEY: [[[]]] } } }"),
    ] {
        for key in keys(pointer) {
            let unknown = load(&wrap.replace("KEY", &key), &Limits::default())
                .err()
                .into_iter()
                .flatten()
                .any(|problem| problem.message.contains(&format!("unknown key `{key}`")));
            assert!(!unknown, "{pointer}: the loader does not know `{key}`");
        }
        let problems = load(&wrap.replace("KEY", "nonsense"), &Limits::default()).unwrap_err();
        assert!(problems.iter().any(|problem| problem.message.contains("unknown key `nonsense`")), "{pointer}");
    }
}
