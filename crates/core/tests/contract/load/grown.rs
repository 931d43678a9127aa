//! Graphs that work produced while running.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use proptest::prelude::*;
use serde_json::{Value, json};
use sprag_core::definition::{Definition, Inside, Kind};
use sprag_core::file::WorkflowId;
use sprag_core::limits::Limits;
use sprag_core::load::{Soil, grown};
use sprag_core::run::NodeError;

use super::support::valid;

/// Grows a body in a workflow with the parameter `p`, the secret `S` and the file `f.yaml`.
fn grow(body: &Value) -> Result<Definition, NodeError> {
    grow_within(body, &Limits::default())
}

fn grow_within(body: &Value, limits: &Limits) -> Result<Definition, NodeError> {
    let around = valid(
        "workflow: w\nparams: { p: { type: string, default: x } }\nsecrets: { S: { env: S } }\nnodes: { a: { run: 'echo {{ params.p }}', secrets: [S] } }\n",
    );
    let files = |name: &str| name == "f.yaml";
    grown(body, &Soil { id: &around.id, params: &around.params, secrets: &around.secrets, files: &files }, limits)
}

fn refused(body: &Value) -> String {
    match grow(body) {
        Ok(_) => panic!("{body} should be refused"),
        Err(error) => error.to_string(),
    }
}

/// R-GROW-1: what is generated is compiled like a file, with all that stands inside it.
#[test]
fn what_is_generated_becomes_a_graph() {
    let body = json!({
        "nodes": {
            "build": { "run": "make {{ params.p }} {{ context.c }} {{ run.id }}", "secrets": ["S"] },
            "test": { "run": "test {{ nodes.build.output }}", "needs": ["build"] },
            "each": { "map": { "over": "nodes.test.output", "node": { "run": "echo {{ item }}" } } },
            "sub": { "workflow": { "nodes": { "i": { "http": { "url": "https://x", "headers": { "A": "{{ secrets.S }}" } } } } } },
            "file": { "loop": { "workflow": "f.yaml", "until": "output", "max": 2 } },
        },
        "edges": [{ "from": "test", "to": "each" }],
        "defaults": { "timeout": "1m" },
        "policy": { "fail_fast": true },
        "context": { "c": [1, null] },
    });
    let definition = grow(&body).unwrap();
    assert_eq!((definition.id.as_str(), definition.params.len(), definition.secrets.len()), ("w", 1, 1));
    assert_eq!((definition.policy.fail_fast, definition.context.len()), (Some(true), 1));
    let find = |id: &str| definition.graph.find(id).unwrap();
    assert_eq!(definition.graph.edges().len(), 2);
    assert_eq!(definition.graph.wave(find("each")), 2);
    assert!(matches!(definition.node(find("each")).inside, Inside::Copy(_)));
    assert!(matches!(definition.node(find("sub")).inside, Inside::Graph(_)));
    assert_eq!(definition.node(find("file")).kind, Kind::Loop);
    assert_eq!(definition.node(find("build")).spec.timeout.unwrap().to_string(), "1m");
    assert!(definition.nodes.iter().all(|node| node.spec.needs.is_empty()));
    let reordered = json!({ "nodes": { "b": { "noop": true, "needs": ["a"] }, "a": { "noop": {} } } });
    let edged =
        json!({ "edges": [{ "to": "b", "from": "a" }], "nodes": { "a": { "noop": null }, "b": { "noop": true } } });
    assert_eq!(grow(&reordered).unwrap(), grow(&edged).unwrap());
}

/// R-GROW-1: a node of a generated graph is the node that a file would have.
#[test]
fn generated_nodes_hash_like_written_ones() {
    let nodes =
        json!({ "a": { "run": "echo {{ params.p }}" }, "b": { "needs": ["a"], "run": ["x", "\u{85}\u{2028}é"] } });
    let definition = grow(&json!({ "nodes": nodes })).unwrap();
    let file = json!({ "workflow": "w", "params": { "p": { "type": "string", "default": "x" } }, "nodes": nodes });
    let written = valid(&file.to_string());
    assert_eq!(definition.nodes, written.nodes);
}

/// R-GROW-1: JSON may hold characters that YAML does not.
#[test]
fn texts_that_only_json_can_hold_pass() {
    let odd: String = (0..=0xffff_u32).filter_map(char::from_u32).chain(['\u{1f600}', '\u{10ffff}']).collect();
    let context = json!({ "odd": [&odd, "<<", "", "x".repeat(9_000)], "k".repeat(900): -0.0, "<<": { "a": 1e300 } });
    let definition = grow(&json!({ "nodes": { "a": { "noop": true } }, "context": context })).unwrap();
    let kept: Value = definition.context.iter().map(|(key, value)| (key.clone(), value.0.clone())).collect();
    assert_eq!(kept, context);
}

