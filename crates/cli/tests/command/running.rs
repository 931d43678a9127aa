//! `sprag run`: exit codes, what is printed, parameters, and that the same comes out at any parallelism.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use super::space::{BAD, Ran, Space};
use super::wide;

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}"))).collect()
}

/// R-CLI-3, R-EDGE-5: how a run ended is the exit code.
#[test]
fn exit_codes() {
    for (nodes, flags, code, status) in [
        ("a: { run: 'true' }", "", 0, "completed"),
        ("a: { run: 'exit 7' }", "", 1, "failed"),
        ("a: { run: 'exit 7', continue_on_error: true }", "", 0, "completed"),
        ("a: { run: 'sleep 60' }", "--deadline=200ms", 6, "failed"),
        ("a: { run: 'sleep 60', timeout: 100ms }", "", 1, "failed"),
    ] {
        let space = Space::new().with("sprag.yaml", format!("workflow: w\nnodes:\n  {nodes}\n"));
        let mut arguments = vec!["run", "--json"];
        arguments.extend((!flags.is_empty()).then_some(flags));
        let ran = space.run(&arguments);
        let last = lines(&ran.out).pop().unwrap();
        assert_eq!((ran.code, &last["status"]), (Some(code), &json!(status)), "{nodes}: {}", ran.out);
        assert_eq!((&last["exit_code"], &last["resume"]), (&json!(code), &Value::Null));
        let shown = space.run(&["show", "--json"]).json();
        assert_eq!((&shown["status"], &shown["exit_code"]), (&json!(status), &json!(code)));
    }
    // Cancelled from inside: a command may steer its own run.
    let cancel =
        format!("workflow: w\nnodes: {{ a: {{ run: ['{}', kill, '@last'] }} }}\n", env!("CARGO_BIN_EXE_sprag"));
    let space = Space::new().with("sprag.yaml", cancel);
    assert_eq!(space.run(&["run"]).code, Some(5));
}

