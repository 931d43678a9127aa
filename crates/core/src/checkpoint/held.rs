//! A value that a checkpoint holds itself, or knows by the digest under which the blob store does (`R-CP-2`).

use std::io;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::BLOB_OVER_BYTES;
use crate::hash::Digest;

/// A value, or where it is. The tag tells the two apart whatever a value looks like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Held {
    /// Here, and perhaps elsewhere in memory too.
    Inline(Arc<Value>),
    /// In the blob store, as JSON.
    Blob(Digest),
}

/// A value on its way to the blob store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    /// Its digest.
    pub digest: Digest,
    /// The value as JSON.
    pub bytes: Vec<u8>,
}

impl Blob {
    /// A value as a blob. Keys keep their order, since expressions see it.
    pub fn of(value: &Value) -> Self {
        let bytes = value.to_string().into_bytes();
        Self { digest: Digest::of(&bytes), bytes }
    }
}

impl Held {
    /// The value, if it is here.
    pub fn inline(&self) -> Option<&Value> {
        self.shared().map(|value| &**value)
    }

    /// The value, if it is here, to share.
    pub const fn shared(&self) -> Option<&Arc<Value>> {
        match self {
            Self::Inline(value) => Some(value),
            Self::Blob(_) => None,
        }
    }

    /// The digest of a value that is elsewhere.
    pub const fn blob(&self) -> Option<Digest> {
        match self {
            Self::Inline(_) => None,
            Self::Blob(digest) => Some(*digest),
        }
    }

    /// Takes the value in from the bytes of its blob. Bytes of another digest, or that are no JSON, change nothing.
    pub fn fill(&mut self, bytes: &[u8]) -> Result<(), String> {
        if let Self::Blob(digest) = self {
            let found = Digest::of(bytes);
            if found != *digest {
                return Err(format!("the blob {digest} holds something else ({found})"));
            }
            let value: Value = serde_json::from_slice(bytes).map_err(|error| format!("the blob {digest}: {error}"))?;
            *self = Self::from(value);
        }
        Ok(())
    }

    /// Leaves the digest in the place of a value that is too long to be here; the value goes to `blobs`.
    pub(super) fn move_out(&mut self, blobs: &mut Vec<Blob>) {
        if let Self::Inline(value) = self
            && json_bytes(value) > BLOB_OVER_BYTES
        {
            let blob = Blob::of(value);
            *self = Self::Blob(blob.digest);
            blobs.push(blob);
        }
    }
}

impl From<Value> for Held {
    fn from(value: Value) -> Self {
        Self::Inline(Arc::new(value))
    }
}

impl From<Arc<Value>> for Held {
    fn from(value: Arc<Value>) -> Self {
        Self::Inline(value)
    }
}

/// How long a value is as JSON, without writing it anywhere.
pub fn json_bytes(value: &impl Serialize) -> u64 {
    struct Counted(u64);
    impl io::Write for Counted {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.saturating_add(bytes.len() as u64);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counted = Counted(0);
    // What has no JSON form is never stored either; what was counted until then will do.
    drop(serde_json::to_writer(&mut counted, value));
    counted.0
}
