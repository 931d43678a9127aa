//! The secrets of one run: resolved when a node is started, hidden in everything that is kept (`R-SEC-1`).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use sprag_core::definition::Definition;
use sprag_core::file::{SecretName, SecretSource};
use sprag_core::run::{Known, NodeError};

use crate::exec::Mask;
use crate::secrets::{Masker, Secret, resolve};

/// What is known of the secrets of a run so far.
pub(super) struct Secrets {
    sources: BTreeMap<SecretName, SecretSource>,
    root: PathBuf,
    /// Every value that was seen; one that changes while the run goes on stays hidden all the same.
    known: Vec<(SecretName, Secret)>,
    mask: Option<Arc<dyn Mask>>,
}

impl Secrets {
    /// The secrets that nodes of a workflow receive. All that can be had are known from the start, so that a node cannot
    /// print what only another one was given.
    pub fn new(definition: &Definition, root: PathBuf) -> Self {
        let used = |name: &SecretName| definition.nodes.iter().any(|node| node.spec.secrets.contains(name));
        let sources: BTreeMap<_, _> =
            definition.secrets.iter().filter(|(name, _)| used(name)).map(|(n, s)| (n.clone(), s.clone())).collect();
        let mut secrets = Self { sources, root, known: Vec::new(), mask: None };
        for name in secrets.sources.keys().cloned().collect::<Vec<_>>() {
            // A secret that cannot be had is the failure of the node that needs it, not of the others.
            drop(secrets.value(&name));
        }
        secrets
    }

    /// The value of a secret, as it is now.
    pub fn value(&mut self, name: &SecretName) -> Result<String, NodeError> {
        let Some(source) = self.sources.get(name) else {
            let message = format!("the secret `{}` is not declared", name.as_str());
            return Err(NodeError::new(Known::MISSING_DEPENDENCY, message));
        };
        let secret = resolve(name, source, |variable| std::env::var_os(variable), &self.root)?;
        let value = secret.expose().to_owned();
        if !self.known.iter().any(|(known, before)| known == name && before.expose() == value) {
            self.known.push((name.clone(), secret));
            self.mask = Some(Arc::new(Masker::new(self.known.iter().map(|(_, secret)| secret))?));
        }
        Ok(value)
    }

    /// What hides them.
    pub fn mask(&self) -> Option<Arc<dyn Mask>> {
        self.mask.clone()
    }
}
