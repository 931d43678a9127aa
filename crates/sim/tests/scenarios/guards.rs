//! The list of guards that the mutation run removes must not rot.

use std::fs;
use std::path::Path;

use serde::Deserialize;

#[derive(Deserialize)]
struct Guards {
    guard: Vec<Guard>,
}

#[derive(Deserialize)]
struct Guard {
    name: String,
    file: String,
    find: String,
    replace: String,
}

#[test]
fn every_guard_of_the_list_still_stands() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let list = fs::read_to_string(root.join("crates/sim/guards.toml")).unwrap();
    let guards: Guards = toml::from_str(&list).unwrap();
    assert!(guards.guard.len() >= 25, "{} guards", guards.guard.len());
    for guard in &guards.guard {
        let text = fs::read_to_string(root.join(&guard.file)).unwrap();
        let count = text.matches(&guard.find).count();
        assert_eq!(
            count, 1,
            "`{}`: its text is {count} times in {}; mend crates/sim/guards.toml",
            guard.name, guard.file
        );
        assert_ne!(guard.find, guard.replace, "{}", guard.name);
    }
}
