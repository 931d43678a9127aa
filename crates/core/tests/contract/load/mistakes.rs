//! Every kind of mistake gets its own code, at its own place, in one report.

use super::support::{codes_of_nodes, diagnostics, in_workflow, problems, valid, warnings};

/// R-FILE-1: eight different mistakes, eight diagnostics, each at the right line and column.
#[test]
fn eight_mistakes_are_eight_diagnostics() {
    let text = "\
workflow: broken
version: 3
params:
  target: { type: string, defalt: x }
nodes:
  fetch:
    run: ./fetch {{ params.targt }}
    timeout: 30
  build:
    needs: [fecth]
    run: make
  left:
    needs: [right]
    run: echo '{{ params.target }}'
  right:
    needs: [left]
    run: 'true'
  nothing: {}
";
    assert_eq!(
        problems(text),
        [
            "2:10 WRONG_TYPE",
            "4:27 UNKNOWN_KEY",
            "7:21 UNDEFINED_NAME",
            "8:14 INVALID_VALUE",
            "10:13 UNKNOWN_NODE",
            "13:13 CYCLE",
            "14:16 UNSAFE_SHELL_VALUE",
            "18:3 NO_KIND",
        ]
    );
    let help: Vec<_> = diagnostics(text).into_iter().map(|problem| problem.help.unwrap_or_default()).collect();
    assert_eq!(help[1], "did you mean `default`?");
    assert_eq!(help[2], "did you mean `target`?");
    assert_eq!(help[3], "did you mean `30s`?");
    assert_eq!(help[4], "did you mean `fetch`?");
}

/// R-FILE-1: a cycle is named node by node.
#[test]
fn a_cycle_is_named() {
    let text = in_workflow("a: { run: x, needs: [c] }\nb: { run: x, needs: [a] }\nc: { run: x, needs: [b] }");
    let found = diagnostics(&text);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].message, "these nodes wait for each other: a -> b -> c -> a");
}

/// R-FILE-1: the same file as JSON has the same problems.
#[test]
fn json_is_read_like_yaml() {
    let text =
        "{\n\t\"workflow\": \"w\",\n\t\"nodes\": {\n\t\t\"a\": { \"run\": \"x\", \"tiemout\": \"1s\" }\n\t}\n}\n";
    assert_eq!(problems(text), ["4:22 UNKNOWN_KEY"]);
    let good =
        r#"{"workflow":"w","nodes":{"a":{"run":["echo","\u00e9\ud83d\ude00\/"],"errors":{"75":"RATE_LIMITED"}}}}"#;
    let yaml = "workflow: w\nnodes:\n  a:\n    run: [echo, \"é😀/\"]\n    errors: { 75: RATE_LIMITED }\n";
    assert_eq!(valid(good).graph_hash, valid(yaml).graph_hash);
}

