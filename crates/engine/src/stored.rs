//! Definitions as they are stored with runs: the compiled form, and the texts it came from, so that a later release that
//! compiles differently can read the texts again.

use std::collections::BTreeMap;
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

/// The text of a workflow file, and of the sub-workflow files it names, by the names it uses.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Its text.
    pub text: String,
    /// What it names; files that several others name are shared.
    pub files: BTreeMap<String, Arc<Source>>,
}

impl Source {
    /// Compiles the texts again. They were accepted once, so no limit of today may keep them from going on.
    fn compiled(&self) -> Result<Definition, String> {
        let loaded = load(&self.text, &Limits::none()).map_err(|_| "its text is not accepted any more")?;
        let mut definition = loaded.definition;
        let mut files = BTreeMap::new();
        for name in definition.sub_workflow_files() {
            let file = self.files.get(name).ok_or_else(|| format!("the text of `{name}` was not stored"))?;
            files.insert(name.to_owned(), Arc::new(file.compiled()?));
        }
        if !files.is_empty() {
            definition.link(files);
        }
        Ok(definition)
    }
}

/// What stands before the compiled form.
#[derive(Serialize, Deserialize)]
struct Head {
    /// The version of the compiled form.
    version: u32,
    /// What it was compiled from; nothing for a workflow made in code.
    source: Option<Source>,
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
    source: Option<&Source>,
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

fn pack(definition: &Definition, source: Option<&Source>, overrides: Overrides) -> Result<Vec<u8>, String> {
    packed(&Head { version: STORED_VERSION, source: source.cloned(), overrides }, definition)
}

fn packed(head: &Head, definition: &Definition) -> Result<Vec<u8>, String> {
    let head = serde_json::to_vec(head).map_err(|error| error.to_string())?;
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
    let mut definition = source.compiled().map_err(|why| format!("{other}, and {why}"))?;
    head.overrides.apply(&mut definition.policy);
    Ok(definition)
}

#[cfg(test)]
mod tests {
    use super::{Arc, BTreeMap, Definition, Head, Overrides, Source, get, pack, put, unpack};
    use sprag_core::limits::Limits;
    use sprag_core::load::load;
    use sprag_store::Store;

    fn source(text: &str, files: &[(&str, &Arc<Source>)]) -> Source {
        let files = files.iter().map(|(name, file)| ((*name).to_owned(), Arc::clone(file))).collect();
        Source { text: text.into(), files }
    }

    /// What another release has stored: its compiled form says nothing to this one.
    fn foreign(definition: &Definition, source: Option<Source>, overrides: Overrides) -> Vec<u8> {
        let head = Head { version: 1, source, overrides };
        super::packed(&head, definition).unwrap()
    }

    #[test]
    fn a_stored_workflow_is_read_back_and_anything_else_is_refused() {
        let text = "workflow: w\nnodes:\n  a: {run: echo}\n  b: {needs: [a], noop: }\n";
        let definition = load(text, &Limits::default()).unwrap().definition;
        let source = source(text, &[]);
        let store = Store::memory();
        let digest = put(&store, &definition, Some(&source), Overrides::default()).unwrap();
        assert_eq!(put(&store, &definition, Some(&source), Overrides::default()).unwrap(), digest);
        assert_eq!(*get(&store, digest).unwrap(), definition);
        let other = store.blobs.put(b"spragdef and nothing").unwrap();
        assert!(get(&store, other).unwrap_err().to_string().contains("cannot be read"));
        assert!(get(&store, sprag_core::hash::Digest([7; 32])).is_err());
    }

    #[test]
    fn another_release_compiles_the_texts_again() {
        // R-GROW-1: with every file that it names
        let leaf = Arc::new(source("workflow: leaf\nnodes: { a: { run: echo } }\n", &[]));
        let middle = Arc::new(source(
            "workflow: middle\nnodes: { a: { workflow: leaf.yaml }, b: { noop: } }\n",
            &[("leaf.yaml", &leaf)],
        ));
        let text = "workflow: w\nnodes:\n  a: { workflow: m.yaml }\n  b: { map: { over: '[1]', node: { workflow: l.yaml } } }\n";
        let source = source(text, &[("m.yaml", &middle), ("l.yaml", &leaf)]);
        let definition = source.compiled().unwrap();
        assert_eq!(definition.files["m.yaml"].files["leaf.yaml"], definition.files["l.yaml"]);
        let same = pack(&definition, Some(&source), Overrides::default()).unwrap();
        assert_eq!(unpack(&same).unwrap(), definition);
        let overrides = Overrides { parallel: Some(3), ..Overrides::default() };
        let again = unpack(&foreign(&definition, Some(source.clone()), overrides)).unwrap();
        assert_eq!((again.graph_hash, again.policy.max_parallelism), (definition.graph_hash, Some(3)));
        assert_eq!(again.files, definition.files);
        let lost = Source { files: BTreeMap::new(), ..source };
        let problem = unpack(&foreign(&definition, Some(lost), overrides)).unwrap_err();
        assert!(problem.ends_with("and the text of `l.yaml` was not stored"), "{problem}");
        assert!(unpack(&foreign(&definition, None, overrides)).unwrap_err().ends_with("it was made in code"));
    }
}
