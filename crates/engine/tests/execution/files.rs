//! The four files.

use std::fs;

use serde_json::json;
use sprag_core::run::{Feedback, Grade, Severity, Usage};

use crate::bed::Bed;

#[test]
fn a_command_reads_its_input_and_writes_output_and_patch() {
    // R-CMD-1
    let bed = Bed::new();
    let mut job = bed.script(
        r#"echo "for the log"
        printf '{"seen": %s, "usage": {"tokens_in": 7, "usd": 0.25}}' "$(cat "$SPRAG_INPUT")" > "$SPRAG_OUTPUT"
        echo '{"a": {"b": null}}' > "$SPRAG_CONTEXT"
        echo '{"code": "IGNORED"}' > "$SPRAG_ERROR""#,
    );
    job.input = br#"{"params": {"n": 1}}"#.to_vec();
    let product = bed.execute(&job).unwrap();
    let usage = json!({ "tokens_in": 7, "usd": 0.25 });
    assert_eq!(*product.output, json!({ "seen": { "params": { "n": 1 } }, "usage": usage }));
    assert_eq!(product.patch.as_deref(), Some(&json!({ "a": { "b": null } })));
    assert_eq!(product.usage, Some(Usage { tokens_in: 7, tokens_out: 0, usd: 0.25 }));
    assert_eq!(bed.log(), "for the log\n");
    assert_eq!(fs::read_dir(bed.slots.path()).unwrap().count(), 0, "R-CMD-3: nothing is left of the attempt");
}

#[test]
fn files_that_cannot_be_used_say_why() {
    // R-CMD-1
    let bed = Bed::new();
    for (script, message) in [
        (
            "echo '{' > $SPRAG_OUTPUT",
            "the file of `SPRAG_OUTPUT` is not JSON: EOF while parsing an object at line 2 column 0",
        ),
        (": > $SPRAG_OUTPUT", "the file of `SPRAG_OUTPUT` is not JSON: EOF while parsing a value at line 1 column 0"),
        ("mkfifo $SPRAG_OUTPUT", "the file of `SPRAG_OUTPUT` is not read: it is not a regular file"),
        ("mkdir $SPRAG_OUTPUT", "the file of `SPRAG_OUTPUT` is not read: it is not a regular file"),
        ("ln -s /etc/passwd $SPRAG_OUTPUT", "the file of `SPRAG_OUTPUT` is not read: it is a link"),
        ("ln -s nowhere $SPRAG_OUTPUT", "the file of `SPRAG_OUTPUT` is not read: it is a link"),
        ("truncate -s 17M $SPRAG_OUTPUT", "the file of `SPRAG_OUTPUT` is not read: it is larger than 1 MiB"),
        (
            "truncate -s 8E $SPRAG_CONTEXT || truncate -s 1T $SPRAG_CONTEXT",
            "the file of `SPRAG_CONTEXT` is not read: it is larger than 1 MiB",
        ),
        ("echo x > $SPRAG_CONTEXT", "the file of `SPRAG_CONTEXT` is not JSON: expected value at line 1 column 1"),
        (
            "echo [] > $SPRAG_CONTEXT",
            "the file of `SPRAG_CONTEXT` is not a JSON object, so it is no patch of the context",
        ),
    ] {
        assert_eq!(bed.failure(&bed.script(script)), format!("INVALID_OUTPUT: {message}"), "{script}");
    }
    assert_eq!(fs::read_dir(bed.slots.path()).unwrap().count(), 0);
}

#[test]
fn a_failure_can_be_explained() {
    // R-CMD-1
    let bed = Bed::new();
    let job = bed.script(
        r#"printf %s '{"code": "NO_SOURCE", "message": "two lines\nof text", "grade": "D", "more": 1,
            "feedback": ["name it", {"severity": "minor", "text": "shorter"}]}' > $SPRAG_ERROR; exit 3"#,
    );
    let error = bed.execute(&job).unwrap_err();
    assert_eq!((error.code.as_str(), error.message.as_str()), ("NO_SOURCE", "two lines\nof text"));
    assert_eq!(error.grade, Some(Grade::D));
    let piece = |severity, text: &str| Feedback { severity, text: text.into() };
    assert_eq!(error.feedback, [piece(Severity::Critical, "name it"), piece(Severity::Minor, "shorter")]);
    let error = bed.execute(&bed.script(r#"echo '{"feedback": "once more"}' > $SPRAG_ERROR; exit 3"#)).unwrap_err();
    assert_eq!(error.feedback, [piece(Severity::Critical, "once more")]);
    assert_eq!(error.to_string(), "TOOL_ERROR: exited with code 3");
}

#[test]
fn a_bad_explanation_gives_way_to_the_exit_code() {
    // R-CMD-1, R-CMD-2
    let bed = Bed::new();
    for (written, problem) in [
        ("{", "it is not JSON: EOF while parsing an object at line 2 column 0"),
        ("3", "it is not a JSON object"),
        (r#"{"code": "low"}"#, "`low` is not an error code"),
        (r#"{"message": 1}"#, "`message` is not a text"),
        (r#"{"grade": "E"}"#, "`grade` is none of A, B, C, D, F"),
        (r#"{"feedback": [1]}"#, "`feedback` is neither a text nor a list of `{severity, text}`"),
    ] {
        let script = format!("echo no disk >&2; echo '{written}' > $SPRAG_ERROR; exit 1");
        let expected = format!("TOOL_ERROR: no disk (in the file of `SPRAG_ERROR`: {problem})");
        assert_eq!(bed.failure(&bed.script(&script)), expected);
    }
    let job = bed.script("mkfifo $SPRAG_ERROR; exit 1");
    let expected = "TOOL_ERROR: exited with code 1 (in the file of `SPRAG_ERROR`: it is not a regular file)";
    assert_eq!(bed.failure(&job), expected);
}

#[test]
fn a_command_may_even_remove_its_folder() {
    // R-CMD-3
    let bed = Bed::new();
    assert_eq!(*bed.execute(&bed.script("rm -r ${SPRAG_INPUT%/*}; echo done")).unwrap().output, "done");
    assert_eq!(*bed.execute(&bed.script("rm -r ${SPRAG_INPUT%/*/*}; echo done")).unwrap().output, "done");
    assert_eq!(*bed.execute(&bed.script("cat $SPRAG_INPUT")).unwrap().output, "{}");
}