/// R-NODE-1, R-NODE-2, R-NODE-3, R-GROW-2: one row per mistake inside a node.
#[test]
fn mistakes_in_nodes() {
    let table: &[(&str, &[&str])] = &[
        // What a node does.
        ("a: {}", &["NO_KIND"]),
        ("a: { run: x, http: { url: 'https://x' } }", &["SEVERAL_KINDS"]),
        ("a: { run: x, noop: }", &["SEVERAL_KINDS"]),
        ("a: x", &["WRONG_TYPE"]),
        ("a: [x]", &["WRONG_TYPE"]),
        ("a: { run: x, retry: [3] }", &["WRONG_TYPE"]),
        ("a: { run: x }\nb: { run: x, needs: [[a]] }", &["WRONG_TYPE"]),
        ("a: { run: x, needs: { b: c } }", &["WRONG_TYPE"]),
        ("a: { runs: x }", &["UNKNOWN_KEY"]),
        ("a: { run: '' }", &["INVALID_VALUE"]),
        ("a: { run: [] }", &["INVALID_VALUE"]),
        ("a: { run: }", &["WRONG_TYPE"]),
        ("a: { run: 3 }", &["WRONG_TYPE"]),
        ("-a: { run: x }", &["INVALID_ID"]),
        ("a b: { run: x }", &["INVALID_ID"]),
        // Keys that a kind does not take.
        ("a: { noop: , retry: { max_attempts: 2 } }", &["KEY_NOT_ALLOWED"]),
        ("a: { noop: , timeout: 1s }", &["KEY_NOT_ALLOWED"]),
        ("a: { wait: { for: 1s }, cache: true }", &["KEY_NOT_ALLOWED"]),
        ("a: { approve: { message: ok? }, timeout: 1h }", &["KEY_NOT_ALLOWED"]),
        ("a: { http: { url: 'https://x' }, env: { A: b } }", &["KEY_NOT_ALLOWED"]),
        ("a: { call: f, inputs: [x] }", &["KEY_NOT_ALLOWED"]),
        ("a: { run: x, with: { a: 1 } }", &["KEY_NOT_ALLOWED"]),
        ("a: { run: x, params: { a: 1 } }", &["KEY_NOT_ALLOWED"]),
        ("a: { workflow: { nodes: { b: { run: x } } }, retry: { max_attempts: 2 } }", &["KEY_NOT_ALLOWED"]),
        ("a: { map: { over: '[1]', node: { run: x } }, recovery: { ladder: true } }", &["KEY_NOT_ALLOWED"]),
        ("a: { map: { over: '[1]', node: { run: x } }, cache: true }", &["KEY_NOT_ALLOWED"]),
        ("a: { generate: { run: x }, semantics: at_most_once }", &["KEY_NOT_ALLOWED"]),
        ("a: { generate: { call: f }, cwd: x }", &["KEY_NOT_ALLOWED"]),
        ("a: { map: { over: '[1]', node: { run: x, needs: [b] } } }\nb: { run: x }", &["KEY_NOT_ALLOWED"]),
        // Values.
        ("a: { run: x, timeout: 0s }", &["INVALID_VALUE"]),
        ("a: { run: x, timeout: soon }", &["INVALID_VALUE"]),
        ("a: { run: x, timeout: }", &["WRONG_TYPE"]),
        ("a: { run: x, retry: { max_attempts: 0 } }", &["INVALID_VALUE"]),
        ("a: { run: x, retry: { max_attempts: -1 } }", &["INVALID_VALUE"]),
        ("a: { run: x, retry: { jitter: 1.5 } }", &["INVALID_VALUE"]),
        ("a: { run: x, retry: { initial_delay: 5s, max_delay: 1s } }", &["INVALID_VALUE"]),
        ("a: { run: x, retry: { backoff: exponental } }", &["INVALID_VALUE"]),
        ("a: { run: x, retry: { only: [timeout] } }", &["INVALID_VALUE"]),
        ("a: { run: x, recovery: { tiers: [] } }", &["INVALID_VALUE"]),
        ("a: { run: x, recovery: { human: perhaps } }", &["INVALID_VALUE"]),
        ("a: { run: x, recovery: { decompose: {} } }", &["MISSING_KEY"]),
        ("a: { run: x, join: some }", &["INVALID_VALUE"]),
        ("a: { run: x, continue_on_error: yes }", &["WRONG_TYPE"]),
        ("a: { run: x, priority: high }", &["WRONG_TYPE"]),
        ("a: { run: x, output: xml }", &["INVALID_VALUE"]),
        ("a: { run: x, normalise: [times] }", &["INVALID_VALUE"]),
        ("a: { run: x, errors: { 0: A } }", &["INVALID_VALUE"]),
        ("a: { run: x, errors: { 256: A } }", &["INVALID_VALUE"]),
        ("a: { run: x, errors: { '075': A } }", &["INVALID_VALUE"]),
        ("a: { run: x, errors: { 75: rate } }", &["INVALID_VALUE"]),
        ("a: { run: x, output_schema: [] }", &["WRONG_TYPE"]),
        ("a: { run: x, input_schema: { b: {} } }", &["UNKNOWN_NODE"]),
        ("a: { run: x, env: { 1A: b } }", &["INVALID_VALUE"]),
        ("a: { run: x, env: { A: [b] } }", &["WRONG_TYPE"]),
        ("a: { run: x, secrets: [T] }", &["UNKNOWN_SECRET"]),
        ("a: { run: x, probe: { run: y } }", &["INVALID_VALUE"]),
        ("a: { run: x, semantics: at_most_once, probe: {} }", &["MISSING_KEY"]),
        ("a: { run: x, semantics: at_most_once, probe: { run: y, http: { url: 'http://x' } } }", &["INVALID_VALUE"]),
        ("a: { run: x, evaluate: {} }", &["MISSING_KEY"]),
        ("a: { run: x, env: { SPRAG_V1: evil } }", &["INVALID_VALUE"]),
        ("a: { run: x, depends_on: [b] }", &["UNKNOWN_KEY"]),
        ("a: { run: {{ params.p }} }", &["UNSUPPORTED_YAML"]),
        ("a: { map: { over: '[1]', node: { run: x, outputs: [o] } } }", &["OUTPUT_CONFLICT"]),
        ("a: { run: x, recovery: { tiers: [meta/llama-3, 'qwen:7b'] } }", &[]),
        // The kinds.
        ("a: { http: { method: GET } }", &["MISSING_KEY"]),
        ("a: { http: { url: 'ftp://x' } }", &["INVALID_VALUE"]),
        ("a: { http: { url: x.example } }", &["INVALID_VALUE"]),
        ("a: { http: { url: 'https://x', method: get } }", &["INVALID_VALUE"]),
        ("a: { http: { url: 'https://x', json: {}, body: x } }", &["INVALID_VALUE"]),
        ("a: { http: { url: 'https://x', headers: { 'a b': c } } }", &["INVALID_VALUE"]),
        ("a: { http: { url: 'https://x', expect: { status: [99] } } }", &["INVALID_VALUE"]),
        ("a: { http: { url: 'https://x', expect: { status: [70000] } } }", &["INVALID_VALUE"]),
        ("a: { agent: { provider: anthropic, prompt: x } }", &["MISSING_KEY"]),
        ("a: { agent: { provider: command, prompt: x } }", &["MISSING_KEY"]),
        ("a: { agent: { provider: fake, prompt: x } }", &["MISSING_KEY"]),
        ("a: { agent: { provider: gemini, prompt: x } }", &["INVALID_VALUE"]),
        ("a: { agent: { provider: fake, script: [], command: [x], prompt: x } }", &["KEY_NOT_ALLOWED"]),
        ("a: { agent: { provider: fake, script: [], prompt: x, tools: [plna] } }", &["INVALID_VALUE"]),
        ("a: { agent: { provider: fake, script: [], prompt: x, tools: [{ run: x }] } }", &["MISSING_KEY"]),
        ("a: { agent: { provider: fake, script: [], prompt: x, tools: [{ name: t }] } }", &["MISSING_KEY"]),
        ("a: { agent: { provider: fake, script: [], prompt: x, tools: [{ mcp: {} }] } }", &["MISSING_KEY"]),
        ("a: { agent: { provider: fake, script: [], prompt: x, max_turns: 0 } }", &["INVALID_VALUE"]),
        ("a: { approve: { timeout: 1h } }", &["MISSING_KEY"]),
        ("a: { approve: { message: x, form: 3 } }", &["WRONG_TYPE"]),
        ("a: { wait: {} }", &["MISSING_KEY"]),
        ("a: { wait: { for: 1s, signal: go } }", &["INVALID_VALUE"]),
        ("a: { wait: { until: tomorrow } }", &["INVALID_VALUE"]),
        ("a: { loop: { workflow: f.yaml, until: 'true', max: 0 } }", &["INVALID_VALUE"]),
        ("a: { loop: { workflow: f.yaml, until: 'true' } }", &["MISSING_KEY"]),
        ("a: { map: { over: '[1]', node: { run: x }, max_parallel: 0 } }", &["INVALID_VALUE"]),
        ("a: { map: { over: '[1]', node: {} } }", &["NO_KIND"]),
        ("a: { workflow: {} }", &["MISSING_KEY"]),
        ("a: { workflow: { nodes: { b: {} } } }", &["NO_KIND"]),
        ("a: { generate: {} }", &["MISSING_KEY"]),
        ("a: { generate: { run: x, agent: { provider: fake, script: [], prompt: x } } }", &["INVALID_VALUE"]),
        ("a: { noop: false }", &["INVALID_VALUE"]),
        ("a: { noop: { x: 1 } }", &["UNKNOWN_KEY"]),
        // Edges.
        ("a: { run: x, needs: a }", &["WRONG_TYPE"]),
        ("a: { run: x, needs: [a] }", &["SELF_DEPENDENCY"]),
        ("a: { run: x, needs: [b] }", &["UNKNOWN_NODE"]),
        ("a: { run: x, needs: [{ node: b, when: always }] }", &["UNKNOWN_NODE"]),
        ("a: { run: x }\nb: { run: x, needs: [{ node: a, when: on_fail }] }", &["INVALID_VALUE"]),
        ("a: { run: x }\nb: { run: x, needs: [{ when: always }] }", &["MISSING_KEY"]),
        ("a: { run: x }\na: { run: y }", &["DUPLICATE_KEY"]),
        ("a: { run: x, run: y }", &["DUPLICATE_KEY"]),
        // YAML that workflow files do not have.
        ("a: { run: !!str x }", &["UNSUPPORTED_YAML"]),
        ("? [a]\n: { run: x }", &["UNSUPPORTED_YAML"]),
        ("a: { run: *nope }", &["YAML_SYNTAX"]),
        ("a: { run: x", &["YAML_SYNTAX"]),
    ];
    for (nodes, expected) in table {
        assert_eq!(codes_of_nodes(nodes), *expected, "{nodes}");
    }
}

