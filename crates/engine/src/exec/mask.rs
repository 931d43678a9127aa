//! What stands between the output of an attempt and everything that is kept of it (`R-SEC-1`).

use serde_json::Value;

/// Hides the secrets of an attempt in everything that is kept of it: logs, outputs, errors, patches.
pub trait Mask: Send + Sync {
    /// A mask for bytes that arrive piece by piece, such as one output stream of a command.
    fn stream(&self) -> Box<dyn MaskStream>;

    /// A text without its secrets.
    fn text(&self, text: &str) -> String;

    /// A value without the secrets in its texts, keys and numbers.
    fn json(&self, value: Value) -> Value;
}

/// Hides secrets in bytes that arrive piece by piece; where the pieces end makes no difference to what comes out.
pub trait MaskStream: Send {
    /// Takes the next bytes and appends to `out` what can be shown already. Held back is only what may still turn out
    /// to be the beginning of a secret.
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>);

    /// Appends what was held back: nothing follows.
    fn finish(&mut self, out: &mut Vec<u8>);
}
