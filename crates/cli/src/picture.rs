//! A checked workflow as a picture to draw.

use sprag_core::definition::{Definition, Kind};
use sprag_core::file::When;
use sprag_core::graph::NodeIndex;
use sprag_draw::{EdgeKind, Picture, PictureEdge, PictureNode};

/// The picture of a workflow that is not running.
pub fn picture(definition: &Definition) -> Picture {
    let graph = &definition.graph;
    let has_phases = !definition.phases.is_empty();
    let nodes = graph.nodes().map(|node| PictureNode {
        id: graph.id(node).to_string(),
        kind: definition.node(node).kind.as_str().into(),
        wave: graph.wave(node),
        group: has_phases.then(|| usize::from(graph.phase(node))),
        state: None,
        note: note(definition, node),
        members: 1,
    });
    let edges = graph.edges().iter().map(|edge| PictureEdge {
        from: edge.from.at(),
        to: edge.to.at(),
        when: match edge.when {
            When::OnSuccess => EdgeKind::Success,
            When::OnFailure => EdgeKind::Failure,
            When::Always => EdgeKind::Always,
            When::Skip => EdgeKind::Skip,
        },
        label: edge.condition.as_deref().map(str::to_owned),
    });
    Picture {
        title: definition.id.to_string(),
        nodes: nodes.collect(),
        edges: edges.collect(),
        groups: definition.phases.iter().map(|phase| phase.name.to_string()).collect(),
    }
}

/// What is worth saying about a node besides its kind.
fn note(definition: &Definition, node: NodeIndex) -> Option<String> {
    let node = definition.node(node);
    if node.spec.approve.is_some() && node.kind != Kind::Approve {
        return Some("then asks".into());
    }
    if let Some(map) = &node.spec.map {
        return Some(format!("over {}", map.over.0.trim()));
    }
    if let Some(repeat) = &node.spec.repeat {
        return Some(format!("at most {} times", repeat.max));
    }
    None
}
