//! What stands in a node, read off its keys at any depth.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use crate::file::{Json, Node, ParamName, TextOr};

/// The sub-workflow files that a node names, at any depth.
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

/// How many nodes it is, those written inside it included.
pub(super) fn size(node: &Node) -> usize {
    let looped = node.repeat.iter().map(|repeat| &repeat.workflow);
    let inline = node.workflow.iter().chain(looped).filter_map(|workflow| match workflow {
        TextOr::Long(inline) => inline.nodes.as_ref(),
        TextOr::Text(_) => None,
    });
    let inner: usize = inline.flat_map(IndexMap::values).map(|child| size(child)).sum();
    1 + inner + node.map.as_ref().map_or(0, |map| size(&map.node))
}

/// What it hands to a sub-workflow file, once for each node that names it.
pub(super) fn collect_handed<'spec>(node: &'spec Node, file: &str, found: &mut Vec<&'spec BTreeMap<ParamName, Json>>) {
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
