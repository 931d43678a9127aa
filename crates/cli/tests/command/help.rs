//! Help, version, completions, schema, colours.

use super::space::{BAD, Space, repository};

/// `--help` of every verb has an example that starts with `sprag`.
#[test]
fn every_verb_has_help_with_an_example() {
    let space = Space::new();
    let help = space.run(&["--help"]);
    assert_eq!(help.code, Some(0));
    for verb in ["validate", "graph", "schema", "completions"] {
        assert!(help.out.contains(verb), "{}", help.out);
        let own = space.run(&[verb, "--help"]);
        assert_eq!((own.code, own.err.as_str()), (Some(0), ""));
        assert!(own.out.contains(&format!("Examples:\n  sprag {verb}")), "{}", own.out);
    }
    assert!(space.run(&["--version"]).out.starts_with("sprag "));
}

#[test]
fn mistakes_on_the_command_line_exit_2() {
    let space = Space::new();
    for arguments in [&["vaildate"][..], &["graph", "--format", "gif"], &[], &["validate", "--nope"]] {
        let ran = space.run(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{arguments:?}: {}", ran.err);
    }
    assert!(space.run(&["vaildate"]).err.contains("validate"));
    let json = space.run(&["--json", "vaildate"]);
    assert_eq!((json.code, json.err.as_str()), (Some(2), ""));
    assert_eq!(json.json()["error"]["code"], "USAGE");
    let missing = space.run(&["--json", "cancel"]).json();
    assert!(missing["error"]["message"].as_str().unwrap().ends_with("not provided: <RUN>"), "{missing}");
    assert_eq!(space.run(&["logs", "--attempt", "0"]).code, Some(2));
}

#[test]
fn completions_for_every_shell() {
    let space = Space::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = space.run(&["completions", shell]);
        assert_eq!(ran.code, Some(0));
        assert!(ran.out.contains("validate"), "{shell}");
    }
}

/// R-FILE-2: the schema in the docs is the one the program prints.
#[test]
fn the_schema_in_the_docs_is_current() {
    let printed = Space::new().run(&["schema"]).out;
    let kept = std::fs::read_to_string(repository().join("docs/reference/workflow.schema.json")).unwrap();
    assert!(printed == kept, "run `just schema`");
}

/// Colours follow the person: none in a pipe, with `NO_COLOR` or `--no-color`.
#[test]
fn colours_only_where_they_are_wanted() {
    let space = Space::new().with("sprag.yaml", BAD);
    let plain = space.run(&["validate"]).err;
    assert!(!plain.contains('\u{1b}'));
    let forced = |arguments: &[&str]| {
        let output = space.command().env("CLICOLOR_FORCE", "1").args(arguments).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(forced(&["validate"]).contains('\u{1b}'));
    assert_eq!(forced(&["--no-color", "validate"]), plain);
}
