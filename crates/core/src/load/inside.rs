//! What stands inside nodes: graphs, and the nodes that maps copy (`R-GROW-1`, `R-GROW-2`).

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::handed::{Mismatch, mismatches};
use super::level::{Checker, Part, Source};
use super::node;
use super::trail::Trail;
use super::workflow::{check_level, check_secrets};
use crate::codes::Code;
use crate::definition::Kind;
use crate::file::{Json, Node, Param, ParamName, SubWorkflow, TextOr};
use crate::graph::{Graph, NodeIndex};

/// What the check of a graph finds out, beside what the file says.
pub(super) struct Found {
    pub graph: Graph,
    /// What each node does, if it says so clearly.
    pub kinds: Vec<Option<Kind>>,
    /// What nodes read beyond their direct sources, as (reader, read), sorted.
    pub reads: Vec<(NodeIndex, NodeIndex)>,
    /// What stands inside each node.
    pub inside: Vec<Within>,
}

/// The same for what stands inside a node.
pub(super) enum Within {
    /// Nothing, or a file.
    Nothing,
    /// A graph of its own.
    Graph(Box<Found>),
    /// A node that is copied: what it does, and what stands inside it.
    Copy(Kind, Box<Within>),
}

/// Checks the graphs and bodies inside a node.
pub(super) fn within(checker: &mut Checker<'_, '_, '_>, trail: &Trail<'_>, spec: &Node, outer: &Source<'_>) -> Within {
    let mut inside = Within::Nothing;
    if let Some(workflow) = &spec.workflow {
        let named = trail.key("workflow");
        inside = sub_workflow(checker, (trail, &named, &trail.key("params")), (workflow, &spec.params), outer);
    }
    if let Some(repeat) = &spec.repeat {
        let key = trail.key("loop");
        let named = key.key("workflow");
        inside = sub_workflow(checker, (trail, &named, &key.key("params")), (&repeat.workflow, &repeat.params), outer);
    }
    if let Some(map) = &spec.map {
        let map_trail = trail.key("map");
        let body = map_trail.key("node");
        checker.count(&body, 1);
        let kind = node::kind(checker, &body, &map.node);
        checker.body(&body, &map.node);
        check_secrets(checker, &body, outer, &map.node);
        if !map.node.outputs.is_empty() {
            let help = "let each copy write into a folder of its own and hand the path on as its output";
            let message = "every copy would write the same files";
            checker.problems.at_key(Code::OUTPUT_CONFLICT, &body.key("outputs"), message, help);
        }
        if !map.node.needs.is_empty() {
            let help = "put `needs` on the `map` node; the copies run side by side";
            checker.problems.at_key(
                Code::KEY_NOT_ALLOWED,
                &body.key("needs"),
                "the node of a `map` has no edges",
                help,
            );
        }
        if let Some(kind) = kind
            && checker.enter(&body)
        {
            inside = Within::Copy(kind, Box::new(within(checker, &body, &map.node, outer)));
            checker.leave();
        }
    }
    inside
}

/// What a node hands to a sub-workflow is what that takes.
fn check_handed(
    checker: &mut Checker<'_, '_, '_>,
    node: &Trail<'_>,
    params: &Trail<'_>,
    declared: &IndexMap<ParamName, Param>,
    handed: &BTreeMap<ParamName, Json>,
) {
    for Mismatch { name, message, help } in mismatches(declared, handed) {
        if handed.contains_key(name.as_str()) {
            checker.problems.at_key(Code::UNDEFINED_NAME, &params.key(&name), message, help);
        } else {
            checker.problems.at_key(Code::MISSING_KEY, node, message, help);
        }
    }
}

/// A sub-workflow of a node: a file, which is checked by itself, or a graph.
///
/// The ways are those to the node, to the sub-workflow and to what is handed to it.
fn sub_workflow(
    checker: &mut Checker<'_, '_, '_>,
    (node, trail, params): (&Trail<'_>, &Trail<'_>, &Trail<'_>),
    (workflow, handed): (&TextOr<Box<SubWorkflow>>, &BTreeMap<ParamName, Json>),
    outer: &Source<'_>,
) -> Within {
    let sub = match workflow {
        TextOr::Long(sub) => sub,
        TextOr::Text(file) => {
            if checker.grown.is_some_and(|may_name| !may_name(file)) {
                let message = format!("the workflow has no sub-workflow file `{}`", file.escape_debug());
                let help = "generated nodes may name the files that the workflow itself names";
                checker.problems.at(Code::FILE_NOT_FOUND, trail, message, help);
            }
            return Within::Nothing;
        }
    };
    check_handed(checker, node, params, &sub.params, handed);
    let Some(nodes) = sub.nodes.as_ref().filter(|nodes| !nodes.is_empty()) else {
        if !checker.problems.is_damaged(trail) {
            let help = "add `nodes:` with at least one node";
            checker.problems.at(Code::MISSING_KEY, trail, "a sub-workflow needs at least one node", help);
        }
        return Within::Nothing;
    };
    if !checker.enter(trail) {
        return Within::Nothing;
    }
    let source = Source {
        parts: vec![Part { phase: None, generating: false, nodes }],
        edges: &sub.edges,
        params: &sub.params,
        secrets: outer.secrets,
        defaults: &sub.defaults,
        policy: &sub.policy,
        inner: true,
    };
    let found = check_level(checker, trail, source);
    checker.leave();
    Within::Graph(Box::new(found))
}
