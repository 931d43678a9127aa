//! The underlined place is the right one, however the text is written.

use super::support::{diagnostics, in_workflow};

fn underlined(text: &str) -> Vec<String> {
    diagnostics(text).iter().map(|problem| text[problem.span.range()].to_owned()).collect()
}

/// R-FILE-1
#[test]
fn a_name_is_underlined_in_every_style_of_scalar() {
    for nodes in [
        "a: { run: 'echo {{ params.x }}' }",
        "a: { run: \"echo {{ params.x }}\" }",
        "a:\n  run: echo {{ params.x }}",
        "a:\n  run: |\n    first\n    echo {{ params.x }}\n    last",
        "a:\n  run: |-\n    echo {{ params.x }}",
        "a:\n  run: |2\n      echo {{ params.x }}",
        "a:\n  run:\n    - echo\n    - 'üö {{ params.x }}'",
    ] {
        assert_eq!(underlined(&in_workflow(nodes)), ["params.x"], "{nodes}");
    }
}

/// A parser that counts bytes may point into a character; the report never does.
#[test]
fn no_place_is_inside_a_character() {
    for expression in ["¢", "params.p ¢ 1", "'é' ¢", "params.é", "😀", "params.p | é"] {
        let text = in_workflow(&format!("a:\n  run: echo \"{{{{ {expression} }}}}\""));
        for problem in diagnostics(&text) {
            assert!(text.get(problem.span.range()).is_some(), "{expression}: {:?}", problem.span);
        }
    }
}

/// Where escapes or folding hide the place, the whole scalar is better than a wrong place.
#[test]
fn a_hidden_place_is_the_scalar() {
    for (nodes, expected) in [
        ("a: { run: \"echo \\t{{ params.x }}\" }", "\"echo \\t{{ params.x }}\""),
        ("a:\n  run: >\n    echo\n    {{ params.x }}", "echo"),
    ] {
        assert_eq!(underlined(&in_workflow(nodes)), [expected], "{nodes}");
    }
}

#[test]
fn keys_values_and_items_are_told_apart() {
    for (nodes, expected) in [
        ("a: { run: x, tiemout: 5s }", "tiemout"),
        ("a: { run: x, timeout: 5 }", "5"),
        ("a: { run: x, needs: [b] }", "b"),
        ("a: { run: x, needs: [{ node: b }] }", "b"),
        ("a: { run: x, needs: [{ node: b }] }", "b"),
        ("a: { run: [] }", "[]"),
        ("a: { http: { method: POST } }", "{ method: POST }"),
        ("a: { run: x }\na: { run: y }", "a"),
        ("a: { run: x, retry: { only: [TIMEOUT, nope] } }", "nope"),
    ] {
        assert_eq!(underlined(&in_workflow(nodes)), [expected], "{nodes}");
    }
}
