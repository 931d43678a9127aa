//! Graphviz.

use std::fmt::Write as _;

use crate::colour::{CLUSTER, CLUSTER_LINE, INK, MUTED, kind_tone};
use crate::escape;
use crate::picture::{EdgeKind, Picture, PictureEdge, PictureNode, Theme};

/// The whole picture as a Graphviz digraph; never collapsed, since tools read it too.
#[must_use]
pub fn dot(picture: &Picture) -> String {
    let mut out = String::new();
    let theme = Theme::Light;
    let _ = writeln!(out, "digraph \"{}\" {{", escape::dot(&picture.title));
    let _ = writeln!(
        out,
        "  graph [rankdir=TB, nodesep=0.3, ranksep=0.5, fontname=\"Helvetica\", fontsize=11, \
         fontcolor=\"{}\"];",
        MUTED.hex(theme)
    );
    let _ = writeln!(
        out,
        "  node [shape=box, style=\"rounded,filled\", fillcolor=\"white\", fontname=\"Helvetica\", \
         fontsize=11, fontcolor=\"{}\", margin=\"0.15,0.08\"];",
        INK.hex(theme)
    );
    let _ = writeln!(
        out,
        "  edge [fontname=\"Helvetica\", fontsize=9, arrowsize=0.7, fontcolor=\"{}\"];",
        MUTED.hex(theme)
    );
    for (group, members) in picture.members_by_group().iter().enumerate() {
        if members.is_empty() {
            continue;
        }
        let _ = writeln!(out, "  subgraph cluster_{group} {{");
        let _ = writeln!(
            out,
            "    label=\"{}\"; labeljust=l; style=\"rounded,filled\"; color=\"{}\"; fillcolor=\"{}\";",
            escape::dot(&picture.groups[group]),
            CLUSTER_LINE.hex(theme),
            CLUSTER.hex(theme)
        );
        for &node in members {
            let _ = writeln!(out, "    n{node} {};", node_attributes(&picture.nodes[node]));
        }
        out.push_str("  }\n");
    }
    for (index, node) in picture.nodes.iter().enumerate() {
        if picture.group_of(index).is_none() {
            let _ = writeln!(out, "  n{index} {};", node_attributes(node));
        }
    }
    for edge in picture.drawn_edges() {
        let _ = writeln!(out, "  n{} -> n{}{};", edge.from, edge.to, edge_attributes(&edge));
    }
    out.push_str("}\n");
    out
}

fn node_attributes(node: &PictureNode) -> String {
    let theme = Theme::Light;
    let border = node.state.map_or_else(|| kind_tone(&node.kind), crate::NodeColour::tone);
    let mut label = escape::dot(&node.id);
    let caption = node.caption();
    if !caption.is_empty() {
        let _ = write!(label, "\\n{}", escape::dot(&caption));
    }
    let mut out = format!("[label=\"{label}\", color=\"{}\"", border.hex(theme));
    // Gates and agent steps are told apart by shape as well, for readers who see no colour.
    match node.kind.as_str() {
        "approve" => out.push_str(", shape=octagon, style=filled"),
        "agent" | "generate" => out.push_str(", peripheries=2"),
        "workflow" | "map" | "loop" => out.push_str(", shape=box3d, style=filled"),
        _ => {}
    }
    if let Some(state) = node.state {
        let _ = write!(out, ", penwidth=2, fillcolor=\"{}1a\", tooltip=\"{}\"", state.hex(theme), state.word());
    }
    out.push(']');
    out
}

fn edge_attributes(edge: &PictureEdge) -> String {
    let mut parts = vec![format!("color=\"{}\"", edge.when.tone().hex(Theme::Light))];
    match edge.when {
        EdgeKind::Success => {}
        EdgeKind::Failure => parts.push("style=dashed".to_owned()),
        EdgeKind::Always => parts.push("style=dotted, penwidth=1.6".to_owned()),
        EdgeKind::Skip => parts.push("style=dashed, penwidth=0.7".to_owned()),
    }
    if let Some(label) = &edge.label {
        parts.push(format!("label=\"{}\"", escape::dot(label)));
    }
    format!(" [{}]", parts.join(", "))
}
