//! Declared files: one writer each, and no reader without an edge (`R-CACHE-7`).

use super::support::codes_of_nodes;

#[test]
fn declared_files_are_checked() {
    let table: &[(&str, &[&str])] = &[
        ("a: { run: x, outputs: [out.txt] }\nb: { run: x, outputs: [other.txt] }", &[]),
        ("a: { run: x, outputs: [out.txt] }\nb: { run: x, outputs: [./out.txt] }", &["OUTPUT_CONFLICT"]),
        ("a: { run: x, outputs: [out] }\nb: { run: x, outputs: [out/deep/file] }", &["OUTPUT_CONFLICT"]),
        ("a: { run: x, outputs: [out/deep/file] }\nb: { run: x, outputs: [out/] }", &["OUTPUT_CONFLICT"]),
        ("a: { run: x, outputs: [out] }\nb: { run: x, outputs: [output] }", &[]),
        ("a: { run: x, outputs: [o, o] }", &["OUTPUT_CONFLICT"]),
        ("a: { run: x, outputs: [o] }\nb: { run: x, inputs: [o] }", &["UNDECLARED_INPUT"]),
        ("a: { run: x, outputs: [o] }\nb: { run: x, inputs: [o], needs: [a] }", &[]),
        ("a: { run: x, outputs: [o] }\nb: { run: x, needs: [a] }\nc: { run: x, inputs: [o], needs: [b] }", &[]),
        ("a: { run: x, outputs: [o], inputs: [o] }", &[]),
        ("a: { run: x, outputs: [o/x.json] }\nb: { run: x, inputs: ['o/*.json'] }", &["UNDECLARED_INPUT"]),
        ("a: { run: x, outputs: [o/x.json] }\nb: { run: x, inputs: ['**/*.json'] }", &["UNDECLARED_INPUT"]),
        ("a: { run: x, outputs: [o/x.json] }\nb: { run: x, inputs: ['o/*.yaml'] }", &[]),
        ("a: { run: x, outputs: [o/sub/x.json] }\nb: { run: x, inputs: ['o/*.json'] }", &[]),
        ("a: { run: x, outputs: [o] }\nb: { run: x, inputs: ['o/**/*.json'] }", &["UNDECLARED_INPUT"]),
        ("a: { run: x, outputs: [o] }\nb: { run: x, inputs: [o/file] }", &["UNDECLARED_INPUT"]),
        ("a: { run: x, outputs: [o/file] }\nb: { run: x, inputs: [o] }", &["UNDECLARED_INPUT"]),
        ("a: { run: x, inputs: ['src/**', Makefile] }", &[]),
        ("a: { run: x, outputs: [/etc/passwd] }", &["INVALID_VALUE"]),
        ("a: { run: x, outputs: [../x] }", &["INVALID_VALUE"]),
        ("a: { run: x, outputs: [a/../../x] }", &["INVALID_VALUE"]),
        ("a: { run: x, outputs: [.] }", &["INVALID_VALUE"]),
        ("a: { run: x, outputs: ['*.txt'] }", &["INVALID_VALUE"]),
        ("a: { run: x, outputs: ['{{ params.p }}'] }", &["INVALID_VALUE"]),
        ("a: { run: x, outputs: [.sprag/store.db] }", &["INVALID_VALUE"]),
        ("a: { run: x, inputs: ['a\\b'] }", &["INVALID_VALUE"]),
        ("a: { run: x, inputs: ['src/[a'] }", &["INVALID_VALUE"]),
        ("a: { run: x, inputs: [~/x] }", &["INVALID_VALUE"]),
    ];
    for (nodes, expected) in table {
        assert_eq!(codes_of_nodes(nodes), *expected, "{nodes}");
    }
}