/// R-GROW-1: every mistake is told with its code and its place.
#[test]
fn mistakes_are_refused_with_their_place() {
    let start = "what it generated cannot run: ";
    let node = |node: Value| json!({ "nodes": { "a": node } });
    for (body, expected) in [
        (
            json!({ "nodes": { "a": { "noop": true, "needs": ["b"] }, "b": { "noop": true, "needs": ["a"] } } }),
            "CYCLE_DETECTED `nodes.a.needs[0]`: these nodes wait for each other: a -> b -> a",
        ),
        (node(json!({ "noop": true, "needs": ["a"] })), "CYCLE_DETECTED `nodes.a.needs[0]`: `a` depends on itself"),
        (
            node(json!({ "noop": true, "needs": [{ "node": "zzz" }] })),
            "MISSING_DEPENDENCY `nodes.a.needs[0].node`: there is no node `zzz`",
        ),
        (
            json!({ "nodes": { "a": { "noop": true } }, "edges": [{ "from": "outer", "to": "a" }] }),
            "MISSING_DEPENDENCY `edges[0].from`: there is no node `outer`",
        ),
        (
            node(json!({ "run": "echo {{ nodes.outer.output }}" })),
            "MISSING_DEPENDENCY `nodes.a.run`: there is no node `outer`",
        ),
        (
            node(json!({ "run": "x", "secrets": ["T"] })),
            "MISSING_DEPENDENCY `nodes.a.secrets[0]`: there is no secret `T`",
        ),
        (
            node(json!({ "run": "x", "pass_env": ["S"] })),
            "INVALID_OUTPUT `nodes.a.pass_env[0]`: `S` is where the secret `S` comes from",
        ),
        (
            node(json!({ "http": { "url": "https://x", "headers": { "A": "{{ secrets.T }}" } } })),
            "MISSING_DEPENDENCY `nodes.a.http.headers.A`: there is no secret `T`",
        ),
        (
            node(json!({ "workflow": { "nodes": { "i": { "run": "x", "secrets": ["T"] } } } })),
            "MISSING_DEPENDENCY `nodes.a.workflow.nodes.i.secrets[0]`: there is no secret `T`",
        ),
        (
            node(json!({ "map": { "over": "[1]", "node": { "workflow": "../g.yaml" } } })),
            "MISSING_DEPENDENCY `nodes.a.map.node.workflow`: the workflow has no sub-workflow file `../g.yaml`",
        ),
        (node(json!({ "run": "echo {{ params.q }}" })), "INVALID_OUTPUT `nodes.a.run`: there is no parameter `q`"),
        (node(json!({ "run": "echo {{ item }}" })), "INVALID_OUTPUT `nodes.a.run`: `item` exists only inside"),
        (node(json!({ "run": "echo {{ phase.name }}" })), "INVALID_OUTPUT `nodes.a.run`: this workflow has no phases"),
        (node(json!({ "run": "echo '{{ params.p }}'" })), "INVALID_OUTPUT `nodes.a.run`: "),
        (node(json!({ "rnu": "x" })), "INVALID_OUTPUT `nodes.a.rnu`: "),
        (node(json!({})), "INVALID_OUTPUT `nodes.a`: this node does not say what it does"),
        (node(json!({ "generate": { "run": "x" }, "retry": {} })), "INVALID_OUTPUT `nodes.a.retry`: "),
        (json!({ "nodes": { "a/b": { "noop": true } } }), "INVALID_OUTPUT `nodes.a/b`: an id cannot hold `/`"),
        (json!({}), "INVALID_OUTPUT there are no `nodes`"),
        (json!({ "nodes": {} }), "INVALID_OUTPUT there are no `nodes`"),
        (json!({ "nodes": [] }), "INVALID_OUTPUT `nodes`: expected a mapping, found a list"),
        (json!([]), "INVALID_OUTPUT expected a mapping, found a list"),
        (json!("nodes"), "INVALID_OUTPUT expected a mapping, found the text `nodes`"),
        (json!(null), "INVALID_OUTPUT expected a mapping, found nothing"),
        (json!({ "nodes": { "a": { "noop": true } }, "params": {} }), "INVALID_OUTPUT `params`: "),
        (
            json!({ "nodes": { "a": { "noop": true } }, "secrets": { "T": { "env": "T" } } }),
            "INVALID_OUTPUT `secrets`: ",
        ),
        (json!({ "nodes": { "a": { "noop": true } }, "phases": [] }), "INVALID_OUTPUT `phases`: "),
    ] {
        let (code, rest) = expected.split_once(' ').unwrap();
        let found = refused(&body);
        assert!(found.starts_with(&format!("{code}: {start}{rest}")), "{body}\n{found}");
        assert!(!found.contains(" more problem"), "{found}");
    }
}

