//! What goes into the hash of a node and of a graph.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::canonical::text;
use super::digest::Digest;
use crate::definition::{Definition, collect_files};
use crate::file::Node;
use crate::graph::NodeIndex;

/// The sub-workflow files that a file names.
type Files = BTreeMap<String, Arc<Definition>>;

/// The definition hashes of all nodes, by index. Nodes made in code may share one spec, whose text is then made once.
pub(crate) fn nodes(definition: &Definition, files: &Files) -> Vec<Digest> {
    let mut last: Option<(&Arc<Node>, Vec<u8>)> = None;
    let mut hashes = Vec::with_capacity(definition.graph.len());
    for at in definition.graph.nodes() {
        let spec = &definition.node(at).spec;
        let known = last.take().filter(|(of, _)| Arc::ptr_eq(of, spec));
        let (_, keys) = last.insert(known.unwrap_or_else(|| (spec, text(spec, &["description"]))));
        hashes.push(node(definition, files, at, keys));
    }
    hashes
}

/// The definition hash of a node: its effective keys and its incoming edges, not its place in the file.
fn node(definition: &Definition, files: &Files, node: NodeIndex, keys: &[u8]) -> Digest {
    let graph = &definition.graph;
    let edges: Vec<_> = graph
        .edges_into(node)
        .iter()
        .map(|edge| (graph.id(edge.from).as_str(), edge.when.as_str(), edge.condition.as_deref()))
        .collect();
    let files = named(&definition.node(node).spec, files);
    digest("sprag node 1", &[graph.id(node).as_str().as_bytes(), keys, &text(&edges, &[]), &files])
}

/// The definition hash of the node that a `map` copies: its effective keys. It has no id and no edges.
pub(crate) fn copy(spec: &Node, files: &Files) -> Digest {
    digest("sprag copy 1", &[&text(spec, &["description"]), &named(spec, files)])
}

/// The graph hash of a map's copies, which are all alike.
pub(crate) fn copies(definition: &Definition, copy: Digest, count: u32) -> Digest {
    digest(
        "sprag copies 1",
        &[
            definition.id.as_str().as_bytes(),
            &copy.0,
            &count.to_be_bytes(),
            &params(definition),
            &text(&definition.secrets, &[]),
        ],
    )
}

/// The graph hashes of the files that a node names.
fn named(spec: &Node, files: &Files) -> Vec<u8> {
    let mut named = Vec::new();
    if !files.is_empty() {
        collect_files(spec, &mut named);
    }
    let files = files.iter().filter(|(file, _)| named.contains(&file.as_str()));
    text(&files.map(|(name, file)| (name, file.graph_hash)).collect::<Vec<_>>(), &[])
}

/// What runs are given, less the words about it.
fn params(definition: &Definition) -> Vec<u8> {
    let mut params: Vec<_> = definition
        .params
        .iter()
        .map(|(name, param)| (name.as_str(), param.kind, &param.default, &param.choices))
        .collect();
    params.sort_unstable_by_key(|param| param.0);
    text(&params, &[])
}

/// The graph hash: every node, the phases, and what a run takes from the file besides them.
pub(crate) fn graph(definition: &Definition) -> Digest {
    let graph = &definition.graph;
    // Indices follow (phase, id), so the order of the file does not show. The id is part of the node's own hash.
    let mut nodes = Vec::with_capacity(graph.len() * 34);
    for node in graph.nodes() {
        nodes.extend_from_slice(&graph.phase(node).to_be_bytes());
        nodes.extend_from_slice(&definition.node(node).hash.0);
    }
    digest(
        "sprag graph 1",
        &[
            definition.id.as_str().as_bytes(),
            &nodes,
            &text(&definition.phases, &[]),
            &params(definition),
            &text(&definition.context, &[]),
            // How fast, how safe and how often saved: the outcome of a run does not depend on them.
            &text(&definition.policy, &["max_parallelism", "durability", "checkpoints"]),
            &text(&definition.secrets, &[]),
        ],
    )
}

/// Hashes parts with their lengths, so that no two lists of parts are the same bytes.
fn digest(domain: &str, parts: &[&[u8]]) -> Digest {
    let mut bytes = Vec::from(domain);
    for part in parts {
        bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
        bytes.extend_from_slice(part);
    }
    Digest::of(&bytes)
}
