//! What commands printed, in a pipe and at a terminal.

use std::process::Command;

use super::space::Space;

/// Colours, a title, a cleared screen, bytes that are no text, a sequence without an end.
const PRINTED: &[u8] = b"\x1b[31mred\x1b[0m \x1b]0;title\x07\x1b[2J\xff\x00\x9b text\r\nm\xc3\xa9chant\x1b[31";

fn space() -> Space {
    let space = Space::new()
        .with("printed", PRINTED)
        .with("sprag.yaml", "workflow: w\nnodes: { a: { run: 'cat printed' }, b: { needs: [a], run: 'echo b' } }\n");
    assert_eq!(space.run(&["run"]).code, Some(0));
    space
}

/// R-CMD-2, R-CLI-2: data is what it is, however it is read.
#[test]
fn a_pipe_gets_the_bytes_of_the_log() {
    let space = space();
    // Longer than one read, and cut anywhere.
    let path = space.run(&["logs", "--json", "@last", "a"]).json()["logs"][0]["path"].as_str().unwrap().to_owned();
    let long = PRINTED.repeat(10_000);
    std::fs::write(path, &long).unwrap();
    for flags in [&[][..], &["-f"], &["--no-color"], &["--attempt", "1"]] {
        let output = space.command().args(["logs", "@last", "a"]).args(flags).output().unwrap();
        assert!(output.stdout == long, "{flags:?}");
        let output = space.command().env("NO_COLOR", "1").args(["logs", "@last", "a"]).args(flags).output().unwrap();
        assert!(output.stdout == long, "{flags:?}");
    }
}

/// S-25 for terminals: what a command printed is shown, and only its colours are obeyed, if they are wanted.
#[test]
fn a_terminal_gets_text_and_colours() {
    let space = space();
    let shown = |arguments: &str, variables: &[(&str, &str)]| {
        // A terminal of its own.
        let mut command = Command::new("script");
        command.args(["-qec", &format!("exec {} -q logs {arguments}", env!("CARGO_BIN_EXE_sprag")), "/dev/null"]);
        command.current_dir(space.path(".")).env_clear().env("TERM", "xterm").env("PATH", "/usr/bin:/bin");
        let output = command.envs(variables.iter().copied()).stdin(std::process::Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).replace('\r', "")
    };
    let coloured = "\u{1b}[31mred\u{1b}[0m \u{fffd} text\nm\u{e9}chant\u{1b}[0mb\n";
    let plain = "red \u{fffd} text\nm\u{e9}chantb\n";
    assert_eq!(shown("@last", &[]), coloured);
    assert_eq!(shown("-f @last", &[]), coloured);
    assert_eq!(shown("--no-color @last", &[]), plain);
    assert_eq!(shown("@last", &[("NO_COLOR", "1")]), plain);
    assert_eq!(shown("@last", &[("TERM", "dumb")]), plain);
}
