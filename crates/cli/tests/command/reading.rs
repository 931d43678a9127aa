//! `runs`, `show`, `logs` and `events`: reading what was run, and what runs right now.

use serde_json::{Value, json};

use super::owner::{Owner, Signals, pipe};
use super::space::{GOOD, Ran, Space};

const FAILING: &str = "workflow: failing\nnodes: { a: { run: 'exit 1' } }\n";

fn ids(ran: &Ran) -> Vec<String> {
    let runs = ran.json()["runs"].as_array().unwrap().clone();
    runs.iter().map(|run| run["run_id"].as_str().unwrap().to_owned()).collect()
}

fn run(space: &Space, file: &str) -> String {
    let ran = space.run(&["run", "--json", file]);
    serde_json::from_str::<Value>(ran.out.lines().last().unwrap()).unwrap()["run_id"].as_str().unwrap().to_owned()
}

/// R-CLI-2: an id may be shortened while it is unique; `@last` is the newest.
#[test]
fn naming_a_run() {
    let space = Space::new().with("sprag.yaml", GOOD);
    for verb in ["show", "resume", "logs", "events"] {
        let ran = space.run(&[verb]);
        assert_eq!(ran.code, Some(3));
        assert!(ran.err.contains("error[RUN_NOT_FOUND]"), "{}", ran.err);
    }
    let (first, second) = (run(&space, "sprag.yaml"), run(&space, "sprag.yaml"));
    let shown = |name: &str| space.run(&["show", "--json", name]).json()["run_id"].as_str().map(str::to_owned);
    assert_eq!(shown("@last"), Some(second.clone()));
    assert_eq!(shown(&first), Some(first.clone()));
    assert_eq!(shown(&first.to_uppercase()), Some(first.clone()));
    // Ids made in the same moment begin alike, and differ somewhere.
    let alike = first.bytes().zip(second.bytes()).take_while(|(a, b)| a == b).count();
    assert_eq!(shown(&first[..=alike]), Some(first.clone()));
    assert_eq!(shown(&second[..=alike]), Some(second.clone()));
    let ran = space.run(&["show", &first[..2]]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("error[AMBIGUOUS_RUN]"), "{}", ran.err);
    assert!(ran.err.contains(&first) && ran.err.contains(&second), "{}", ran.err);
    for unknown in ["ffff", "", "%", "@first", "nobody", &format!("{first}0"), "00000000-0000-7000-8000-000000000000"] {
        let ran = space.run(&["show", unknown]);
        assert!(ran.err.contains("error[RUN_NOT_FOUND]"), "`{unknown}`: {}", ran.err);
        assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""));
    }
}

#[test]
fn runs_are_listed_newest_first() {
    let space = Space::new().with("sprag.yaml", GOOD).with("failing.yaml", FAILING);
    assert_eq!(space.run(&["runs"]).err, "no runs\n");
    assert!(!space.path(".sprag").exists(), "looking makes nothing");
    let mut all: Vec<String> = ["sprag.yaml", "failing.yaml", "sprag.yaml", "failing.yaml", "sprag.yaml"]
        .iter()
        .map(|file| run(&space, file))
        .collect();
    all.reverse();
    let list = |arguments: &[&str]| space.run(&[&["runs", "--json"], arguments].concat());
    assert_eq!(ids(&list(&[])), all);
    assert_eq!(list(&[]).json()["next"], Value::Null);
    assert_eq!(ids(&list(&["--status", "failed"])), [all[1].clone(), all[3].clone()]);
    assert_eq!(ids(&list(&["--status", "succeeded"])), [all[0].clone(), all[2].clone(), all[4].clone()]);
    assert_eq!(ids(&list(&["--status", "completed", "--status", "failed"])), all);
    assert_eq!(ids(&list(&["--status", "running"])), Vec::<String>::new());
    assert_eq!(ids(&list(&["--workflow", "failing"])), [all[1].clone(), all[3].clone()]);
    assert_eq!(ids(&list(&["--workflow", "nobody"])), Vec::<String>::new());
    assert_eq!(ids(&list(&["--since", "1h"])), all);
    assert_eq!(space.run(&["runs", "--status", "broken"]).code, Some(2));
    assert_eq!(space.run(&["runs", "--limit", "0"]).code, Some(2));
    // Page by page, each once.
    let mut seen = Vec::new();
    let mut before: Option<String> = None;
    loop {
        let mut arguments = vec!["--limit", "2"];
        arguments.extend(before.iter().flat_map(|number| ["--before", number.as_str()]));
        let page = list(&arguments);
        seen.extend(ids(&page));
        match page.json()["next"].as_u64() {
            Some(next) => before = Some(next.to_string()),
            None => break,
        }
    }
    assert_eq!(seen, all);
    let table = space.run(&["runs", "--limit", "2"]);
    assert_eq!(table.out.lines().count(), 3, "{}", table.out);
    assert!(table.out.starts_with("RUN ") && table.err.starts_with("more with --before "), "{}", table.err);
    let one = list(&["--limit", "1"]).json()["runs"][0].clone();
    assert_eq!(
        (&one["workflow"], &one["status"], &one["exit_code"]),
        (&json!("hello"), &json!("completed"), &json!(0))
    );
}

