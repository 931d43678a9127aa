//! Files that mean harm: refused fast, with a clear error, never with a panic (`R-FILE-3`).

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use sprag_core::codes::Code;
use sprag_core::limits::Limits;
use sprag_core::load::load;

fn refused(text: &str) -> Code {
    let start = Instant::now();
    let problems = load(text, &Limits::default()).expect_err("hostile text is refused");
    assert!(start.elapsed() < Duration::from_secs(5), "took {:?}", start.elapsed());
    problems[0].code
}

#[test]
fn a_billion_laughs() {
    let mut text = String::from("workflow: w\ncontext:\n  a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..20 {
        let items = vec![format!("*a{}", level - 1); 10].join(", ");
        let _ = writeln!(text, "  a{level}: &a{level} [{items}]");
    }
    assert_eq!(refused(&text), Code::TOO_LARGE);
}

#[test]
fn nesting_a_hundred_thousand_deep() {
    let deep = 100_000;
    assert_eq!(refused(&"[".repeat(deep)), Code::TOO_DEEP);
    assert_eq!(refused(&"{a: ".repeat(deep)), Code::TOO_DEEP);
    let mut block = String::new();
    for level in 0..2_000 {
        let _ = writeln!(block, "{}a:", " ".repeat(level));
    }
    assert_eq!(refused(&block), Code::TOO_DEEP);
    assert_eq!(refused(&"- ".repeat(deep)), Code::TOO_DEEP);
    assert_eq!(
        refused(&format!("workflow: w\nnodes: {{ a: {{ run: 'echo {{{{ {} }}}}' }} }}", "(".repeat(deep))),
        Code::EXPRESSION_SYNTAX
    );
}

/// A stack is finite, and so is the number of parts of an expression.
#[test]
fn expressions_of_a_hundred_thousand_parts() {
    for part in ["not ", "- ", "1 if 1 else ", "1 + ", "context.a.", "nodes.a-"] {
        let text = format!("workflow: w\nnodes: {{ a: {{ run: x, evaluate: '{}x' }} }}", part.repeat(100_000));
        assert_eq!(refused(&text), Code::EXPRESSION_SYNTAX, "{part}");
    }
}

/// One large text with many aliases is a bomb as well.
#[test]
fn aliases_of_a_large_text() {
    let text = format!(
        "workflow: w\ncontext:\n  a: &a {}\n  b: [{}]\nnodes: {{ a: {{ noop: }} }}",
        "x".repeat(200_000),
        ["*a"; 500].join(", ")
    );
    assert_eq!(refused(&text), Code::TOO_LARGE);
}

/// Problems of every kind are counted while they are found.
#[test]
fn a_hundred_thousand_duplicate_keys() {
    let text = format!("workflow: w\nnodes:\n{}", "  a: { noop: }\n".repeat(100_000));
    assert!(load(&text, &Limits::default()).unwrap_err().len() <= 200);
}

/// Many mistakes outside nodes do not read a large file again for each of them.
#[test]
fn mistakes_in_edges_of_a_large_file() {
    let mut text = String::from("workflow: w\nnodes:\n");
    for node in 0..20_000 {
        let _ = writeln!(text, " n{node}: {{ run: x, needs: [m{node}] }}");
    }
    text.push_str("edges:\n");
    text.push_str(&" - { from: 3, to: n1 }\n".repeat(150));
    let start = Instant::now();
    assert!(load(&text, &Limits::default()).unwrap_err().len() >= 150);
    assert!(start.elapsed() < Duration::from_secs(10), "took {:?}", start.elapsed());
}

#[test]
fn aliases_to_themselves_and_to_nothing() {
    assert_eq!(refused("workflow: w\ncontext: &a { b: *a }\nnodes: { a: { run: x } }"), Code::UNSUPPORTED_YAML);
    assert_eq!(refused("workflow: *w"), Code::YAML_SYNTAX);
}

#[test]
fn too_many_nodes_and_too_many_bytes() {
    let limits = Limits { nodes: 3, bytes: 200, ..Limits::default() };
    let nodes = |count: usize| {
        let mut text = String::from("workflow: w\nnodes:\n");
        for node in 0..count {
            let _ = writeln!(text, " n{node}: {{ noop: }}");
        }
        text
    };
    assert!(load(&nodes(3), &limits).is_ok());
    assert_eq!(load(&nodes(4), &limits).unwrap_err()[0].code, Code::TOO_LARGE);
    assert_eq!(load(&" ".repeat(201), &limits).unwrap_err()[0].code, Code::TOO_LARGE);
    let inner = "workflow: w\nnodes: { a: { workflow: { nodes: { b: { noop: }, c: { noop: }, d: { noop: } } } } }";
    assert_eq!(load(inner, &limits).unwrap_err()[0].code, Code::TOO_LARGE);
}

/// A file with a mistake in every one of many nodes is reported in bounded time and length.
#[test]
fn ten_thousand_mistakes() {
    let mut text = String::from("workflow: w\nnodes:\n");
    for node in 0..10_000 {
        let _ = writeln!(text, " n{node}: {{ run: x, tiemout: 1, needs: [m{node}] }}");
    }
    let start = Instant::now();
    let problems = load(&text, &Limits::default()).unwrap_err();
    assert!(problems.len() <= 200, "{}", problems.len());
    assert!(start.elapsed() < Duration::from_secs(10), "took {:?}", start.elapsed());
}

/// Pieces of workflow files and of trouble, thrown together.
fn soup() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "workflow: w\n",
        "nodes:\n",
        "  a:\n",
        "    run: x\n",
        "    run: echo {{ params.x }}\n",
        "    needs: [a, b]\n",
        "{",
        "}",
        "[",
        "]",
        ":",
        "- ",
        "? ",
        "&x ",
        "*x",
        "!!str ",
        "'",
        "\"",
        "|\n",
        ">\n",
        "{{",
        "}}",
        "{{ ¢ }}",
        "{{ params.é | ü }}",
        "{%",
        "\\",
        "\t",
        "\u{0}",
        "\u{feff}",
        "\u{202e}",
        "é",
        "😀",
        "phases:\n",
        "- name: p\n",
        "edges: [{ from: a, to: b }]\n",
        "<<: *x\n",
        "---\n",
        "...\n",
        "%YAML 1.2\n",
        "#c\n",
        " ",
        "\n",
        "\r\n",
        "0x",
        "1e999",
        "~",
        "timeout: 5\n",
        "map: { over: x, node: { noop: } }\n",
        "  b: { noop: }\n",
    ]);
    prop::collection::vec(pieces, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn no_text_makes_the_loader_panic(text in soup()) {
        if let Err(problems) = load(&text, &Limits::default()) {
            prop_assert!(!problems.is_empty());
            for problem in problems {
                prop_assert!(text.get(problem.span.range()).is_some(), "span {:?} is not in the text", problem.span);
                prop_assert!(!problem.message.is_empty());
            }
        }
    }

    #[test]
    fn nor_do_random_characters(text in "\\PC{0,200}") {
        drop(load(&text, &Limits::default()));
    }
}
