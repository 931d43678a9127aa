//! What a command that succeeded produced: its output, its patch of the context, what it cost (`R-CMD-1`).

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use sprag_core::file::OutputFormat;
use sprag_core::run::{Known, NodeError, Product, Usage};

use super::capture::{Capture, OUTPUT_BYTES_MAX};
use super::job::CommandJob;
use super::slot::{Files, read_written};

/// The product of a command that exited with 0.
pub fn of(job: &CommandJob, files: &Files, capture: &Capture) -> Result<Product, NodeError> {
    let output = match written(job, "SPRAG_OUTPUT", &files.output)? {
        Some(output) => output,
        None => streamed(job, capture)?,
    };
    let patch = written(job, "SPRAG_CONTEXT", &files.context)?;
    if patch.as_ref().is_some_and(|patch| !patch.is_object()) {
        return Err(invalid("the file of `SPRAG_CONTEXT` is not a JSON object, so it is no patch of the context"));
    }
    Ok(Product { usage: usage(&output), output: Arc::new(output), patch: patch.map(Arc::new), ..Product::default() })
}

/// The JSON in a file that the command may have written.
fn written(job: &CommandJob, variable: &str, path: &Path) -> Result<Option<Value>, NodeError> {
    let bytes = read_written(path).map_err(|why| invalid(format!("the file of `{variable}` is not read: {why}")))?;
    let Some(bytes) = bytes else { return Ok(None) };
    match serde_json::from_slice(&bytes) {
        Ok(value) => Ok(Some(masked(job, value))),
        Err(error) => Err(invalid(format!("the file of `{variable}` is not JSON: {error}"))),
    }
}

/// Standard output, as the node declares it.
fn streamed(job: &CommandJob, capture: &Capture) -> Result<Value, NodeError> {
    let (bytes, cut) = capture.output();
    match job.output {
        OutputFormat::Text if bytes.is_empty() => Ok(Value::Null),
        OutputFormat::Text => Ok(Value::String(text(bytes, cut))),
        OutputFormat::Json if cut => Err(invalid(format!(
            "standard output is longer than {} MiB; write the JSON to the file that `SPRAG_OUTPUT` names",
            OUTPUT_BYTES_MAX / 1024 / 1024
        ))),
        OutputFormat::Json => match serde_json::from_slice(bytes) {
            Ok(value) => Ok(masked(job, value)),
            Err(error) => Err(invalid(format!("standard output is not JSON, as `output: json` says: {error}"))),
        },
    }
}

/// The text of standard output, without the line breaks at its end and without half a character.
fn text(bytes: &[u8], cut: bool) -> String {
    let whole = match std::str::from_utf8(bytes) {
        // A character that is not over yet is no error where the rest was cut.
        Err(error) if cut && error.error_len().is_none() => &bytes[..error.valid_up_to()],
        _ => bytes,
    };
    let mut text = String::from_utf8_lossy(whole).into_owned();
    text.truncate(text.trim_end_matches(['\n', '\r']).len());
    text
}

fn masked(job: &CommandJob, value: Value) -> Value {
    match &job.mask {
        Some(mask) => mask.json(value),
        None => value,
    }
}

/// What an output says it cost. A key of that name which says something else is simply a part of the output.
fn usage(output: &Value) -> Option<Usage> {
    let said = output.get("usage")?.as_object()?;
    let tokens = |name: &str| said.get(name).map_or(Some(0), Value::as_u64);
    let money = said.get("usd").map_or(Some(0.0), Value::as_f64).filter(|usd| usd.is_finite() && *usd >= 0.0);
    let usage = Usage { tokens_in: tokens("tokens_in")?, tokens_out: tokens("tokens_out")?, usd: money? };
    ["tokens_in", "tokens_out", "usd"].iter().any(|name| said.contains_key(*name)).then_some(usage)
}

fn invalid(message: impl Into<String>) -> NodeError {
    NodeError::new(Known::INVALID_OUTPUT, message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Usage, text, usage};

    #[test]
    fn an_output_may_say_what_it_cost() {
        // R-CMD-1
        let of = |said| usage(&json!({ "usage": said }));
        assert_eq!(
            of(json!({ "tokens_in": 3, "usd": 0.5, "model": "x" })),
            Some(Usage { tokens_in: 3, tokens_out: 0, usd: 0.5 })
        );
        assert_eq!(of(json!({ "usd": 2 })).map(|usage| usage.usd), Some(2.0));
        for other in [json!("how to call it"), json!({}), json!({ "tokens_in": -1 }), json!({ "usd": -0.1 })] {
            assert_eq!(of(other.clone()), None, "{other}");
        }
        assert_eq!((usage(&json!(null)), usage(&json!([{ "usd": 1 }]))), (None, None));
    }

    #[test]
    fn text_ends_with_a_whole_character() {
        // R-CMD-1
        assert_eq!(text(b" a\n\nb \r\n\n", false), " a\n\nb ");
        assert_eq!(text("aé".as_bytes(), true), "aé");
        assert_eq!(text(&"aé".as_bytes()[..2], true), "a");
        assert_eq!(text(&"aé".as_bytes()[..2], false), "a\u{fffd}");
        assert_eq!(text(b"\xffb", true), "\u{fffd}b");
    }
}