/// R-STATE-7, R-CLI-8: a run whose owner was killed is interrupted, and can be resumed.
#[test]
fn the_shape_of_a_shown_run() {
    let text = "workflow: w
version: '3'
context: { region: eu }
nodes:
  a: { run: 'echo 1 > $SPRAG_OUTPUT; printf \\'{\"a\": 1}\\' > $SPRAG_CONTEXT' }
  b: { needs: [a], run: 'echo up > up; read line < go' }
  c: { needs: [{ node: a, condition: 'output == 2' }], run: 'true' }
"
    .replace("\\'", "''");
    let space = Space::new().with("sprag.yaml", text);
    let up = Signals::new(&space, "up");
    pipe(&space, "go");
    let owner = Owner::start(&space, &["run", "--scheduling", "frontier"]);
    assert_eq!(up.next(), "up");
    let meanwhile = space.run(&["show", "--json"]).json();
    assert_eq!((&meanwhile["status"], &meanwhile["resumable"]), (&json!("running"), &json!(false)));
    owner.kill();
    let shown = space.run(&["show", "--json"]).json();
    for (key, value) in [
        ("workflow", json!("w")),
        ("version", json!("3")),
        ("status", json!("interrupted")),
        ("previous_run_id", Value::Null),
        ("retry_count", json!(0)),
        ("ended_at", Value::Null),
        ("resumable", json!(true)),
        ("context", json!({ "region": "eu", "a": 1 })),
        ("messages", json!([])),
        ("decisions", json!([])),
    ] {
        assert_eq!(shown[key], value, "{key}");
    }
    // R-MODE-1: what is the default when no other can be asked for.
    assert_eq!(shown["mode"], "incremental");
    for key in ["run_id", "graph_hash", "started_at"] {
        assert!(shown[key].is_string(), "{key}");
    }
    assert!(shown.as_object().unwrap().contains_key("checkpoint_id"));
    let [a, b, c] = shown["nodes"].as_array().unwrap().as_slice() else { panic!("{shown}") };
    assert_eq!(
        (&a["id"], &a["kind"], &a["state"], &a["wave"]),
        (&json!("a"), &json!("run"), &json!("completed"), &json!(0))
    );
    assert_eq!((&a["output"], &a["attempts"], &a["reused"]), (&json!(1), &json!(1), &json!(false)));
    assert_eq!((&b["state"], &b["ledger"][0]["outcome"]), (&json!("running"), &json!("running")));
    assert_eq!(
        (&c["state"], &c["skip_reason"], &c["skip_cause"]),
        (&json!("skipped"), &json!("condition_not_met"), &json!("a"))
    );
    let line = space.run(&["runs", "--json", "--status", "interrupted"]).json();
    assert_eq!(line["runs"][0]["run_id"], shown["run_id"]);
    let plain = space.run(&["show"]);
    assert!(plain.out.contains(&format!("sprag resume {}", shown["run_id"].as_str().unwrap())), "{}", plain.out);
}

/// R-CMD-2: logs per node and attempt.
#[test]
fn logs_of_attempts() {
    let text = "workflow: w
nodes:
  a: { run: 'echo out $SPRAG_ATTEMPT; echo err $SPRAG_ATTEMPT >&2; exit $((SPRAG_ATTEMPT == 1))',
       retry: { max_attempts: 2, initial_delay: 1ms, max_delay: 1ms } }
  b: { needs: [a], run: 'echo b' }
  silent: { needs: [b], run: 'true' }
";
    let space = Space::new().with("sprag.yaml", text);
    assert_eq!(space.run(&["run"]).code, Some(0));
    let logs = |arguments: &[&str]| space.run(&[&["logs", "@last"], arguments].concat());
    let lines = |ran: &Ran| {
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let mut lines: Vec<String> = ran.out.lines().map(str::to_owned).collect();
        // The two streams of one attempt come as they come.
        lines.sort();
        lines
    };
    assert_eq!(lines(&logs(&["a", "--attempt", "2"])), ["err 2", "out 2"]);
    assert_eq!(lines(&logs(&["a"]))[..2], ["err 1", "err 2"]);
    assert_eq!(lines(&logs(&["b"])), ["b"]);
    let all = logs(&[]);
    assert!(all.out.ends_with("b\n") && all.out.lines().count() == 5, "{}", all.out);
    assert_eq!(all.err, "--- a (attempt 1)\n--- a (attempt 2)\n--- b (attempt 1)\n");
    let silent = logs(&["silent"]);
    assert_eq!((silent.out.as_str(), silent.err.as_str()), ("", "nothing was printed\n"));
    assert_eq!(logs(&["-q", "silent"]).err, "");
    let wrong = logs(&["silnt"]);
    assert!(wrong.err.contains("error[UNKNOWN_NODE]") && wrong.err.contains("did you mean `silent`?"), "{}", wrong.err);
    let ran = logs(&["--json", "-f"]);
    assert_eq!((ran.code, &ran.json()["error"]["code"]), (Some(2), &json!("USAGE")));
    let files = logs(&["--json"]).json();
    assert_eq!(files["logs"].as_array().unwrap().len(), 4);
    assert_eq!((&files["logs"][3]["node"], &files["logs"][3]["there"]), (&json!("silent"), &json!(false)));
}

/// R-CMD-2: what a command prints is seen while it runs; what happens to the run as well.
#[test]
fn following_a_live_run() {
    let text = "workflow: w
nodes:
  a: { run: 'echo first; echo up > up; read line < go; echo $line' }
  b: { needs: [a], run: 'echo last' }
";
    let space = Space::new().with("sprag.yaml", text);
    let up = Signals::new(&space, "up");
    pipe(&space, "go");
    let owner = Owner::start(&space, &["run"]);
    assert_eq!(up.next(), "up");
    let mut logs = Owner::start(&space, &["logs", "-f"]);
    let mut events = Owner::start(&space, &["events", "-f", "--json"]);
    let mut plain = Owner::start(&space, &["events", "-f"]);
    assert_eq!(logs.printed("first").as_deref(), Some("first"), "before the command has ended");
    assert!(events.printed("\"running\"").is_some() && plain.printed("a: running").is_some());
    std::fs::write(space.path("go"), "go on\n").unwrap();
    assert!(logs.printed("go on").is_some());
    assert_eq!(owner.finish().code, Some(0));
    let logs = logs.finish();
    assert_eq!((logs.code, logs.out.as_str()), (Some(0), "first\ngo on\nlast\n"));
    let followed = events.finish();
    assert_eq!((followed.code, followed.err.as_str()), (Some(0), ""));
    assert_eq!(followed.out, space.run(&["events", "--json"]).out, "nothing is missed, nothing comes twice");
    assert!(plain.finish().out.ends_with("run completed\n"));
    // What is over is printed, and that is all.
    assert_eq!(space.run(&["logs", "-f"]).out, "first\ngo on\nlast\n");
    assert_eq!(space.run(&["events", "-f", "--json"]).out, followed.out);
}

/// Whoever follows a run whose owner is killed is not left waiting.
#[test]
fn following_ends_with_the_owner() {
    let text = "workflow: w\nnodes: { a: { run: 'echo first; echo up > up; read line < go' } }\n";
    let space = Space::new().with("sprag.yaml", text);
    let up = Signals::new(&space, "up");
    pipe(&space, "go");
    let owner = Owner::start(&space, &["run"]);
    assert_eq!(up.next(), "up");
    let mut logs = Owner::start(&space, &["logs", "-f"]);
    let mut events = Owner::start(&space, &["events", "-f"]);
    assert!(logs.printed("first").is_some() && events.printed("a: running").is_some());
    owner.kill();
    assert_eq!((logs.finish().code, events.finish().code), (Some(0), Some(0)));
}
