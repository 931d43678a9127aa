//! What a command writes: output, log, and secrets in both.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use serde_json::{Value, json};
use sprag_core::file::OutputFormat;
use sprag_engine::exec::{Mask, MaskStream};

use crate::bed::Bed;

#[test]
fn standard_output_is_the_output() {
    // R-CMD-1
    let bed = Bed::new();
    for (script, expected) in [
        ("true", Value::Null),
        ("echo", json!("")),
        ("printf ' a\\nb\\n\\n'", json!(" a\nb")),
        ("printf '\\377\\000x'", json!("\u{fffd}\0x")),
        ("echo err >&2", Value::Null),
        ("echo '{}'", json!("{}")),
    ] {
        assert_eq!(*bed.execute(&bed.script(script)).unwrap().output, expected, "{script}");
    }
}

#[test]
fn declared_json_is_parsed() {
    // R-CMD-1
    let bed = Bed::new();
    let job = |script: &str| {
        let mut job = bed.script(script);
        job.output = OutputFormat::Json;
        job
    };
    assert_eq!(*bed.execute(&job("echo ' {\"a\": [1]} '")).unwrap().output, json!({ "a": [1] }));
    for (script, problem) in [
        ("true", "standard output is not JSON, as `output: json` says: EOF while parsing a value at line 1 column 0"),
        ("echo '{\"a\": }'", "standard output is not JSON, as `output: json` says: expected value at line 1 column 7"),
        (
            "head -c 2000000 /dev/zero | tr '\\0' 1",
            "standard output is longer than 1 MiB; write the JSON to the file that `SPRAG_OUTPUT` names",
        ),
    ] {
        assert_eq!(bed.failure(&job(script)), format!("INVALID_OUTPUT: {problem}"));
    }
}

#[test]
fn both_streams_are_logged() {
    // R-CMD-2, R-CMD-3
    let bed = Bed::new();
    bed.execute(&bed.script("true")).unwrap();
    assert!(!bed.path("attempt.log").exists(), "a log is created by its first byte");
    bed.execute(&bed.script("echo out; echo err >&2")).unwrap();
    assert_eq!(bed.log(), "out\nerr\n");
    assert_eq!(bed.path("attempt.log").metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_log_that_cannot_be_written_fails_nothing() {
    // R-CMD-2
    let bed = Bed::new();
    let mut job = bed.script("echo out");
    job.log = "/proc/nowhere/attempt.log".into();
    assert_eq!(*bed.execute(&job).unwrap().output, "out");
    job.log = "/dev/full".into();
    assert_eq!(*bed.execute(&job).unwrap().output, "out");
}

#[test]
fn much_output_on_both_streams_blocks_nobody() {
    // R-CMD-2
    let bed = Bed::new();
    let job = bed.script(
        "head -c 10000000 /dev/zero | tr '\\0' o & head -c 10000000 /dev/zero | tr '\\0' e >&2; wait; echo; echo end >&2; exit 1",
    );
    assert_eq!(bed.failure(&job).chars().filter(|letter| *letter == 'e').count(), 2_000, "one long line, cut");
    assert_eq!(fs::metadata(bed.path("attempt.log")).unwrap().len(), 20_000_005);
    let long = bed.execute(&bed.script("head -c 1000000 /dev/zero | tr '\\0' o; echo")).unwrap();
    assert_eq!(long.output.as_str().unwrap().len(), 1_000_000);
    let cut = bed.execute(&bed.script("printf x; yes é | head -c 3000000 | tr -d '\\n'")).unwrap();
    let text = cut.output.as_str().unwrap();
    assert!(text.len() <= 1024 * 1024 && text.len() > 1024 * 1024 - 2 && text.ends_with('é'));
}

#[test]
fn random_bytes_are_kept_as_they_are_in_the_log() {
    // R-CMD-2
    let bed = Bed::new();
    fs::write(bed.path("bytes"), (0..=255).cycle().take(100_000).collect::<Vec<u8>>()).unwrap();
    bed.execute(&bed.script("cat bytes")).unwrap();
    assert_eq!(fs::read(bed.path("attempt.log")).unwrap(), fs::read(bed.path("bytes")).unwrap());
}

const SECRET: &str = "hunter2";

/// Hides one word, and holds back what may become it.
struct Toy;

impl Mask for Toy {
    fn stream(&self) -> Box<dyn MaskStream> {
        Box::new(ToyStream(Vec::new()))
    }

    fn text(&self, text: &str) -> String {
        text.replace(SECRET, "***")
    }

    fn json(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(&text)),
            Value::Array(list) => list.into_iter().map(|one| self.json(one)).collect(),
            Value::Object(map) => map.into_iter().map(|(key, one)| (self.text(&key), self.json(one))).collect(),
            other => other,
        }
    }
}

struct ToyStream(Vec<u8>);

impl MaskStream for ToyStream {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        self.0.extend_from_slice(chunk);
        let text = Toy.text(&String::from_utf8_lossy(&self.0));
        let held = (1..SECRET.len()).rev().find(|length| text.ends_with(&SECRET[..*length])).unwrap_or(0);
        out.extend_from_slice(&text.as_bytes()[..text.len() - held]);
        self.0 = SECRET.as_bytes()[..held].to_vec();
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.0);
    }
}

#[test]
fn secrets_are_hidden_in_all_that_is_kept() {
    // R-SEC-1
    let bed = Bed::new();
    let job = |script: &str, output| {
        let mut job = bed.script(script);
        job.mask = Some(Arc::new(Toy));
        job.secrets = vec![("TOKEN".into(), SECRET.into())];
        job.output = output;
        job
    };
    // In two pieces, with a process in between, so that it arrives in two reads more often than not.
    let script = "printf '%s' \"a ${TOKEN%ter2}\"; cat /dev/null; echo \"${TOKEN#hun} hun\"; echo \"$TOKEN\" >&2";
    assert_eq!(*bed.execute(&job(script, OutputFormat::Text)).unwrap().output, "a *** hun");
    assert!(bed.log().contains("a *** hun\n") && bed.log().contains("***\n") && !bed.log().contains(SECRET));
    let product = bed.execute(&job("printf '{\"%s\": [\"x%s\"]}' $TOKEN $TOKEN", OutputFormat::Json)).unwrap();
    assert_eq!(*product.output, json!({ "***": ["x***"] }));
    let script = "printf '{\"a\": \"%s\"}' $TOKEN | tee $SPRAG_OUTPUT > $SPRAG_CONTEXT";
    let product = bed.execute(&job(script, OutputFormat::Text)).unwrap();
    assert_eq!((&*product.output, product.patch.as_deref()), (&json!({ "a": "***" }), Some(&json!({ "a": "***" }))));
    let failure = bed.failure(&job("echo \"no $TOKEN here\" >&2; exit 1", OutputFormat::Text));
    assert_eq!(failure, "TOOL_ERROR: no *** here");
    let script = "printf '{\"message\": \"%s\", \"feedback\": \"%s\"}' $TOKEN $TOKEN > $SPRAG_ERROR; exit 1";
    let error = bed.execute(&job(script, OutputFormat::Text)).unwrap_err();
    assert_eq!((error.message.as_str(), error.feedback[0].text.as_str()), ("***", "***"));
}