/// R-GROW-1: the first problem is told, the others are counted, and nothing long is told at all.
#[test]
fn messages_stay_short() {
    let three = json!({ "nodes": { "a": { "noop": true, "needs": ["x", "y"] }, "b": { "nop": 1 } } });
    assert!(refused(&three).ends_with("(and 2 more problems)"), "{}", refused(&three));
    let many: serde_json::Map<_, _> = (0..900).map(|at| (format!("n{at}"), json!({ "nope": at }))).collect();
    assert!(refused(&json!({ "nodes": many })).ends_with("(and at least 199 more problems)"));
    let long = "x".repeat(5_000);
    for body in [
        json!({ &long: 1 }),
        json!({ "nodes": { &long: { "noop": true } } }),
        json!({ "nodes": { "a": { "noop": true, &long: 1 } } }),
        json!({ "nodes": { "a": { "noop": true, "needs": [&long] } } }),
        json!({ "nodes": { "a": { "workflow": &long } } }),
    ] {
        let message = refused(&body);
        assert!(message.len() < 1_500 && !message.contains("xxxxx"), "{message}");
    }
}

/// R-GROW-1: what is too large or too deep is refused, and costs little.
#[test]
fn limits_hold() {
    let nodes: serde_json::Map<_, _> = (0..4).map(|at| (format!("n{at}"), json!({ "noop": true }))).collect();
    let body = json!({ "nodes": nodes });
    let limits = Limits { nodes: 3, ..Limits::default() };
    let error = grow_within(&body, &limits).unwrap_err().to_string();
    assert!(error.starts_with("INVALID_OUTPUT: ") && error.contains("more than 3 nodes"), "{error}");
    let error = grow_within(&body, &Limits { bytes: 20, ..Limits::default() }).unwrap_err().to_string();
    assert!(error.starts_with("INVALID_OUTPUT: ") && error.contains("more than the limit of 20"), "{error}");
    let deep = (0..3_000).fold(json!(1), |inner, _| json!([inner]));
    let error = refused(&json!({ "nodes": { "a": { "call": "f", "with": deep } } }));
    assert!(error.starts_with("INVALID_OUTPUT: ") && error.contains("deep"), "{error}");
    let maps = (0..20).fold(json!({ "noop": true }), |inner, _| json!({ "map": { "over": "[1]", "node": inner } }));
    assert!(refused(&json!({ "nodes": { "a": maps } })).contains("more than 16 deep"));
}

fn word() -> impl Strategy<Value = String> {
    let words = "nodes edges defaults policy context a b run noop needs map over node workflow loop until max generate \
                 call with secrets S T from to when condition << & * ! | - ? f.yaml params p";
    prop_oneof![
        8 => proptest::sample::select(words.split_whitespace().map(str::to_owned).collect::<Vec<_>>()),
        1 => any::<String>(),
        1 => Just("{{ nodes.a.output }}".to_owned()),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 60, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::btree_map(word(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    /// R-GROW-1: nothing that a script or a model may write does more than be refused.
    #[test]
    fn hostile_bodies_are_refused(nodes in value(), edges in value(), extra in value()) {
        for body in [nodes.clone(), json!({ "nodes": nodes, "edges": edges }), json!({ "nodes": { "a": nodes }, "context": extra })] {
            match grow(&body) {
                Ok(definition) => prop_assert!(!definition.nodes.is_empty()),
                Err(error) => {
                    let codes = ["CYCLE_DETECTED", "MISSING_DEPENDENCY", "INVALID_OUTPUT"];
                    prop_assert!(codes.iter().any(|code| error.to_string().starts_with(code)), "{}", error);
                }
            }
        }
    }

    /// R-GROW-1: user JSON arrives as it was produced, whatever its keys and texts look like.
    #[test]
    fn values_pass_unchanged(value in value()) {
        let (id, params, secrets) = (WorkflowId::new("w").unwrap(), IndexMap::new(), BTreeMap::new());
        let soil = Soil { id: &id, params: &params, secrets: &secrets, files: &|_| false };
        let body = json!({ "nodes": { "a": { "noop": true } }, "context": { "value": value } });
        let definition = grown(&body, &soil, &Limits::default()).unwrap();
        let kept = &definition.context["value"].0;
        // Numbers may be written differently and mean the same.
        prop_assert_eq!(kept.to_string(), value.to_string());
    }
}
