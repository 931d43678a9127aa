//! Names in expressions, checked against the graph before anything runs.

use super::support::{codes_of_nodes, diagnostics, in_workflow};

/// R-EXPR-1, R-EXPR-3: one row per rule; the expression stands in a shell script of node `z`, which needs `y`.
#[test]
fn names_are_checked_at_load_time() {
    let table: &[(&str, &str)] = &[
        ("params.p", ""),
        ("params['p']", ""),
        ("params.q", "UNDEFINED_NAME"),
        ("context.anything.goes", ""),
        ("nodes.y.output.rows[0].id", ""),
        ("nodes['y'].state", ""),
        ("nodes.x.output", ""),
        ("nodes.y.error.code", ""),
        ("nodes.y.attempts", ""),
        ("nodes.y.result", "UNDEFINED_NAME"),
        ("nodes.y.error.text", "UNDEFINED_NAME"),
        ("nodes.nope.output", "UNDEFINED_NAME"),
        ("nodes.side.output", "NOT_AN_ANCESTOR"),
        ("nodes.z.output", "NOT_AN_ANCESTOR"),
        ("nodes['my-node'].output", "NOT_AN_ANCESTOR"),
        ("nodes", "NOT_AVAILABLE_HERE"),
        ("nodes[params.p].output", "NOT_AVAILABLE_HERE"),
        ("output", ""),
        ("output.a.b", ""),
        ("error.message", ""),
        ("error.messages", "UNDEFINED_NAME"),
        ("run.id", ""),
        ("run.now", "UNDEFINED_NAME"),
        ("phase.name", "NOT_AVAILABLE_HERE"),
        ("item", "NOT_AVAILABLE_HERE"),
        ("index", "NOT_AVAILABLE_HERE"),
        ("secrets.S", "NOT_AVAILABLE_HERE"),
        ("p", "UNDEFINED_NAME"),
        ("env.HOME", "UNDEFINED_NAME"),
        ("params.p | upper", ""),
        ("params.p | uppercase", "UNDEFINED_NAME"),
        ("params.p if output else 'none'", ""),
        ("params.p +", "EXPRESSION_SYNTAX"),
        ("open('/etc/passwd')", "UNDEFINED_NAME"),
        ("now()", "UNDEFINED_NAME"),
        ("params.p | default(nodes.side.output)", "NOT_AN_ANCESTOR"),
    ];
    for (expression, expected) in table {
        let nodes = format!(
            "x: {{ run: x }}\nside: {{ run: x }}\nmy-node: {{ run: x }}\ny: {{ run: x, needs: [x] }}\nz:\n  needs: [y]\n  run: echo \"{{{{ {expression} }}}}\""
        );
        let expected: Vec<_> = expected.split_whitespace().collect();
        assert_eq!(codes_of_nodes(&nodes), expected, "{expression}");
    }
}

