//! From a checked file to what runs: numbered nodes with `defaults` applied, and what stands inside them.

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexMap;

use super::inside::{Found, Within};
use super::settle::{settle, settle_inline};
use crate::definition::{CompiledNode, CompiledPhase, Definition, Inside, Kind};
use crate::file::{
    Node, NodeId, Param, ParamName, Policy, SecretName, SecretSource, SubWorkflow, TextOr, Workflow, WorkflowId,
};
use crate::hash::Digest;

/// What a graph inside a node takes from the workflow around it.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    pub id: &'a WorkflowId,
    pub secrets: &'a BTreeMap<SecretName, SecretSource>,
}

/// The definition of a file. `None` if a check has let something pass.
pub(super) fn file(workflow: Workflow, found: Found) -> Option<Definition> {
    let id = workflow.workflow?;
    let mut phases = Vec::new();
    let mut parts: Vec<_> = workflow.nodes.into_iter().collect();
    for phase in workflow.phases.into_iter().flatten() {
        phases.push(CompiledPhase { name: phase.name, timeout: phase.timeout });
        parts.extend(phase.nodes);
    }
    let nodes = parts.into_iter().flatten().map(|(id, mut spec)| {
        settle(&mut spec, &workflow.defaults);
        (id, spec)
    });
    let around = Around { id: &id, secrets: &workflow.secrets };
    let graph = graph(nodes, found, around)?;
    let mut definition = Definition {
        id,
        version: workflow.version,
        description: workflow.description,
        params: workflow.params,
        context: workflow.context,
        policy: workflow.policy,
        secrets: workflow.secrets,
        schedule: workflow.schedule,
        phases,
        ..graph
    };
    definition.rehash(&BTreeMap::new());
    Some(definition)
}

/// The definition of a graph that work produced.
pub(super) fn grown(
    mut sub: SubWorkflow,
    found: Found,
    params: &IndexMap<ParamName, Param>,
    around: Around<'_>,
) -> Option<Definition> {
    settle_inline(&mut sub);
    let nodes = sub.nodes.into_iter().flatten();
    let graph = graph(nodes, found, around)?;
    let mut definition = Definition { params: params.clone(), context: sub.context, policy: sub.policy, ..graph };
    definition.rehash(&BTreeMap::new());
    Some(definition)
}

/// The graph of some settled nodes, not hashed yet: that is done once, from the outermost graph on.
fn graph(nodes: impl Iterator<Item = (NodeId, Box<Node>)>, found: Found, around: Around<'_>) -> Option<Definition> {
    let Found { graph, kinds, reads, inside } = found;
    let mut specs: Vec<Option<Box<Node>>> = Vec::new();
    specs.resize_with(graph.len(), || None);
    for (id, spec) in nodes {
        specs[graph.find(id.as_str())?.at()] = Some(spec);
    }
    let nodes = specs.into_iter().zip(kinds).zip(inside);
    let nodes = nodes.map(|((spec, kind), within)| node(spec?, kind?, within, around)).collect::<Option<Vec<_>>>()?;
    Some(Definition {
        id: around.id.clone(),
        version: None,
        description: None,
        params: IndexMap::new(),
        context: BTreeMap::new(),
        policy: Policy::default(),
        secrets: around.secrets.clone(),
        schedule: None,
        phases: Vec::new(),
        nodes,
        graph,
        reads,
        files: BTreeMap::new(),
        graph_hash: Digest([0; 32]),
    })
}

/// A settled node and what stands inside it.
fn node(mut spec: Box<Node>, kind: Kind, within: Within, around: Around<'_>) -> Option<CompiledNode> {
    spec.needs = Vec::new();
    let inside = match within {
        Within::Nothing => Inside::Nothing,
        Within::Graph(found) => {
            let looped = spec.repeat.as_ref().map(|repeat| &repeat.workflow);
            let Some(TextOr::Long(sub)) = spec.workflow.as_ref().or(looped) else { return None };
            let nodes = sub.nodes.iter().flatten().map(|(id, node)| (id.clone(), node.clone()));
            let graph = graph(nodes, *found, around)?;
            let (params, context, policy) = (sub.params.clone(), sub.context.clone(), sub.policy.clone());
            Inside::Graph(Arc::new(Definition { params, context, policy, ..graph }))
        }
        Within::Copy(kind, within) => {
            let copied = spec.map.as_ref()?.node.clone();
            Inside::Copy(Arc::new(node(copied, kind, *within, around)?))
        }
    };
    Some(CompiledNode { kind, hash: Digest([0; 32]), spec: Arc::from(spec), inside })
}
