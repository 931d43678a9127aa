//! A checked workflow as a whole.

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::kind::Kind;
use super::node::{CompiledNode, Inside};
use super::walk::{collect_files, collect_handed, size};
use crate::file::{
    Duration, Json, Node, NodeId, Param, ParamName, Policy, Schedule, SecretName, SecretSource, WorkflowId,
};
use crate::graph::{Builder, Graph, NodeIndex};
use crate::hash::{self, Digest};

/// A checked phase. One that generates its nodes has a single node, which does that and has the phase's name
/// (`R-PHASE-1`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompiledPhase {
    /// The name.
    pub name: NodeId,
    /// How long it may take.
    pub timeout: Option<Duration>,
}

/// A checked workflow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// The id.
    pub id: WorkflowId,
    /// The author's version.
    pub version: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// The parameters.
    pub params: IndexMap<ParamName, Param>,
    /// The context a run starts with.
    pub context: BTreeMap<String, Json>,
    /// How a run behaves.
    pub policy: Policy,
    /// Where secrets come from.
    pub secrets: BTreeMap<SecretName, SecretSource>,
    /// When it starts by itself.
    pub schedule: Option<Schedule>,
    /// The phases; empty when the workflow has only nodes.
    pub phases: Vec<CompiledPhase>,
    /// The nodes, by index.
    pub nodes: Vec<CompiledNode>,
    /// How they depend on each other.
    pub graph: Graph,
    /// What nodes read by name beyond their direct sources, as (reader, read), sorted.
    pub reads: Vec<(NodeIndex, NodeIndex)>,
    /// The sub-workflow files it names at any depth, as written, once they are known; each with its own.
    pub files: BTreeMap<String, Arc<Definition>>,
    /// The hash of everything that changes what a run does.
    pub graph_hash: Digest,
}

impl Definition {
    /// A workflow that is made in code: `spec` says what each node of the graph does.
    ///
    /// It is checked no further than a graph is, so the caller answers for what [`crate::load`] would have refused. The
    /// edges are those of the graph, so `needs` of a spec stays empty, as in a loaded workflow. Nodes that are alike may
    /// share a spec: it is then kept, and written for its hash, only once. Nothing stands inside its nodes.
    pub fn from_graph(
        id: WorkflowId,
        policy: Policy,
        graph: Graph,
        spec: impl FnMut(NodeIndex) -> (Kind, Arc<Node>),
    ) -> Self {
        let compiled = |(kind, spec)| CompiledNode { kind, hash: Digest([0; 32]), spec, inside: Inside::Nothing };
        let mut definition = Self {
            id,
            version: None,
            description: None,
            params: IndexMap::new(),
            context: BTreeMap::new(),
            policy,
            secrets: BTreeMap::new(),
            schedule: None,
            phases: Vec::new(),
            nodes: graph.nodes().map(spec).map(compiled).collect(),
            graph,
            reads: Vec::new(),
            files: BTreeMap::new(),
            graph_hash: Digest([0; 32]),
        };
        definition.rehash(&BTreeMap::new());
        definition
    }

    /// A node.
    pub fn node(&self, node: NodeIndex) -> &CompiledNode {
        &self.nodes[node.at()]
    }

    /// Whether a node's output is compared with schemas: its own, or those of its dependents (`R-SCHED-5`).
    pub fn checks_output(&self, node: NodeIndex) -> bool {
        let id = self.graph.id(node);
        self.node(node).spec.output_schema.is_some()
            || self.graph.edges_from(node).any(|(_, edge)| self.node(edge.to).spec.input_schema.contains_key(id))
    }

    /// The nodes that a node's expressions read beyond its direct sources, sorted.
    pub fn reads_beyond_edges(&self, reader: NodeIndex) -> impl Iterator<Item = NodeIndex> {
        let start = self.reads.partition_point(|(of, _)| *of < reader);
        self.reads[start..].iter().take_while(move |(of, _)| *of == reader).map(|(_, read)| *read)
    }

    /// The sub-workflow files that nodes name, at any depth, sorted.
    pub fn sub_workflow_files(&self) -> Vec<&str> {
        let mut files = Vec::new();
        for node in &self.nodes {
            collect_files(&node.spec, &mut files);
        }
        files.sort_unstable();
        files.dedup();
        files
    }

    /// How many nodes there are, those written inside other nodes included.
    pub fn size(&self) -> usize {
        self.nodes.iter().map(|node| size(&node.spec)).sum()
    }

    /// What nodes hand to a sub-workflow file, once for each that names it.
    pub fn handed_to(&self, file: &str) -> Vec<&BTreeMap<ParamName, Json>> {
        let mut found = Vec::new();
        for node in &self.nodes {
            collect_handed(&node.spec, file, &mut found);
        }
        found
    }

    /// Takes the sub-workflow files that it names, and their graph hashes into its own hashes.
    pub fn link(&mut self, files: BTreeMap<String, Arc<Self>>) {
        self.rehash(&files);
        self.files = files;
    }

    /// Hashes everything, from the inside out; `files` are those that the file around it names.
    pub(crate) fn rehash(&mut self, files: &BTreeMap<String, Arc<Self>>) {
        for node in &mut self.nodes {
            node.inside.rehash(files);
        }
        let hashes = hash::nodes(self, files);
        for (node, hash) in self.nodes.iter_mut().zip(hashes) {
            node.hash = hash;
        }
        self.graph_hash = hash::graph(self);
    }

    /// The graph of a map's copies (`R-GROW-1`): node `k` is the copy for item `k`, and all share what the node says.
    /// `None` if the node copies nothing.
    ///
    /// Copies see the parameters and secrets of this graph; they have no context and no policy of their own.
    pub fn copies(&self, map: NodeIndex, count: u32) -> Option<Self> {
        let Inside::Copy(copy) = &self.node(map).inside else { return None };
        let (graph, _) = Builder::numbered(count).finish();
        Some(Self {
            id: self.id.clone(),
            version: None,
            description: None,
            params: self.params.clone(),
            context: BTreeMap::new(),
            policy: Policy::default(),
            secrets: self.secrets.clone(),
            schedule: None,
            phases: Vec::new(),
            nodes: vec![CompiledNode::clone(copy); graph.len()],
            graph,
            reads: Vec::new(),
            files: BTreeMap::new(),
            graph_hash: hash::copies(self, copy.hash, count),
        })
    }
}
