//! `sprag validate`.

use std::io::Write as _;
use std::process::Stdio;

use super::space::{BAD, GOOD, Ran, Space};

#[test]
fn a_valid_file_is_named_with_its_size() {
    let space = Space::new().with("sprag.yaml", GOOD);
    let ran = space.run(&["validate"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""));
    assert_eq!(ran.err, "sprag.yaml: valid, 1 node, 1 wave\n");
    assert_eq!(space.run(&["validate", "--quiet"]).err, "");
}

/// R-FILE-1: the source line, underlined, with help.
#[test]
fn problems_are_shown_in_their_source() {
    let space = Space::new().with("sprag.yaml", BAD);
    let ran = space.run(&["validate"]);
    ran.is_refusal("UNKNOWN_KEY");
    assert_eq!(
        ran.err,
        "\
error[UNKNOWN_KEY]: unknown key `runs`
 --> sprag.yaml:4:5
  |
4 |     runs: echo hello
  |     ^^^^
  |
  = help: did you mean `run`?

error[UNKNOWN_NODE]: there is no node `nobody`
 --> sprag.yaml:5:13
  |
5 |     needs: [nobody]
  |             ^^^^^^
  |
  = help: the nodes are `greet`

2 errors; more about each code: docs/errors/, such as docs/errors/UNKNOWN_KEY.md
"
    );
}

/// R-CLI-8: the stable shape, exactly one document on standard output.
#[test]
fn json_has_the_stable_shape() {
    let space = Space::new().with("good.yaml", GOOD).with("bad.yaml", BAD);
    let good = space.run(&["validate", "--json", "good.yaml"]);
    assert_eq!((good.code, good.err.as_str()), (Some(0), ""));
    assert_eq!(good.json()["valid"], true);
    assert_eq!(good.json()["errors"], serde_json::json!([]));
    assert_eq!(good.json()["workflows"][0]["workflow"], "hello");
    let bad = space.run(&["--json", "validate", "bad.yaml"]);
    assert_eq!((bad.code, bad.err.as_str()), (Some(2), ""));
    assert_eq!(bad.json()["valid"], false);
    assert_eq!(
        bad.json()["errors"][0],
        serde_json::json!({
            "code": "UNKNOWN_KEY", "message": "unknown key `runs`", "file": "bad.yaml", "line": 4, "column": 5,
            "help": "did you mean `run`?",
        })
    );
    let missing = space.run(&["--json", "validate", "nope.yaml"]);
    assert_eq!(missing.code, Some(2));
    assert_eq!(missing.json()["errors"][0]["code"], "FILE_NOT_FOUND");
    assert_eq!(missing.json()["errors"][0]["line"], serde_json::Value::Null);
}

#[test]
fn several_files_and_standard_input() {
    let space = Space::new().with("one.yaml", GOOD).with("two.yaml", BAD);
    let ran = space.run(&["validate", "one.yaml", "two.yaml"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("one.yaml: valid") && ran.err.contains("two.yaml:4:5"), "{}", ran.err);
    let mut child =
        space.command().args(["validate", "-"]).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(GOOD.as_bytes()).unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), "<standard input>: valid, 1 node, 1 wave\n"));
}

/// R-FILE-3: files that name each other twice and twice again are refused before they cost anything.
#[test]
fn sub_workflow_files_count_as_often_as_they_are_named() {
    let mut space = Space::new().with("sprag.toml", "[limits]\nnodes = 50\n").with("f5.yaml", GOOD);
    for at in 0..5 {
        let next = at + 1;
        let text =
            format!("workflow: w\nnodes:\n  a: {{ workflow: f{next}.yaml }}\n  b: {{ workflow: ./f{next}.yaml }}\n");
        space = space.with(&format!("f{at}.yaml"), text);
    }
    assert_eq!(space.run(&["validate", "f1.yaml"]).code, Some(0));
    let ran = space.run(&["validate", "f0.yaml"]);
    ran.is_refusal("TOO_LARGE");
    assert!(
        ran.err.contains("with the sub-workflow files that it names, the workflow has more than 50 nodes"),
        "{}",
        ran.err
    );
}

/// R-FILE-1 across files: sub-workflow files are checked with the file that names them, each with its own name.
#[test]
fn sub_workflow_files_are_followed() {
    let parent = "workflow: p\nnodes:\n  a: { workflow: sub/child.yaml }\n";
    let space = Space::new().with("sprag.yaml", parent);
    let missing = space.run(&["validate"]);
    missing.is_refusal("FILE_NOT_FOUND");
    assert!(missing.err.contains("sprag.yaml:3:18"), "{}", missing.err);

    let space = space.with("sub/child.yaml", BAD);
    let bad = space.run(&["validate"]);
    bad.is_refusal("UNKNOWN_KEY");
    assert!(bad.err.contains("sub/child.yaml:4:5"), "{}", bad.err);

    let space = space.with("sub/child.yaml", GOOD);
    let first = space.run(&["validate", "--json"]).json();
    assert_eq!(first["valid"], true);
    let space = space.with("sub/child.yaml", GOOD.replace("hello", "bonjour"));
    let second = space.run(&["validate", "--json"]).json();
    assert_ne!(
        first["workflows"][0]["graph_hash"], second["workflows"][0]["graph_hash"],
        "the child is part of the parent"
    );

    let outside = space.path("../outside.yaml");
    std::fs::write(&outside, GOOD).unwrap();
    let space = space.with("sprag.yaml", parent.replace("sub/child.yaml", "../outside.yaml"));
    space.run(&["validate"]).is_refusal("INVALID_VALUE");
    std::fs::remove_file(outside).unwrap();
    let space = space.with("sprag.yaml", parent.replace("sub/child.yaml", "/etc/passwd"));
    space.run(&["validate"]).is_refusal("INVALID_VALUE");
    let space = space.with("sprag.yaml", parent);

    let space = space.with("sub/child.yaml", "workflow: c\nnodes:\n  b: { workflow: ../sprag.yaml }\n");
    let circle = space.run(&["validate"]);
    circle.is_refusal("CYCLE");
    assert!(circle.err.contains("sprag.yaml -> child.yaml -> sprag.yaml"), "{}", circle.err);
}

#[test]
fn warnings_are_shown_and_do_not_fail() {
    let space = Space::new().with("sprag.yaml", format!("{GOOD}params: {{ unused: {{ type: string }} }}\n"));
    let ran = space.run(&["validate"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.err.contains("warning[UNUSED_PARAM]"), "{}", ran.err);
    assert_eq!(space.run(&["validate", "--json"]).json()["warnings"][0]["code"], "UNUSED_PARAM");
    assert_eq!(space.run(&["validate", "--quiet"]).err, "");
}
