//! What a command gets from the one who started sprag (`R-CMD-1`).

use crate::space::Space;

/// R-CMD-1: exactly the variables that are allowed or named, and nothing else of whoever started sprag.
#[test]
fn a_command_gets_what_is_named() {
    let space = Space::new().with(
        "sprag.yaml",
        "
workflow: variables
secrets: {TOKEN: {env: THE_TOKEN}}
params: {who: {type: string, default: me}}
nodes:
  list: {run: [/usr/bin/env], env: {OWN: '1'}, pass_env: [PASSED, UNSET], secrets: [TOKEN]}
  shell: {run: 'echo {{ params.who }} > /dev/null; exec /usr/bin/env'}
",
    );
    let mut command = space.command();
    for name in ["LANG", "TZ", "HOME", "USER", "PASSED", "OTHER", "LD_PRELOAD_X", "SPRAG_STRAY", "SPRAG_MODEL"] {
        command.env(name, "value");
    }
    let output = command.env("PATH", "/usr/bin:/bin").env("THE_TOKEN", "the token").arg("run").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let shown = space.run(&["show", "--json"]).json();
    let names = |id: &str| {
        let node = shown["nodes"].as_array().unwrap().iter().find(|node| node["id"] == id).unwrap();
        let text = node["output"].as_str().unwrap();
        let mut names: Vec<_> = text.lines().map(|line| line.split_once('=').unwrap().0.to_owned()).collect();
        names.sort_unstable();
        names
    };
    let own = [
        "SPRAG_ATTEMPT",
        "SPRAG_ATTEMPT_ID",
        "SPRAG_CONTEXT",
        "SPRAG_ERROR",
        "SPRAG_IDEMPOTENCY_KEY",
        "SPRAG_INPUT",
        "SPRAG_NODE_ID",
        "SPRAG_OUTPUT",
        "SPRAG_OWNER",
        "SPRAG_RUN_ID",
    ];
    let mut expected = ["LANG", "OWN", "PASSED", "PATH"].iter().chain(&own).copied().collect::<Vec<_>>();
    expected.extend(["TOKEN", "TRACEPARENT", "TZ"]);
    assert_eq!(names("list"), expected);
    // The shell adds one of its own.
    let mut expected = ["LANG", "PATH", "PWD"].iter().chain(&own).copied().collect::<Vec<_>>();
    expected.extend(["SPRAG_V1", "TRACEPARENT", "TZ"]);
    assert_eq!(names("shell"), expected);
}
