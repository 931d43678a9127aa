//! Session keys: exact shapes, and what stands behind them (`R-SES-2`).

use proptest::prelude::*;
use serde_json::json;
use sprag_core::checkpoint::Blob;
use sprag_core::file::WorkflowId;
use sprag_core::session_key::{
    AgentId, NodeSessionKey, RunSessionKey, SessionEntry, is_workflow_node_session_key, is_workflow_run_session_key,
};

use super::sample::{RUN, address, run};

fn run_key() -> RunSessionKey {
    RunSessionKey { agent: AgentId::default(), workflow: WorkflowId::new("ship-it.v2").unwrap(), run: run() }
}

#[test]
fn keys_are_written_as_the_contract_says() {
    // R-SES-2
    let key = run_key();
    let text = format!("agent:main:workflow:ship-it.v2:run:{RUN}");
    assert_eq!(key.to_string(), text);
    assert_eq!(text.parse(), Ok(key.clone()));
    let node = NodeSessionKey { run: key.clone(), node: address("loop/2/build"), attempt: 3 };
    let node_text = format!("{text}:node:loop/2/build:attempt:3");
    assert_eq!(node.to_string(), node_text);
    assert_eq!(node_text.parse(), Ok(node.clone()));
    assert_eq!(serde_json::from_str::<NodeSessionKey>(&format!("\"{node_text}\"")).unwrap(), node);
    assert_eq!(serde_json::to_string(&key).unwrap(), format!("\"{text}\""));
}

#[test]
fn the_shape_is_exact_and_its_case_does_not_matter() {
    // R-SES-2
    let run = format!("agent:main:workflow:w:run:{RUN}");
    let node = format!("{run}:node:each/3:attempt:1");
    for (text, is_run, is_node) in [
        (run.clone(), true, false),
        (run.to_uppercase(), true, false),
        (format!("Agent:Main:Workflow:W:Run:{RUN}"), true, false),
        (node.clone(), false, true),
        (node.to_uppercase(), false, true),
        (format!("{run}:node:b:attempt:4294967295"), false, true),
    ] {
        assert_eq!(
            (is_workflow_run_session_key(&text), is_workflow_node_session_key(&text)),
            (is_run, is_node),
            "{text}"
        );
    }
    // What people called things keeps its case.
    let read: RunSessionKey = format!("AGENT:Bob:WORKFLOW:Big:RUN:{}", RUN.to_uppercase()).parse().unwrap();
    assert_eq!(read.to_string(), format!("agent:Bob:workflow:Big:run:{RUN}"));
}

#[test]
fn nonsense_is_no_key() {
    // R-SES-2
    let run = format!("agent:main:workflow:w:run:{RUN}");
    let simple = RUN.replace('-', "");
    for bad in [
        String::new(),
        ":".repeat(5),
        ":".repeat(9),
        "agent:main:main".into(),
        format!("agent::workflow:w:run:{RUN}"),
        format!("agent:main:workflow::run:{RUN}"),
        format!("agent:a:b:workflow:w:run:{RUN}"),
        format!("agent:a b:workflow:w:run:{RUN}"),
        format!("agent:ä:workflow:w:run:{RUN}"),
        format!("agent:main:workflow:a/b:run:{RUN}"),
        format!("workflow:w:agent:main:run:{RUN}"),
        "agent:main:workflow:w:run:".into(),
        "agent:main:workflow:w:run:7".into(),
        format!("agent:main:workflow:w:run:{simple}"),
        format!("agent:main:workflow:w:run:{{{RUN}}}"),
        format!(" {run}"),
        format!("{run}\n"),
        format!("{run}:"),
        format!("x{run}"),
        format!("{run}:node"),
        format!("{run}:node:b"),
        format!("{run}:node:b:attempt"),
        format!("{run}:node:b:attempt:"),
        format!("{run}:node:b:attempt:0"),
        format!("{run}:node:b:attempt:01"),
        format!("{run}:node:b:attempt:+1"),
        format!("{run}:node:b:attempt:-1"),
        format!("{run}:node:b:attempt:1.0"),
        format!("{run}:node:b:attempt:4294967296"),
        format!("{run}:node::attempt:1"),
        format!("{run}:node:/b:attempt:1"),
        format!("{run}:node:a//b:attempt:1"),
        format!("{run}:node:a/../b:attempt:1"),
        format!("{run}:node:a:b:attempt:1"),
        format!("{run}:attempt:1:node:b"),
        format!("{run}:node:b:attempt:1:node:b:attempt:1"),
    ] {
        assert!(!is_workflow_run_session_key(&bad), "{bad}");
        assert!(!is_workflow_node_session_key(&bad), "{bad}");
    }
    assert!(AgentId::new("a:b").is_err());
    let error = "x:y".parse::<RunSessionKey>().unwrap_err();
    assert_eq!(error.to_string(), "`x:y` is not a session key `agent:<agent>:workflow:<workflow>:run:<run>`");
}

#[test]
fn an_entry_shows_the_beginning_and_knows_the_whole() {
    // R-SES-2
    let long = json!("é".repeat(600) + "end");
    let entry = SessionEntry::of(&long);
    assert_eq!((entry.summary.len(), entry.summary.chars().count()), (1024, 512));
    assert_eq!(entry.digest, Blob::of(&long).digest);
    let odd = SessionEntry::of(&json!(format!("x{}", "é".repeat(600))));
    assert_eq!(odd.summary.len(), 1023);
    assert_eq!(SessionEntry::of(&json!("short")).summary, "short");
    assert_eq!(SessionEntry::of(&json!({"b": 1, "a": "x"})).summary, r#"{"b":1,"a":"x"}"#);
    assert_eq!(SessionEntry::of(&json!(null)).summary, "");
    let child = SessionEntry::of(&json!(1)).spawned(run_key().to_string(), 1).hinted("reviewer");
    let text = serde_json::to_string(&child).unwrap();
    let (digest, by) = (child.digest, run_key());
    assert_eq!(
        text,
        format!(r#"{{"summary":"1","digest":"{digest}","spawned_by":"{by}","spawn_depth":2,"agent_hint":"reviewer"}}"#)
    );
    assert_eq!(serde_json::from_str::<SessionEntry>(&text).unwrap(), child);
    assert!(serde_json::from_str::<SessionEntry>(&text.replace("summary", "prompt")).is_err());
}

proptest! {
    #[test]
    fn what_is_read_is_written_the_same(text in "(?i)agent:[a-c:]{0,3}:workflow:[a-c.:-]{1,3}:run:[0-9a-f-]{36}(:node:[a-b/:]{1,4}:attempt:[0-9]{1,2})?") {
        // R-SES-2: no text is both, and a key is read in one way only.
        let (run, node) = (text.parse::<RunSessionKey>(), text.parse::<NodeSessionKey>());
        prop_assert!(run.is_err() || node.is_err());
        if let Ok(key) = run {
            prop_assert_eq!(key.to_string().parse(), Ok(key));
        }
        if let Ok(key) = node {
            prop_assert_eq!(key.to_string().parse(), Ok(key));
        }
    }
}