/// What may be said differs by place.
#[test]
fn places_have_their_own_names() {
    let table: &[(&str, &[&str])] = &[
        // Without an edge there is no `error` and no `output`.
        ("a: { run: 'echo {{ output }}' }", &["NOT_AVAILABLE_HERE"]),
        ("a: { run: 'echo {{ error.code }}' }", &["NOT_AVAILABLE_HERE"]),
        // In these the output is the node's own.
        ("a: { run: x, evaluate: output.ok }", &[]),
        ("a: { run: x, approve: { message: '{{ output.text }}' } }", &[]),
        ("a: { http: { url: 'https://x', expect: { json: output.ok } } }", &[]),
        ("a: { loop: { workflow: f.yaml, until: output.done, max: 3 } }", &[]),
        ("a: { run: x, evaluate: { run: 'grade \"{{ output }}\"' } }", &[]),
        ("a: { run: x, evaluate: { call: f, with: '{{ output }}' } }", &[]),
        // A gate alone has none.
        ("a: { approve: { message: '{{ output }}' } }", &["NOT_AVAILABLE_HERE"]),
        // Conditions see the edge's source and what the target may see.
        ("a: { run: x }\nb: { run: x, needs: [{ node: a, when: on_failure, condition: \"error.code != 'X'\" }] }", &[]),
        (
            "a: { run: x }\nb: { run: x, needs: [{ node: a, condition: nodes.c.output }] }\nc: { run: x }",
            &["NOT_AN_ANCESTOR"],
        ),
        ("a: { run: x }\nb: { run: x, needs: [{ node: a, condition: '{{ output }}' }] }", &["EXPRESSION_SYNTAX"]),
        // Maps and tools have items.
        ("a: { map: { over: params.p, node: { run: 'echo {{ item.x }} {{ index }}' } } }", &[]),
        ("a: { map: { over: item, node: { run: x } } }", &["NOT_AVAILABLE_HERE"]),
        (
            "a: { agent: { provider: fake, script: [], prompt: x, tools: [{ name: t, run: 'echo {{ item.q }}' }] } }",
            &[],
        ),
        ("a: { agent: { provider: fake, script: [], prompt: '{{ item }}' } }", &["NOT_AVAILABLE_HERE"]),
        // R-SEC-1: secrets in headers and provider keys, nowhere else.
        ("a: { http: { url: 'https://x', headers: { Authorization: 'Bearer {{ secrets.S }}' } } }", &[]),
        ("a: { agent: { provider: openai, model: m, prompt: x, api_key: '{{ secrets.S }}' } }", &[]),
        ("a: { http: { url: 'https://x/{{ secrets.S }}' } }", &["NOT_AVAILABLE_HERE"]),
        ("a: { http: { url: 'https://x', json: { k: ['{{ secrets.S }}'] } } }", &["NOT_AVAILABLE_HERE"]),
        ("a: { run: x, env: { A: '{{ secrets.S }}' } }", &["NOT_AVAILABLE_HERE"]),
        ("a: { agent: { provider: openai, model: m, prompt: '{{ secrets.S }}' } }", &["NOT_AVAILABLE_HERE"]),
        ("a: { http: { url: 'https://x', headers: { A: '{{ secrets.T }}' } } }", &["UNKNOWN_SECRET"]),
        // A sub-workflow sees its own world.
        (
            "a: { run: x }\nb: { needs: [a], workflow: { nodes: { c: { run: 'echo {{ nodes.a.output }}' } } } }",
            &["UNDEFINED_NAME"],
        ),
        ("a: { workflow: { nodes: { c: { run: 'echo {{ params.p }}' } } } }", &["UNDEFINED_NAME"]),
        (
            "a: { workflow: { params: { q: { type: string } }, nodes: { c: { run: 'echo {{ params.q }}' } } }, params: { q: '{{ params.p }}' } }",
            &[],
        ),
        ("a: { workflow: { nodes: { c: { run: x }, d: { run: 'echo {{ nodes.c.output }}', needs: [c] } } } }", &[]),
        ("a: { workflow: { nodes: { c: { run: x, needs: [a] } } } }", &["UNKNOWN_NODE"]),
        // What is handed over is what is taken.
        (
            "a: { workflow: { params: { q: { type: string } }, nodes: { c: { run: 'echo {{ params.q }}' } } } }",
            &["MISSING_KEY"],
        ),
        ("a: { workflow: { nodes: { c: { run: x } } }, params: { q: 1 } }", &["UNDEFINED_NAME"]),
        // An id with a dash is no subtraction.
        (
            "b: { run: x }\nb-2: { run: x, needs: [b] }\nc: { run: 'echo {{ nodes.b-2.output }}', needs: [b-2] }",
            &["UNDEFINED_NAME"],
        ),
        // A list that starts a shell is a script all the same.
        ("a: { run: [sh, -c, 'echo {{ params.p }}'] }", &["UNSAFE_SHELL_VALUE"]),
        ("a: { run: [/bin/bash, -e, -c, 'echo {{ params.p }}'] }", &["UNSAFE_SHELL_VALUE"]),
        ("a: { run: [sh, -c, 'echo \"$1\"', _, '{{ params.p }}'] }", &[]),
        ("a: { run: [echo, -c, '{{ params.p }}'] }", &[]),
        ("a: { run: [ssh, host, 'echo {{ params.p }}'] }", &["UNSAFE_SHELL_VALUE"]),
        // Texts in JSON are templates, at every depth.
        ("a: { call: f, with: { list: [{ deep: '{{ params.nope }}' }] } }", &["UNDEFINED_NAME"]),
        ("a: { http: { url: 'https://x', json: { deep: ['{{ params.nope }}'] } } }", &["UNDEFINED_NAME"]),
        // Text that only looks like a template.
        ("a: { run: \"docker ps --format '{{.Names}}'\" }", &["EXPRESSION_SYNTAX"]),
        ("a: { run: \"docker ps --format '{{ '{{' | unquoted }}.Names}}'\" }", &[]),
        ("a: { run: 'echo ${#x} ${x%y} {%s}' }", &[]),
        ("a: { agent: { provider: fake, script: [], prompt: '{% if x %}y{% endif %}' } }", &["EXPRESSION_SYNTAX"]),
    ];
    for (nodes, expected) in table {
        assert_eq!(codes_of_nodes(nodes), *expected, "{nodes}");
    }
}

/// R-EXPR-3: phases read backwards, never forwards.
#[test]
fn phases_read_earlier_phases() {
    let load = |expression: &str| {
        let text = format!(
            "workflow: w\nphases:\n- {{ name: one, nodes: {{ a: {{ run: x }} }} }}\n- name: two\n  nodes:\n    b:\n      run: echo \"{{{{ {expression} }}}}\"\n- {{ name: three, nodes: {{ c: {{ run: x }} }} }}\n"
        );
        match sprag_core::load::load(&text, &sprag_core::limits::Limits::default()) {
            Ok(_) => String::new(),
            Err(problems) => problems[0].code.to_string(),
        }
    };
    assert_eq!(load("nodes.a.output"), "");
    assert_eq!(load("phase.name"), "");
    assert_eq!(load("nodes.c.output"), "NOT_AN_ANCESTOR");
    assert_eq!(load("phase.nmae"), "UNDEFINED_NAME");
}

/// Help is exact.
#[test]
fn help_says_what_to_write() {
    for (nodes, help) in [
        ("a: { run: x }\nb: { run: 'echo {{ nodes.a.output }}' }", "add `a` to the `needs` of `b`"),
        (
            "my-node: { run: x }\nb: { run: 'echo {{ nodes.my-node.output }}', needs: [my-node] }",
            "an id with `-` or `.` is written `nodes['my-node']`",
        ),
        ("a: { run: 'echo {{ p }}' }", "to read a parameter write `params.p`"),
        ("a: { run: x }\nb: { run: 'echo {{ a.output }}', needs: [a] }", "to read a node write `nodes.a.output`"),
        (
            "a: { run: x }\nb: { run: x, needs: [{ node: a, condition: '{{ output }}' }] }",
            "this is an expression already: write it without `{{ }}`",
        ),
        ("a: { run: x, secrets: [TOKEN] }", "declare it at the top: `secrets: { TOKEN: { env: TOKEN } }`"),
    ] {
        let found = diagnostics(&in_workflow(nodes));
        assert_eq!(found[0].help.as_deref(), Some(help), "{nodes}");
    }
}
