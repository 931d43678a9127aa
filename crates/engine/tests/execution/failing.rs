//! What a failed command is said to have failed with.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use sprag_core::run::Known;
use sprag_engine::exec::Program;

use crate::bed::Bed;

#[test]
fn exit_codes_and_signals_have_codes_and_messages() {
    // R-CMD-2, R-ERR-1
    let bed = Bed::new();
    for (script, expected) in [
        ("exit 7", "TOOL_ERROR: exited with code 7"),
        ("exit 75", "RATE_LIMITED: exited with code 75"),
        ("echo first >&2; printf '\\033[31mlast\\033[0m\\n\\n' >&2; exit 1", "TOOL_ERROR: last"),
        ("echo out; exit 1", "TOOL_ERROR: exited with code 1"),
        ("kill -SEGV $$", "TOOL_ERROR: was killed by signal SIGSEGV (11)"),
        ("kill -KILL $$", "UNAVAILABLE: was killed by signal SIGKILL (9)"),
    ] {
        let mut job = bed.script(script);
        job.errors =
            [("75".to_owned(), Known::RATE_LIMITED.into()), ("137".to_owned(), Known::UNAVAILABLE.into())].into();
        assert_eq!(bed.failure(&job), expected, "{script}");
    }
}

#[test]
fn what_cannot_be_started_says_why() {
    // R-ERR-1
    let bed = Bed::new();
    let write = |name: &str, text: &str, mode: u32| {
        fs::write(bed.path(name), text).unwrap();
        fs::set_permissions(bed.path(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    write("plain", "x", 0o600);
    write("no-interpreter", "#!/nowhere/sh\n", 0o700);
    write("no-program", "x", 0o700);
    for (words, expected) in [
        (&["no-such-program"][..], "MISSING_DEPENDENCY: there is no program `no-such-program` in PATH"),
        (&["./nowhere"], "MISSING_DEPENDENCY: there is no program `./nowhere`"),
        (&[], "MISSING_DEPENDENCY: `run` names no program"),
        (&[""], "MISSING_DEPENDENCY: `run` names no program"),
        (&["./plain"], "PERMISSION_DENIED: `./plain` may not be executed; `chmod +x` makes it a program"),
        (
            &["./no-interpreter"],
            "MISSING_DEPENDENCY: `./no-interpreter` exists, but the interpreter in its first line does not",
        ),
        (
            &["./no-program"],
            "PERMISSION_DENIED: `./no-program` is not a program; a script starts with a line such as `#!/bin/sh`",
        ),
    ] {
        let job = bed.job(Program::Arguments(words.iter().map(|word| (*word).to_owned()).collect()));
        assert_eq!(bed.failure(&job), expected);
    }
    let mut job = bed.script("true");
    job.folder = bed.path("nowhere");
    assert_eq!(
        bed.failure(&job),
        format!("MISSING_DEPENDENCY: the working folder `{}` does not exist", job.folder.display())
    );
    job.folder = bed.path("plain");
    assert!(bed.failure(&job).ends_with("` is not a folder"));
}

#[test]
fn what_is_too_large_or_cannot_be_said_is_read_from_the_input() {
    // R-EXPR-2
    let bed = Bed::new();
    for value in ["x".repeat(4 * 1024 * 1024), "a\0b".to_owned()] {
        let mut job = bed.script("true");
        job.environment = vec![("SPRAG_V1".into(), value)];
        let failure = bed.failure(&job);
        assert!(failure.starts_with("CONDITION_ERROR: ") && failure.contains("`SPRAG_INPUT`"), "{failure}");
    }
}
