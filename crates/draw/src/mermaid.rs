//! Mermaid flowcharts.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::colour::kind_tone;
use crate::escape;
use crate::order::{self, Step};
use crate::picture::{EMPTY_GROUP, EdgeKind, NodeColour, Picture, PictureEdge, PictureNode, Theme};

/// The whole picture as a Mermaid flowchart; never collapsed.
///
/// Node ids are generated (`n0`, `n1`, ...), because words such as `end` break Mermaid's grammar.
/// Shapes carry the kind: gates are hexagons, agent steps stadiums, nested work has double sides.
/// Phases are subgraphs; when no edge crosses them, dotted links lead from each to the next.
#[must_use]
pub fn mermaid(picture: &Picture) -> String {
    let mut out = String::from("flowchart TB\n");
    let title = escape::mermaid(&picture.title);
    if !title.trim().is_empty() {
        let _ = writeln!(out, "  accTitle: {title}");
    }
    for (group, members) in picture.members_by_group().iter().enumerate() {
        let name = escape::mermaid(&picture.groups[group]);
        let name = if name.trim().is_empty() { format!("phase {}", group + 1) } else { name };
        let _ = writeln!(out, "  subgraph g{group}[\"{name}\"]");
        if members.is_empty() {
            let _ = writeln!(out, "    p{group}[\"{EMPTY_GROUP}\"]");
        }
        for &node in members {
            let _ = writeln!(out, "    {}", declaration(node, &picture.nodes[node]));
        }
        out.push_str("  end\n");
    }
    for (index, node) in picture.nodes.iter().enumerate() {
        if picture.group_of(index).is_none() {
            let _ = writeln!(out, "  {}", declaration(index, node));
        }
    }
    let edges = picture.drawn_edges();
    for edge in &edges {
        let _ = writeln!(out, "  {}", link(edge));
    }
    let steps = order::steps(picture, &edges);
    write_order(&mut out, &steps);
    link_styles(&mut out, &edges);
    order_styles(&mut out, edges.len(), steps.len());
    classes(&mut out, picture);
    empty_styles(&mut out, picture);
    out
}

/// Links between subgraphs show the order, but only links between nodes make the layout keep it:
/// those are invisible, and follow the visible ones.
fn write_order(out: &mut String, steps: &[Step]) {
    for step in steps {
        let _ = writeln!(out, "  g{} -.-> g{}", step.group, step.group + 1);
    }
    for step in steps {
        let (group, next) = (step.group, step.group + 1);
        let from = step.last.map_or_else(|| format!("p{group}"), |node| format!("n{node}"));
        let to = step.first.map_or_else(|| format!("p{next}"), |node| format!("n{node}"));
        let _ = writeln!(out, "  {from} ~~~ {to}");
    }
}

fn order_styles(out: &mut String, before: usize, count: usize) {
    if count > 0 {
        let positions: Vec<String> = (before..before + count).map(|at| at.to_string()).collect();
        let colour = EdgeKind::Success.tone().hex(Theme::Light);
        let _ = writeln!(out, "  linkStyle {} stroke:{colour}", positions.join(","));
    }
}

/// What is not there yet is dashed.
fn empty_styles(out: &mut String, picture: &Picture) {
    let members = picture.members_by_group();
    let empty = members.iter().enumerate().filter(|(_, members)| members.is_empty());
    let names: Vec<String> = empty.flat_map(|(group, _)| [format!("g{group}"), format!("p{group}")]).collect();
    if !names.is_empty() {
        let colour = EdgeKind::Skip.tone().hex(Theme::Light);
        let _ = writeln!(out, "  classDef empty fill:none,stroke:{colour},stroke-dasharray:4 4");
        let _ = writeln!(out, "  class {} empty", names.join(","));
    }
}

fn declaration(index: usize, node: &PictureNode) -> String {
    let mut label = escape::mermaid(&node.id);
    if label.trim().is_empty() {
        label = format!("n{index}");
    }
    let caption = node.caption();
    if !caption.is_empty() {
        let _ = write!(label, "<br/><small>{}</small>", escape::mermaid(&caption));
    }
    let (open, close) = match node.kind.as_str() {
        "approve" => ("{{", "}}"),
        "agent" | "generate" => ("([", "])"),
        "workflow" | "map" | "loop" => ("[[", "]]"),
        "wait" | "noop" => ("(", ")"),
        _ => ("[", "]"),
    };
    format!("n{index}{open}\"{label}\"{close}")
}

fn link(edge: &PictureEdge) -> String {
    let arrow = match edge.when {
        EdgeKind::Success => "-->",
        EdgeKind::Failure | EdgeKind::Skip => "-.->",
        EdgeKind::Always => "==>",
    };
    let label = edge.label.as_deref().map(escape::mermaid).filter(|text| !text.trim().is_empty());
    let text = match (edge.when, label) {
        (EdgeKind::Success, None) => String::new(),
        (EdgeKind::Success, Some(label)) => format!("|\"{label}\"|"),
        // The dash pattern alone does not say which outcome is meant.
        (kind, None) => format!("|\"{}\"|", kind.word()),
        (kind, Some(label)) => format!("|\"{}: {label}\"|", kind.word()),
    };
    format!("n{} {arrow}{text} n{}", edge.from, edge.to)
}

fn link_styles(out: &mut String, edges: &[PictureEdge]) {
    for kind in [EdgeKind::Failure, EdgeKind::Always, EdgeKind::Skip] {
        let positions: Vec<String> = edges
            .iter()
            .enumerate()
            .filter(|(_, edge)| edge.when == kind)
            .map(|(position, _)| position.to_string())
            .collect();
        if !positions.is_empty() {
            let colour = kind.tone().hex(Theme::Light);
            let _ = writeln!(out, "  linkStyle {} stroke:{colour}", positions.join(","));
        }
    }
}

/// States as classes; kinds only where no state is known, so one colour means one thing.
fn classes(out: &mut String, picture: &Picture) {
    let mut members: BTreeMap<String, (String, Vec<String>)> = BTreeMap::new();
    for (index, node) in picture.nodes.iter().enumerate() {
        let (name, style) = match (node.state, node.kind.as_str()) {
            (Some(state), _) => (state.word().to_owned(), state_style(state)),
            (None, kind @ ("approve" | "agent")) => {
                let colour = kind_tone(kind).hex(Theme::Light);
                (format!("kind_{kind}"), format!("stroke:{colour},stroke-width:2px"))
            }
            (None, _) => continue,
        };
        members.entry(name).or_insert_with(|| (style, Vec::new())).1.push(format!("n{index}"));
    }
    for (name, (style, nodes)) in members {
        let _ = writeln!(out, "  classDef {name} {style}");
        let _ = writeln!(out, "  class {} {name}", nodes.join(","));
    }
}

fn state_style(state: NodeColour) -> String {
    // White on the strong colour is AA in both of Mermaid's themes.
    let colour = state.hex(Theme::Light);
    format!("fill:{colour},stroke:{colour},color:#ffffff")
}