/// The same for the top of the file.
#[test]
fn mistakes_at_the_top() {
    let nodes = "nodes: { a: { run: 'echo {{ params }}' } }";
    let table: &[(&str, &[&str])] = &[
        ("", &["1:1 EMPTY_FILE"]),
        ("# nothing\n", &["1:1 EMPTY_FILE"]),
        ("[]", &["1:1 WRONG_TYPE"]),
        ("workflow: w", &["1:1 MISSING_KEY"]),
        ("nodes: { a: { run: x } }", &["1:1 MISSING_KEY"]),
        ("workflow: w\nnodes: {}", &["2:8 MISSING_KEY"]),
        ("workflow: w\nphases: []", &["2:9 MISSING_KEY"]),
        ("workflow: w\nnodes: []", &["2:8 WRONG_TYPE"]),
        ("workflow: a/b\nnodes: { a: { run: x } }", &["1:11 INVALID_ID"]),
        (
            "workflow: w\nnodes: { a: { run: x } }\nphases: [{ name: p, nodes: { b: { run: x } } }]",
            &["3:1 INVALID_VALUE"],
        ),
        ("workflow: w\nphases: [{ name: p }]", &["2:10 MISSING_KEY"]),
        ("workflow: w\nphases: [{ nodes: { a: { run: x } } }]", &["2:10 MISSING_KEY"]),
        (
            "workflow: w\nphases:\n- { name: p, nodes: { a: { run: x } } }\n- { name: p, nodes: { b: { run: x } } }",
            &["4:11 DUPLICATE_KEY"],
        ),
        (
            "workflow: w\nphases:\n- { name: p, nodes: { a: { run: x } } }\n- { name: q, nodes: { a: { run: x } } }",
            &["4:23 DUPLICATE_KEY"],
        ),
        (
            "workflow: w\nphases:\n- { name: p, nodes: { a: { run: x } } }\n- { name: q, nodes: { b: { run: x, needs: [a] } } }",
            &["4:44 CROSS_PHASE_EDGE"],
        ),
        ("workflow: w\nschedule: { cron: '61 * * * *' }\nNODES", &["2:19 INVALID_VALUE"]),
        ("workflow: w\nschedule: { cron: '0 6 * * 1-5', timezone: Europe/Belrin }\nNODES", &["2:44 INVALID_VALUE"]),
        ("workflow: w\nsecrets: { A: {} }\nNODES", &["2:15 MISSING_KEY"]),
        ("workflow: w\nsecrets: { A: { env: B, file: c } }\nNODES", &["2:25 INVALID_VALUE"]),
        ("workflow: w\nparams: { p: { type: text } }\nNODES", &["2:22 INVALID_VALUE"]),
        ("workflow: w\nparams: { p: { type: integer, default: x } }\nNODES", &["2:40 WRONG_TYPE"]),
        ("workflow: w\nparams: { p: { type: string, default: x, enum: [a] } }\nNODES", &["2:39 INVALID_VALUE"]),
        ("workflow: w\nparams: { p: { type: string, enum: [1] } }\nNODES", &["2:37 WRONG_TYPE"]),
        ("workflow: w\npolicy: { max_parallelism: 0 }\nNODES", &["2:28 INVALID_VALUE"]),
        ("workflow: w\npolicy: { fail_open: true, fail_fast: true }\nNODES", &["2:22 INVALID_VALUE"]),
        ("workflow: w\npolicy: { budget: {} }\nNODES", &["2:19 MISSING_KEY"]),
        ("workflow: w\npolicy: { budget: { usd: -1 } }\nNODES", &["2:26 INVALID_VALUE"]),
        ("workflow: w\ndefaults: { retry: { max_attempts: 0 } }\nNODES", &["2:36 INVALID_VALUE"]),
        ("workflow: w\nedges: [{ from: a, to: b }]\nNODES", &["2:24 UNKNOWN_NODE"]),
        ("workflow: w\nedges: [{ from: b, to: a }]\nNODES", &["2:17 UNKNOWN_NODE"]),
        ("workflow: w\ncontext: [1]\nNODES", &["2:10 WRONG_TYPE"]),
        ("workflow: w\ndefaults: { env: { A: '{{ nope.x }}' } }\nNODES", &["2:27 UNDEFINED_NAME"]),
        ("workflow: w\ndefaults: { env: { A: '{{ nodes.a.output }}' } }\nNODES", &["2:27 NOT_AVAILABLE_HERE"]),
        ("workflow: w\nsecrets: { SPRAG_V1: { env: X } }\nNODES", &["2:12 INVALID_VALUE"]),
        ("workflow: w\nnods: { a: { run: x } }", &["2:1 UNKNOWN_KEY"]),
        ("nods: { a: { run: x } }", &["1:1 UNKNOWN_KEY", "1:1 MISSING_KEY"]),
        ("workflow: w\nNODES\n---\nworkflow: v", &["3:1 UNSUPPORTED_YAML"]),
    ];
    for (text, expected) in table {
        let text = text.replace("NODES", nodes);
        assert_eq!(problems(&text), *expected, "{text}");
    }
}

