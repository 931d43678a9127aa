//! Graphviz.

use std::fmt::Write as _;

use crate::colour::{CLUSTER, CLUSTER_LINE, INK, MUTED, kind_tone};
use crate::escape;
use crate::order::{self, Step};
use crate::picture::{EMPTY_GROUP, EdgeKind, Picture, PictureEdge, PictureNode, Theme};

/// The whole picture as a Graphviz digraph; never collapsed, since tools read it too.
///
/// Phases are clusters. When no edge crosses them, dotted edges lead from each to the next; these
/// carry `class="next"`, and the placeholder of an empty phase `class="empty"`.
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
        let _ = writeln!(out, "  subgraph cluster_{group} {{");
        let (style, line) = if members.is_empty() {
            ("rounded,dashed", EdgeKind::Skip.tone())
        } else {
            ("rounded,filled", CLUSTER_LINE)
        };
        let _ = writeln!(
            out,
            "    label=\"{}\"; labeljust=l; style=\"{style}\"; color=\"{}\"; fillcolor=\"{}\";",
            escape::dot(&picture.groups[group]),
            line.hex(theme),
            CLUSTER.hex(theme)
        );
        if members.is_empty() {
            let _ = writeln!(
                out,
                "    p{group} [label=\"{EMPTY_GROUP}\", class=\"empty\", style=\"rounded,dashed\", \
                 color=\"{}\", fontcolor=\"{}\"];",
                line.hex(theme),
                MUTED.hex(theme)
            );
        }
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
    let edges = picture.drawn_edges();
    for edge in &edges {
        let _ = writeln!(out, "  n{} -> n{}{};", edge.from, edge.to, edge_attributes(edge));
    }
    write_order(&mut out, &order::steps(picture, &edges));
    out.push_str("}\n");
    out
}

/// Edges between clusters; Graphviz wants nodes for them and cuts them at the frames.
fn write_order(out: &mut String, steps: &[Step]) {
    if steps.is_empty() {
        return;
    }
    out.push_str("  compound=true;\n");
    for step in steps {
        let (group, next) = (step.group, step.group + 1);
        let from = step.last.map_or_else(|| format!("p{group}"), |node| format!("n{node}"));
        let to = step.first.map_or_else(|| format!("p{next}"), |node| format!("n{node}"));
        let _ = writeln!(
            out,
            "  {from} -> {to} [ltail=cluster_{group}, lhead=cluster_{next}, class=\"next\", minlen=2, style=dotted, \
             arrowhead=vee, color=\"{}\"];",
            EdgeKind::Success.tone().hex(Theme::Light)
        );
    }
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
