//! Definitions as they are stored with runs: the compiled form, and the text it came from, so that a later release that
//! compiles differently can read the text again.

use std::io::{Read as _, Write as _};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sprag_core::definition::{Definition, STORED_VERSION};
use sprag_core::file::{Duration, Policy, Scheduling};
use sprag_core::hash::Digest;
use sprag_core::limits::Limits;
use sprag_core::load::load;
use sprag_store::Store;

use crate::error::EngineError;

/// The first bytes of what is stored, before anything is unpacked.
const MAGIC: &[u8; 8] = b"spragdef";

/// Fast rather than small: a definition is written once and read at each resume.
const LEVEL: i32 = 1;

/// What stands before the compiled form.
#[derive(Serialize, Deserialize)]
struct Head {
    /// The version of the compiled form.
    version: u32,
    /// The text it was compiled from; none for a workflow made in code.
    source: Option<String>,
    /// What the person who started the run wanted otherwise.
    overrides: Overrides,
}

/// What whoever starts a run wants otherwise than the file says. It changes how the run behaves, not what it is, so the
/// graph hash stays the file's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overrides {
    /// Whether a wave ends before the next starts.
    pub scheduling: Option<Scheduling>,
    /// How many nodes run at once.
    pub parallel: Option<u32>,
    /// How long the run may take, in milliseconds.
    pub deadline_ms: Option<u64>,
}

impl Overrides {
    /// Puts them into the policy.
    pub fn apply(&self, policy: &mut Policy) {
        policy.scheduling = self.scheduling.or(policy.scheduling);
        policy.max_parallelism = self.parallel.or(policy.max_parallelism);
        policy.deadline = self.deadline_ms.map(Duration::from_millis).or(policy.deadline);
    }
}

/// Stores a definition and says under which digest.
pub fn put(
    store: &Store,
    definition: &Definition,
    source: Option<&str>,
    overrides: Overrides,
) -> Result<Digest, EngineError> {
    let bytes = pack(definition, source, overrides).map_err(EngineError::definition)?;
    Ok(store.blobs.put(&bytes)?)
}

/// Reads a stored definition.
pub fn get(store: &Store, digest: Digest) -> Result<Arc<Definition>, EngineError> {
    let Some(bytes) = store.blobs.get(digest)? else {
        return Err(EngineError::definition(format!("it is not in the store (digest {digest})")));
    };
    unpack(&bytes).map(Arc::new).map_err(EngineError::definition)
}

fn pack(definition: &Definition, source: Option<&str>, overrides: Overrides) -> Result<Vec<u8>, String> {
    let head = Head { version: STORED_VERSION, source: source.map(str::to_owned), overrides };
    let head = serde_json::to_vec(&head).map_err(|error| error.to_string())?;
    let fail = |error: std::io::Error| error.to_string();
    let mut packed = MAGIC.to_vec();
    let mut encoder = zstd::Encoder::new(&mut packed, LEVEL).map_err(fail)?;
    encoder.write_all(&(head.len() as u64).to_be_bytes()).map_err(fail)?;
    encoder.write_all(&head).map_err(fail)?;
    definition.write_to(&mut encoder)?;
    encoder.finish().map_err(fail)?;
    Ok(packed)
}

fn unpack(bytes: &[u8]) -> Result<Definition, String> {
    let body = bytes.strip_prefix(MAGIC.as_slice()).ok_or("it is no stored workflow")?;
    let fail = |error: std::io::Error| error.to_string();
    let mut decoder = zstd::Decoder::new(body).map_err(fail)?;
    let mut length = [0; 8];
    decoder.read_exact(&mut length).map_err(fail)?;
    let mut head = Vec::new();
    decoder.by_ref().take(u64::from_be_bytes(length)).read_to_end(&mut head).map_err(fail)?;
    let head: Head = serde_json::from_slice(&head).map_err(|error| error.to_string())?;
    if head.version == STORED_VERSION {
        let mut compiled = Vec::new();
        decoder.read_to_end(&mut compiled).map_err(fail)?;
        return Definition::from_bytes(&compiled);
    }
    let other = format!("another release of sprag compiled it (format {}, not {STORED_VERSION})", head.version);
    let Some(source) = head.source else {
        return Err(format!("{other}, and it was made in code"));
    };
    // It was accepted once, so no limit of today may keep it from going on.
    let loaded =
        load(&source, &Limits::none()).map_err(|_| format!("{other}, and its text is not accepted any more"))?;
    let mut definition = loaded.definition;
    head.overrides.apply(&mut definition.policy);
    Ok(definition)
}

#[cfg(test)]
mod tests {
    use super::{Overrides, get, put};
    use sprag_core::limits::Limits;
    use sprag_core::load::load;
    use sprag_store::Store;

    #[test]
    fn a_stored_workflow_is_read_back_and_anything_else_is_refused() {
        let text = "workflow: w\nnodes:\n  a: {run: echo}\n  b: {needs: [a], noop: }\n";
        let definition = load(text, &Limits::default()).unwrap().definition;
        let store = Store::memory();
        let digest = put(&store, &definition, Some(text), Overrides::default()).unwrap();
        assert_eq!(put(&store, &definition, Some(text), Overrides::default()).unwrap(), digest);
        assert_eq!(*get(&store, digest).unwrap(), definition);
        let other = store.blobs.put(b"spragdef and nothing").unwrap();
        assert!(get(&store, other).unwrap_err().to_string().contains("cannot be read"));
        assert!(get(&store, sprag_core::hash::Digest([7; 32])).is_err());
    }
}