/// A mistake does not drag false ones behind it.
#[test]
fn one_mistake_is_one_report() {
    for nodes in [
        // The edge cannot be read, so the missing ancestor is no news.
        "a: { run: x }\nb: { run: 'echo {{ nodes.a.output }}', needs: a }",
        "a: { run: x }\nb: { run: 'echo {{ nodes.a.output }}', needs: [aa] }",
        "a: { run: x }\nb: { run: x, needs: [aa] }\nc: { run: 'echo {{ nodes.a.output }}', needs: [b] }",
        // The node is there, only not readable.
        "a: { run: 3 }\nb: { run: x, needs: [a] }",
        "a: 3\nb: { run: 'echo {{ nodes.a.output }}', needs: [a] }",
        "a: { http: { method: POST } }\nb: { run: x, needs: [a] }",
    ] {
        assert_eq!(codes_of_nodes(nodes).len(), 1, "{nodes}: {:?}", codes_of_nodes(nodes));
    }
}

/// R-GATE-1: a gate behind risky work is worth a word; so are names that nothing uses.
#[test]
fn warnings_do_not_stop_a_file() {
    let table: &[(&str, &[&str])] = &[
        (
            "a: { run: 'echo {{ params.p }}', expensive: true, approve: { message: ok? }, secrets: [S] }",
            &["5:53 GATE_AFTER_WORK"],
        ),
        (
            "a: { run: 'echo {{ params.p }}', semantics: at_most_once, approve: { message: ok? }, secrets: [S] }",
            &["5:61 GATE_AFTER_WORK"],
        ),
        (
            "a: { http: { method: POST, url: 'https://{{ params.p }}', headers: { a: '{{ secrets.S }}' } }, approve: { message: ok? } }",
            &["5:98 GATE_AFTER_WORK"],
        ),
        (
            "a: { http: { url: 'https://{{ params.p }}', headers: { a: '{{ secrets.S }}' } }, approve: { message: ok? } }",
            &[],
        ),
        ("a: { run: 'echo {{ params.p }}', approve: { message: ok? }, secrets: [S] }", &[]),
        ("a: { run: x }", &["2:11 UNUSED_PARAM", "3:12 UNUSED_SECRET"]),
        ("a: { run: 'cat $SPRAG_INPUT', secrets: [S] }", &[]),
    ];
    for (nodes, expected) in table {
        assert_eq!(warnings(&in_workflow(nodes)), *expected, "{nodes}");
    }
}