/// R-CLI-4: a pipe gets one plain line per transition, and the end says what happened.
#[test]
fn plain_lines_in_a_pipe() {
    let text = "workflow: w
nodes:
  a: { run: 'echo hello' }
  b: { needs: [a], run: 'echo broken >&2; exit 3' }
  c: { needs: [b], run: 'true' }
";
    let space = Space::new().with("sprag.yaml", text);
    let ran = space.run(&["run"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "data goes to standard output, and there is none");
    let id = ran.err.split(' ').nth(1).unwrap().to_owned();
    let (body, end) = ran.err.rsplit_once(", in ").unwrap();
    assert_eq!(
        body,
        format!(
            "run {id} of w, 3 nodes\na: running\na: completed\nb: running\nb: failed, TOOL_ERROR: broken\n\
             c: skipped, dependency_failed: b\n\
             run {id} failed: 1 of 3 nodes completed, 1 failed, 1 skipped"
        )
    );
    assert!(
        end.ends_with(&format!("\n  because of b: TOOL_ERROR: broken\n  its output: sprag logs {id} b\n")),
        "{end}"
    );
    assert!(!ran.err.contains('\u{1b}'));
    let quiet = space.run(&["run", "-q"]);
    assert_eq!((quiet.code, quiet.out.as_str(), quiet.err.as_str()), (Some(1), "", ""));
}

/// R-CLI-2, R-CLI-8: every line is JSON, and the last one is the run.
#[test]
fn a_stream_of_json() {
    let text = "workflow: w
nodes:
  a: { run: 'mkdir tried && exit 1; echo {}', output: json, retry: { max_attempts: 2, initial_delay: 1ms, max_delay: 1ms } }
  b: { needs: [{ node: a, when: on_failure }], run: 'true' }
";
    let space = Space::new().with("sprag.yaml", text);
    let ran = space.run(&["run", "--json", "-q"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let mut events = lines(&ran.out);
    let run = events.pop().unwrap();
    let id = run["run_id"].clone();
    assert_eq!(
        run,
        json!({
            "type": "run", "run_id": id, "status": "completed", "exit_code": 0, "degraded": false,
            "counts": { "nodes": 2, "completed": 1, "reused": 0, "failed": 0, "skipped": 1, "cancelled": 0 },
            "usage": { "tokens_in": 0, "tokens_out": 0, "usd": 0.0 },
            "saved": { "nodes": 0, "seconds": 0.0, "tokens": 0, "usd": 0.0 },
            "error": null, "resume": null,
        })
    );
    assert!(events.iter().all(|event| event["type"].is_string() && event["run_id"] == id && event["at"].is_string()));
    let seqs: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert!(seqs.is_sorted_by(|a, b| a < b));
    let moves: Vec<String> = events
        .iter()
        .filter(|event| event["type"] == "node")
        .map(|event| {
            let word = |name: &str| event[name].as_str().unwrap().to_owned();
            format!("{} {} {}>{}", word("node"), event["attempt"], word("from"), word("to"))
        })
        .collect();
    assert_eq!(
        moves,
        [
            "a 0 pending>ready",
            "a 1 ready>running",
            "a 1 running>failed",
            "a 1 failed>ready",
            "a 2 ready>running",
            "a 2 running>completed",
            "b 0 pending>skipped",
        ]
    );
    let failed = events.iter().find(|event| event["to"] == "failed").unwrap();
    assert_eq!((&failed["error"]["code"], failed["due"].is_string()), (&json!("TOOL_ERROR"), true));
    // R-STATE-3: what was heard live is what the journal tells.
    let told = lines(&space.run(&["events", "--json"]).out);
    assert_eq!(told, events);
}

const PARAMS: &str = "workflow: w
params:
  text: { type: string, default: plain }
  count: { type: integer, default: 1 }
  many: { type: array, default: [] }
  where: { type: string, enum: [here, there] }
nodes:
  a: { run: 'printf %s,%s,%s {{ params.text }} {{ params.count }} {{ params.where }}' }
  b: { run: 'printf %s {{ params.many | length }}' }
";

#[test]
fn parameters() {
    let space = Space::new()
        .with("sprag.yaml", PARAMS)
        .with("given.yaml", "where: there\ncount: 7\nmany: [1, 2]\n")
        .with("given.json", "{\"where\": \"here\"}")
        .with("list.yaml", "- a\n")
        .with("broken.yaml", "a: [\n")
        .with("other.yaml", "where: here\nwheer: there\n");
    let outputs = |arguments: &[&str]| {
        let ran = space.run(&[&["run"], arguments].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let shown = space.run(&["show", "--json"]).json();
        format!("{} {}", shown["nodes"][0]["output"].as_str().unwrap(), shown["nodes"][1]["output"].as_str().unwrap())
    };
    assert_eq!(outputs(&["-p", "where=here"]), "plain,1,here 0");
    assert_eq!(
        outputs(&["-p", "where=here", "-p", "text=a=b; $(exit 1)", "-p", "many=[1]"]),
        "a=b; $(exit 1),1,here 1"
    );
    assert_eq!(outputs(&["--params-file", "given.yaml"]), "plain,7,there 2");
    assert_eq!(outputs(&["--params-file", "given.json", "-p", "count=3"]), "plain,3,here 0");
    assert_eq!(outputs(&["--params-file", "given.yaml", "-p", "where=here"]), "plain,7,here 2", "`-p` wins");
    let before = space.run(&["runs", "--json", "--limit", "100"]).json()["runs"].as_array().unwrap().len();
    for (arguments, code) in [
        (&[][..], "INVALID_PARAM"),
        (&["-p", "where=nowhere"], "INVALID_PARAM"),
        (&["-p", "where=here", "-p", "count=many"], "INVALID_PARAM"),
        (&["-p", "where=here", "-p", "count=1.5"], "INVALID_PARAM"),
        (&["-p", "where=here", "-p", "many={}"], "INVALID_PARAM"),
        (&["-p", "wheer=here"], "INVALID_PARAM"),
        (&["--params-file", "other.yaml"], "INVALID_PARAM"),
        (&["--params-file", "list.yaml"], "INVALID_PARAM"),
        (&["--params-file", "broken.yaml"], "INVALID_PARAM"),
        (&["--params-file", "nowhere.yaml"], "FILE_NOT_FOUND"),
        (&["--params-file", "."], "FILE_UNREADABLE"),
    ] {
        let ran = space.run(&[&["run"], arguments].concat());
        ran.is_refusal(code);
    }
    assert_eq!(space.run(&["run", "-p", "where"]).code, Some(2));
    let after = space.run(&["runs", "--json", "--limit", "100"]).json()["runs"].as_array().unwrap().len();
    assert_eq!(before, after, "what is refused leaves no run");
    // All mistakes at once.
    let ran = space.run(&["run", "-p", "wheer=here", "-p", "count=x"]);
    assert!(ran.err.contains("wheer") && ran.err.contains("count"), "{}", ran.err);
}

/// A command is not fed from the terminal, and neither is sprag.
#[test]
fn standard_input_is_left_alone() {
    let space = Space::new().with("sprag.yaml", "workflow: w\nnodes: { a: { run: 'wc -c' } }\n");
    let mut command = space.command();
    let mut child =
        command.arg("run").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"something").unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap());
    drop(input);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(space.run(&["show", "--json"]).json()["nodes"][0]["output"].as_str().unwrap().trim(), "0");
}

#[test]
fn what_cannot_be_run_is_named() {
    for (nodes, named) in [
        ("a: { http: { url: 'https://example.org' } }", "`http` on node `a`"),
        ("a: { approve: { message: go } }", "`approve` on node `a`"),
        ("a: { run: x, cache: true }", "`cache` on node `a`"),
        ("a: { run: x, semantics: at_most_once }", "`semantics: at_most_once` on node `a`"),
    ] {
        let space = Space::new().with("sprag.yaml", format!("workflow: w\nnodes:\n  {nodes}\n"));
        let ran = space.run(&["run"]);
        ran.is_refusal("NOT_YET_SUPPORTED");
        assert!(ran.err.contains(named), "{}", ran.err);
        assert_eq!(space.run(&["runs", "--json"]).json()["runs"], json!([]));
    }
}

/// R-SCHED-4: the same decisions at any parallelism.
#[test]
fn parallelism_changes_nothing_but_time() {
    let moves = |parallel: &str| {
        let space = Space::new()
            .with("sprag.yaml", wide::workflow("waves"))
            .with("later.sh", "")
            .with("step.sh", "note() { :; }\n");
        let ran = space.run(&["run", "--json", "--parallel", parallel]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let mut of_nodes: Vec<String> = lines(&ran.out)
            .iter()
            .filter(|event| event["type"] == "node")
            .map(|event| {
                format!(
                    "{} {} {} {} {} {}",
                    event["node"], event["attempt"], event["from"], event["to"], event["reason"], event["cause"]
                )
            })
            .collect();
        let order = of_nodes.clone();
        // Each node for itself, in the order of its own moves.
        of_nodes.sort_by_key(|line| line.split(' ').next().map(str::to_owned));
        let shown = space.run(&["show", "--json"]).json();
        let outputs: Vec<Value> =
            shown["nodes"].as_array().unwrap().iter().map(|node| node["output"].clone()).collect();
        (of_nodes, json!([outputs, shown["context"]]), order)
    };
    let (one, eight, again) = (moves("1"), moves("8"), moves("1"));
    assert_eq!((&one.0, &one.1), (&eight.0, &eight.1));
    assert_eq!(one.2, again.2, "one at a time, even the order is the same");
}

/// R-CLI-8: an invalid file leaves nothing behind, and is an error like any other, with all its problems.
#[test]
fn an_invalid_file_does_not_run() {
    let space = Space::new().with("sprag.yaml", BAD);
    space.run(&["run"]).is_refusal("UNKNOWN_KEY");
    for verb in ["run", "graph"] {
        let ran = space.run(&[verb, "--json"]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(2), ""));
        let (document, checked) = (ran.json(), space.run(&["validate", "--json"]).json());
        let error = &document["error"];
        assert_eq!((&error["problems"], &error["exit_code"]), (&checked["errors"], &json!(2)));
        assert_eq!(error["problems"].as_array().unwrap().len(), 2);
        for key in ["code", "message", "help"] {
            assert_eq!(error[key], error["problems"][0][key]);
        }
    }
    assert!(!space.path(".sprag").exists());
    assert_eq!(space.run(&["run", "--json", "nowhere.yaml"]).json()["error"]["code"], "FILE_NOT_FOUND");
    space.run(&["run", "nowhere.yaml"]).is_refusal("FILE_NOT_FOUND");
    assert_eq!(space.run(&["runs", "--json"]).json(), json!({ "runs": [], "next": null }));
}
