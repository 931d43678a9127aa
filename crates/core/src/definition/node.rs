//! A checked node, and what stands inside it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::kind::Kind;
use super::workflow::Definition;
use crate::file::{Node, TextOr};
use crate::hash::{self, Digest};

/// A checked node: `defaults` applied, edges moved to the graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompiledNode {
    /// What it does.
    pub kind: Kind,
    /// The hash of everything that changes its behaviour.
    pub hash: Digest,
    /// Its keys.
    pub spec: Arc<Node>,
    /// What it grows, as far as the file says so.
    pub inside: Inside,
}

/// What stands inside a node that grows (`R-GROW-1`).
///
/// A sub-workflow file stands in [`Definition::files`] of the file that names it, and what work generates is known only
/// when it has run; so both count as nothing here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Inside {
    /// Nothing that the file writes down.
    Nothing,
    /// The graph written inside a `workflow` or a `loop`.
    Graph(Arc<Definition>),
    /// The node that a `map` copies. It has no edges and no id, so its hash is that of its keys.
    Copy(Arc<CompiledNode>),
}

impl CompiledNode {
    /// Whether somebody outside the core grades its result.
    pub fn evaluates_outside(&self) -> bool {
        matches!(self.spec.evaluate, Some(TextOr::Long(_)))
    }
}

impl Inside {
    /// Hashes what stands inside; `files` are those that the file around it names.
    pub(super) fn rehash(&mut self, files: &BTreeMap<String, Arc<Definition>>) {
        match self {
            Self::Nothing => {}
            Self::Graph(graph) => Arc::make_mut(graph).rehash(files),
            Self::Copy(copy) => {
                let copy = Arc::make_mut(copy);
                copy.inside.rehash(files);
                copy.hash = hash::copy(&copy.spec, files);
            }
        }
    }
}