/// R-NODE-2: `defaults` reach only kinds that take the key, and a node's own keys win.
#[test]
fn defaults_reach_what_takes_them() {
    let definition = valid(
        "workflow: w\ndefaults: { timeout: 10m, retry: { max_attempts: 4, jitter: 0.5 }, env: { A: '1', B: '2' }, pass_env: [HOME] }\n\
         nodes:\n  a: { run: x, retry: { max_attempts: 2 }, env: { A: own } }\n  b: { noop: }\n  c: { call: f }\n",
    );
    let spec = |id: &str| definition.node(definition.graph.find(id).unwrap()).spec.as_ref();
    let retry = spec("a").retry.as_ref().unwrap();
    assert_eq!((retry.max_attempts, retry.jitter), (Some(2), Some(0.5)));
    assert_eq!(spec("a").timeout.unwrap().millis, 600_000);
    let env: Vec<_> = spec("a").env.iter().map(|(name, value)| format!("{name}={}", value.0.0)).collect();
    assert_eq!(env, ["A=own", "B=2"]);
    assert_eq!(spec("a").pass_env.len(), 1);
    assert_eq!((spec("b").timeout, spec("b").retry.as_ref(), spec("b").env.len()), (None, None, 0));
    assert!(spec("c").timeout.is_some() && spec("c").retry.is_some() && spec("c").env.is_empty());
}

/// Aliases and merge keys work as people expect of YAML.
#[test]
fn anchors_and_merge_keys() {
    let definition = valid(
        "workflow: w\nnodes:\n  a: &base { run: x, timeout: 5s, priority: 1 }\n  b: { <<: *base, timeout: 9s, needs: [a] }\n",
    );
    let b = &definition.node(definition.graph.find("b").unwrap()).spec;
    assert_eq!((b.timeout.unwrap().millis, b.priority), (9_000, Some(1)));
}
