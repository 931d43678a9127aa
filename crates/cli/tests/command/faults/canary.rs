//! A planted secret is nowhere in what is kept or shown, in no form that `R-SEC-1` names (S-50 to S-54).

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::rig::{Going, gate, sql};
use crate::space::Space;

/// From an environment variable, with everything that some encoding changes.
const TOKEN: &str = "cAnary/tok+en \"quoted\" <&> \\ ü?=%7";
/// From a file, in several lines.
const KEY: &str = "-----BEGIN CANARY-----\ncanary+line/one==\n\tcanary \"line\" two\n-----END CANARY-----";
/// It has the form of an error code and of a file name.
const CODE: &str = "CANARY_CODE_4711";

const WORKFLOW: &str = r#"
workflow: canary
policy: {fail_fast: false}
secrets: {TOKEN: {env: THE_TOKEN}, KEY: {file: key.txt}, CODE: {env: THE_CODE}, GONE: {env: NOT_THERE}}
nodes:
  prints: {run: 'printf "%s\n" "$TOKEN" "$KEY" "$CODE"; printf "%s\n" "$TOKEN" "$KEY" >&2', secrets: [TOKEN, KEY, CODE]}
  json: {run: 'cat planted.json', output: json, secrets: [TOKEN, KEY, CODE]}
  encodes: {run: 'for value in "$TOKEN" "$KEY"; do
      printf "x%s" "$value" | base64; printf %s "$value" | base64 -w 0; echo; printf %s "$value" | od -An -tx1 | tr -d " \n"; echo; done', secrets: [TOKEN, KEY, CODE]}
  chunks: {run: 'printf %s "$TOKEN" | dd bs=1 status=none; printf "%s" "$KEY" | dd bs=1 status=none >&2', secrets: [TOKEN, KEY, CODE]}
  writes: {run: 'cp planted.json "$SPRAG_OUTPUT"; cp planted.json "$SPRAG_CONTEXT"', secrets: [TOKEN, KEY, CODE]}
  fails: {run: 'printf "%s" "$TOKEN" >&2; exit 3', secrets: [TOKEN, KEY, CODE]}
  explains: {run: 'cp planted-error.json "$SPRAG_ERROR"; exit 4', secrets: [TOKEN, KEY, CODE]}
  lies: {run: 'printf %s "$TOKEN" > "$SPRAG_OUTPUT"; printf %s "$KEY" > "$SPRAG_CONTEXT"', secrets: [TOKEN, KEY, CODE]}
  names: {run: 'mkdir -p out && mkfifo "out/$CODE"', outputs: [out], secrets: [TOKEN, KEY, CODE]}
  starts: {run: ["./no such program of mine", "{{ 1 }}"], secrets: [TOKEN, KEY, CODE]}
  other: {run: 'cat forms; cat forms >&2; exit 5', secrets: []}
  needs-gone: {run: 'echo never >> never', secrets: [GONE]}
  after: {run: 'cat "$SPRAG_INPUT"', needs: [writes, json], secrets: [TOKEN, KEY, CODE]}
  hold: {run: 'cp planted.json "$SPRAG_OUTPUT"; printf "%s" "$TOKEN$KEY"; test -e second && exit 0; read go < gate', needs: [prints, chunks], secrets: [TOKEN, KEY, CODE]}
"#;

/// S-50 to S-54
#[test]
fn a_secret_is_nowhere() {
    let space = planted();
    let forms = forms();
    let _gate = gate(&space, "gate");
    let mut going = Going::start(command(&space, &["run"]));
    // Everything else has happened when this stands still.
    for words in ["hold: running", "names: failed", "explains: failed", "other: failed", "after: completed"] {
        if !going.heard.contains(words) {
            going.until(words);
        }
    }
    let (owner, memory) = slots(&space);
    absent(&forms, "state, while it runs", &state(&space));
    let heard = going.kill();
    absent(&forms, "standard error", heard.as_bytes());
    absent(&forms, "state, after kill -9", &state(&space));

    fs::write(space.path("second"), "").unwrap();
    let resumed = command(&space, &["resume", "--json"]).output().unwrap();
    assert_eq!(resumed.status.code(), Some(1), "{}", String::from_utf8_lossy(&resumed.stderr));
    assert!(!memory.exists(), "what `{owner}` left in memory is still there");
    absent(&forms, "resume --json", &[resumed.stdout, resumed.stderr].concat());
    absent(&forms, "state, at the end", &state(&space));
    let verbs =
        [&["show"][..], &["show", "--json"], &["events"], &["events", "--json"], &["logs"], &["logs", "--json"]];
    for verb in verbs.into_iter().chain([&["runs"][..], &["runs", "--json"]]) {
        let output = command(&space, verb).output().unwrap();
        assert!(output.status.success(), "{verb:?}: {}", String::from_utf8_lossy(&output.stderr));
        absent(&forms, verb[0], &[output.stdout, output.stderr].concat());
    }
    absent(&forms, "views", sql(&space, "SELECT * FROM nodes; SELECT * FROM attempts; SELECT * FROM runs").as_bytes());

    // The secret did arrive, and what was hidden is seen to be hidden.
    let logs = String::from_utf8(command(&space, &["logs", "@last", "prints"]).output().unwrap().stdout).unwrap();
    assert_eq!(logs, "***\n***\n***\n***\n***\n");
    let shown = command(&space, &["show", "--json"]).output().unwrap();
    let shown: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
    let node = |id: &str| shown["nodes"].as_array().unwrap().iter().find(|node| node["id"] == id).unwrap();
    assert_eq!(node("writes")["output"]["token"], "***");
    assert_eq!(node("json")["output"]["token"], "***");
    assert_eq!(shown["context"]["token"], "***");
    assert_eq!(node("fails")["error"]["message"], "***");
    assert_eq!(node("names")["error"]["code"], "SCOPE_VIOLATION");
    // A secret that is not there is the failure of who needs it, by name, and of nobody else.
    let gone = &node("needs-gone")["error"];
    assert_eq!(gone["code"], "MISSING_DEPENDENCY");
    assert!(gone["message"].as_str().unwrap().contains("secret `GONE`: the environment variable `NOT_THERE`"));
    assert!(!space.path("never").exists());
    assert_eq!(node("after")["state"], "completed");
}

fn planted() -> Space {
    let json = serde_json::json!({ "token": TOKEN, "list": [KEY, { TOKEN: CODE }] });
    let error = serde_json::json!({ "code": CODE, "message": TOKEN, "feedback": [KEY] });
    let space = Space::new().with("sprag.yaml", WORKFLOW).with("key.txt", format!("{KEY}\n"));
    let space = space.with("planted.json", json.to_string()).with("planted-error.json", error.to_string());
    space.with("forms", forms().into_iter().flat_map(|(_, form)| [form, "\n".to_owned()]).collect::<String>())
}

fn command(space: &Space, arguments: &[&str]) -> Command {
    let mut command = space.command();
    command.args(arguments).env("THE_TOKEN", TOKEN).env("THE_CODE", CODE).env("PATH", "/usr/bin:/bin");
    command
}

/// How each secret and each long line of one may look.
fn forms() -> Vec<(&'static str, String)> {
    let mut forms = Vec::new();
    for value in [TOKEN, KEY, CODE].into_iter().chain(KEY.lines().map(str::trim)) {
        let hex = |upper: bool| value.bytes().map(|byte| digits(byte, upper)).collect::<String>();
        let url = |kept: &str, upper: bool| {
            let plain = |byte: &u8| byte.is_ascii_alphanumeric() || kept.as_bytes().contains(byte);
            let one =
                |byte: u8| if plain(&byte) { char::from(byte).into() } else { format!("%{}", digits(byte, upper)) };
            value.bytes().map(one).collect::<String>()
        };
        let json = serde_json::to_string(value).unwrap();
        let base64 = base64(value);
        forms.extend([
            ("raw", value.to_owned()),
            ("hex", hex(false)),
            ("HEX", hex(true)),
            ("url", url("-._~", false)),
            ("URL", url("-._~", true)),
            ("form", url("-._*", true).replace("%20", "+")),
            ("json", json[1..json.len() - 1].to_owned()),
            ("base64", base64.clone()),
            ("base64 without its end", base64.trim_end_matches('=').to_owned()),
            ("base64 of URLs", base64.replace('+', "-").replace('/', "_")),
        ]);
    }
    forms
}

fn digits(byte: u8, upper: bool) -> String {
    if upper { format!("{byte:02X}") } else { format!("{byte:02x}") }
}

fn base64(value: &str) -> String {
    let mut child =
        Command::new("base64").args(["-w", "0"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(value.as_bytes()).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

fn absent(forms: &[(&str, String)], place: &str, bytes: &[u8]) {
    for (name, form) in forms {
        let found = bytes.windows(form.len()).position(|window| window == form.as_bytes());
        let around =
            found.map(|at| String::from_utf8_lossy(&bytes[at.saturating_sub(60)..at + form.len()]).into_owned());
        assert_eq!(around, None, "{place}: {name}");
    }
}

/// Every byte and every name under the state folder.
fn state(space: &Space) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut folders = vec![space.path(".sprag")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            bytes.extend_from_slice(path.as_os_str().as_encoded_bytes());
            if path.is_dir() {
                folders.push(path);
            } else {
                // What is removed meanwhile is not kept.
                bytes.extend(fs::read(path).unwrap_or_default());
            }
        }
    }
    bytes
}

/// Where the running process keeps the files of its attempts.
fn slots(space: &Space) -> (String, PathBuf) {
    let owner = fs::read_dir(space.path(".sprag/sprag.db.owners")).unwrap().next().unwrap().unwrap().path();
    let noted: serde_json::Value = serde_json::from_slice(&fs::read(&owner).unwrap()).unwrap();
    let folder = Path::new(noted["note"].as_str().unwrap()).to_owned();
    assert!(folder.is_dir(), "{}", folder.display());
    (owner.display().to_string(), folder)
}
