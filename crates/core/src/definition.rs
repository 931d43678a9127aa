//! A checked workflow: what the engine runs, and what is kept so that an unchanged file is not read twice (`R-FILE-4`).

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::file::{
    Duration, Json, Node, NodeId, Param, ParamName, Policy, Schedule, SecretName, SecretSource, TextOr, Work,
    WorkflowId,
};
use crate::graph::{Graph, NodeIndex};
use crate::hash::{self, Digest};

/// What a node does (`R-NODE-1`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the keys of the file")]
pub enum Kind {
    Run,
    Http,
    Agent,
    Approve,
    Workflow,
    Map,
    Loop,
    Wait,
    Generate,
    Call,
    Noop,
}

impl Kind {
    /// All kinds, in the order of the docs.
    pub const ALL: [Self; 11] = [
        Self::Run,
        Self::Http,
        Self::Agent,
        Self::Approve,
        Self::Workflow,
        Self::Map,
        Self::Loop,
        Self::Wait,
        Self::Generate,
        Self::Call,
        Self::Noop,
    ];

    /// The key in the file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Http => "http",
            Self::Agent => "agent",
            Self::Approve => "approve",
            Self::Workflow => "workflow",
            Self::Map => "map",
            Self::Loop => "loop",
            Self::Wait => "wait",
            Self::Generate => "generate",
            Self::Call => "call",
            Self::Noop => "noop",
        }
    }

    /// Whether it expands into children (`R-GROW-1`).
    pub const fn grows(self) -> bool {
        matches!(self, Self::Workflow | Self::Map | Self::Loop | Self::Generate)
    }

    /// Whether an attempt at it takes a slot: what waits for time, people or children holds none (`R-SCHED-3`).
    pub const fn holds_slot(self) -> bool {
        !matches!(self, Self::Wait | Self::Approve)
    }

    /// Whether it is an attempt at work, rather than a wait, a gate, nothing, or its children.
    pub const fn works(self) -> bool {
        matches!(self, Self::Run | Self::Http | Self::Agent | Self::Call)
    }
}

/// A checked node: `defaults` applied, edges moved to the graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompiledNode {
    /// What it does.
    pub kind: Kind,
    /// The hash of everything that changes its behaviour.
    pub hash: Digest,
    /// Its keys.
    pub spec: Arc<Node>,
}

impl CompiledNode {
    /// Whether somebody outside the core grades its result.
    pub fn evaluates_outside(&self) -> bool {
        matches!(self.spec.evaluate, Some(TextOr::Long(_)))
    }
}

/// A checked phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompiledPhase {
    /// The name.
    pub name: NodeId,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// The work whose output is its nodes.
    pub generate: Option<Box<Work>>,
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
    /// Graph hashes of the sub-workflow files it names, once they are known.
    pub files: BTreeMap<String, Digest>,
    /// The hash of everything that changes what a run does.
    pub graph_hash: Digest,
}

impl Definition {
    /// A workflow that is made in code: `spec` says what each node of the graph does.
    ///
    /// It is checked no further than a graph is, so the caller answers for what [`crate::load`] would have refused. The
    /// edges are those of the graph, so `needs` of a spec stays empty, as in a loaded workflow. Nodes that are alike may
    /// share a spec: it is then kept, and written for its hash, only once.
    pub fn from_graph(
        id: WorkflowId,
        policy: Policy,
        graph: Graph,
        spec: impl FnMut(NodeIndex) -> (Kind, Arc<Node>),
    ) -> Self {
        let compiled = |(kind, spec)| CompiledNode { kind, hash: Digest([0; 32]), spec };
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
        definition.rehash();
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

    /// Takes the graph hashes of the sub-workflow files into its own hashes.
    pub fn link(&mut self, files: BTreeMap<String, Digest>) {
        self.files = files;
        self.rehash();
    }

    pub(crate) fn rehash(&mut self) {
        let hashes = hash::nodes(self);
        for (node, hash) in self.nodes.iter_mut().zip(hashes) {
            node.hash = hash;
        }
        self.graph_hash = hash::graph(self);
    }
}

pub(crate) fn collect_files<'spec>(node: &'spec Node, files: &mut Vec<&'spec str>) {
    let named = node.workflow.iter().chain(node.repeat.iter().map(|repeat| &repeat.workflow));
    for workflow in named {
        match workflow {
            TextOr::Text(file) => files.push(file),
            TextOr::Long(inline) => {
                for child in inline.nodes.iter().flat_map(IndexMap::values) {
                    collect_files(child, files);
                }
            }
        }
    }
    if let Some(map) = &node.map {
        collect_files(&map.node, files);
    }
}

fn size(node: &Node) -> usize {
    let looped = node.repeat.iter().map(|repeat| &repeat.workflow);
    let inline = node.workflow.iter().chain(looped).filter_map(|workflow| match workflow {
        TextOr::Long(inline) => inline.nodes.as_ref(),
        TextOr::Text(_) => None,
    });
    let inner: usize = inline.flat_map(IndexMap::values).map(|child| size(child)).sum();
    1 + inner + node.map.as_ref().map_or(0, |map| size(&map.node))
}

fn collect_handed<'spec>(node: &'spec Node, file: &str, found: &mut Vec<&'spec BTreeMap<ParamName, Json>>) {
    let plain = node.workflow.iter().map(|workflow| (workflow, &node.params));
    let looped = node.repeat.iter().map(|repeat| (&repeat.workflow, &repeat.params));
    for (workflow, params) in plain.chain(looped) {
        match workflow {
            TextOr::Text(named) if named == file => found.push(params),
            TextOr::Text(_) => {}
            TextOr::Long(inline) => {
                for child in inline.nodes.iter().flat_map(IndexMap::values) {
                    collect_handed(child, file, found);
                }
            }
        }
    }
    if let Some(map) = &node.map {
        collect_handed(&map.node, file, found);
    }
}

/// Changes whenever the stored form of a [`Definition`] does; older forms are read from the file again.
pub const STORED_VERSION: u32 = 2;

impl Definition {
    /// The stored form.
    pub fn to_bytes(&self) -> Result<Vec<u8>, String> {
        postcard::to_allocvec(self).map_err(|error| error.to_string())
    }

    /// Writes the stored form, without holding it whole.
    pub fn write_to(&self, out: &mut impl std::io::Write) -> Result<(), String> {
        postcard::to_io(self, out).map(drop).map_err(|error| error.to_string())
    }

    /// Reads the stored form; anything odd is an error, and the caller reads the file instead.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let (definition, rest) = postcard::take_from_bytes(bytes).map_err(|error| error.to_string())?;
        if rest.is_empty() { Ok(definition) } else { Err("trailing bytes".into()) }
    }
}
