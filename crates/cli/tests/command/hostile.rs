//! Files that mean harm, through the whole program: exit 2, quickly, in little memory, without a panic (`R-FILE-3`).

use std::fmt::Write as _;
use std::process::Command;
use std::time::{Duration, Instant};

use super::space::{Ran, Space};

/// Runs with at most 100 MB of address space, which is more than of memory.
fn bounded(space: &Space, argument: &str) -> Ran {
    let start = Instant::now();
    let script = "ulimit -v 102400 && exec \"$0\" validate \"$1\"";
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_sprag"), argument]).current_dir(space.path("."));
    let ran = Ran::from(command.output().unwrap());
    // The bound is one second for the release build; this one is unoptimised and shares the machine.
    assert!(start.elapsed() < Duration::from_secs(10), "took {:?}", start.elapsed());
    ran
}

#[test]
fn bombs_depth_and_junk() {
    let mut laughs = String::from("workflow: w\ncontext:\n  a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..30 {
        let _ = writeln!(laughs, "  a{level}: &a{level} [{}]", vec![format!("*a{}", level - 1); 10].join(", "));
    }
    let junk: Vec<u8> =
        (0..200_000_u32).map(|at| u8::try_from(at.wrapping_mul(2_654_435_761) >> 24).unwrap()).collect();
    let cases: [(&str, Vec<u8>, &str); 9] = [
        ("laughs.yaml", laughs.into_bytes(), "TOO_LARGE"),
        ("deep.yaml", "[".repeat(100_000).into_bytes(), "TOO_DEEP"),
        ("deep.json", "{\"a\":".repeat(100_000).into_bytes(), "TOO_DEEP"),
        ("blocks.yaml", "- ".repeat(100_000).into_bytes(), "TOO_DEEP"),
        ("empty.yaml", Vec::new(), "EMPTY_FILE"),
        ("junk.yaml", junk, "NOT_TEXT"),
        ("zeros.yaml", vec![0; 100_000], "YAML_SYNTAX"),
        ("long.yaml", "a".repeat(10_000_000).into_bytes(), "WRONG_TYPE"),
        ("huge.yaml", vec![b' '; 17 * 1024 * 1024], "TOO_LARGE"),
    ];
    for (name, content, code) in cases {
        let space = Space::new().with(name, content);
        bounded(&space, name).is_refusal(code);
    }
}

#[test]
fn things_that_are_no_files() {
    let space = Space::new().with("folder/inside", "").with("sprag.yml", "");
    bounded(&space, "folder").is_refusal("FILE_UNREADABLE");
    bounded(&space, "/dev/zero").is_refusal("FILE_UNREADABLE");
    let missing = bounded(&space, "sprag.yaml");
    missing.is_refusal("FILE_NOT_FOUND");
    assert!(missing.err.contains("did you mean `sprag.yml`?"), "{}", missing.err);
    let pipe = space.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    bounded(&space, "pipe").is_refusal("FILE_UNREADABLE");
    bounded(&space, "folder/inside/deeper").is_refusal("FILE_NOT_FOUND");
}

/// S-25 for terminals: what a file holds is shown, never obeyed.
#[test]
fn escapes_in_a_file_do_not_reach_the_terminal() {
    let text = "workflow: w\nnodes:\n  a:\n    run: x\n    \"b\\e[31m\\u202Ec\": 1\n    needs: [\"\\e]0;title\\a\"]\n";
    let space = Space::new().with("sprag.yaml", text);
    let ran = space.run(&["validate"]);
    ran.is_refusal("UNKNOWN_KEY");
    assert!(
        !ran.err.contains('\u{1b}') && !ran.err.contains('\u{202e}') && !ran.err.contains('\u{7}'),
        "{:?}",
        ran.err
    );
    assert!(ran.err.contains("\\u{1b}"), "{}", ran.err);
}
