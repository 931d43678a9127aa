//! The mask of an attempt: everything that is kept of it goes through here first (`R-SEC-1`).

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;
use sprag_core::run::{Known, NodeError};

use super::forms::forms;
use super::secret::Secret;
use super::stream::{Forms, Stream};
use crate::exec::{Mask, MaskStream};

/// Replaces secrets by `***`, in the forms that programs commonly give them: as they are, base64 (also inside of
/// something longer), hexadecimal, percent-encoded, escaped in JSON, and each line of several.
///
/// Secrets that overlap or touch are replaced together, so that no rest of one is left.
#[derive(Debug, Clone)]
pub struct Masker {
    /// Nothing when there is nothing to hide.
    forms: Option<Arc<Forms>>,
}

impl Masker {
    /// A mask that hides these secrets. It fails only when they are too many to look for.
    ///
    /// This is the expensive part: some milliseconds for each KiB of secrets. Clones and streams share the result.
    pub fn new<'secret>(secrets: impl IntoIterator<Item = &'secret Secret>) -> Result<Self, NodeError> {
        let all: BTreeSet<String> = secrets.into_iter().flat_map(|secret| forms(secret.expose())).collect();
        if all.is_empty() {
            return Ok(Self { forms: None });
        }
        let forms = Forms::new(all.iter().map(String::as_str)).map_err(|_| {
            NodeError::new(Known::INTERNAL, "the node's secrets are too many or too large to be masked")
        })?;
        Ok(Self { forms: Some(Arc::new(forms)) })
    }
}

impl Mask for Masker {
    fn stream(&self) -> Box<dyn MaskStream> {
        match &self.forms {
            Some(forms) => Box::new(Stream::new(Arc::clone(forms))),
            None => Box::new(Open),
        }
    }

    fn text(&self, text: &str) -> String {
        let Some(forms) = &self.forms else { return text.to_owned() };
        let mut stream = Stream::new(Arc::clone(forms));
        let mut masked = Vec::with_capacity(text.len());
        stream.push(text.as_bytes(), &mut masked);
        stream.finish(&mut masked);
        // All forms are whole characters, so what is left between them is, too.
        String::from_utf8(masked).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    /// A number that shows a secret becomes a text. Of keys that are masked alike, the last one's value is kept.
    fn json(&self, value: Value) -> Value {
        if self.forms.is_none() {
            return value;
        }
        match value {
            Value::String(text) => Value::String(self.text(&text)),
            Value::Array(items) => items.into_iter().map(|item| self.json(item)).collect(),
            Value::Object(map) => map.into_iter().map(|(key, value)| (self.text(&key), self.json(value))).collect(),
            Value::Number(number) => {
                let text = number.to_string();
                let masked = self.text(&text);
                if masked == text { Value::Number(number) } else { Value::String(masked) }
            }
            Value::Null | Value::Bool(_) => value,
        }
    }
}

/// The mask of a stream when there is nothing to hide.
struct Open;

impl MaskStream for Open {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(chunk);
    }

    fn finish(&mut self, _: &mut Vec<u8>) {}
}
