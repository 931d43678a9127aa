//! Plain text, for terminals and review comments.

use std::fmt::Write as _;

use ascii_dag::{BoxedNode, Direction, Graph, LabelOverflow, LayoutConfig, RenderOptions};

use crate::collapse::collapsed;
use crate::measure::{fit_columns, one_line};
use crate::picture::{EMPTY_GROUP, EdgeKind, NodeColour, Picture, PictureEdge, PictureNode};
use crate::ranks;

/// More boxes than this are collapsed before they are drawn as text.
pub const ASCII_NODE_LIMIT: usize = 60;

/// A drawing that needs more columns than this is turned, and then collapsed further.
const COLUMNS_GOOD: usize = 100;
const COLUMNS_MAX: usize = 160;
/// As in SVG, long edges cost more than boxes do.
const SPAN_LIMIT: usize = 400;
/// Fewer boxes than this are drawn however wide they are.
const BOXES_MIN: usize = 12;
const ID_COLUMNS: usize = 30;
const CAPTION_COLUMNS: usize = 20;
const LABEL_COLUMNS: usize = 28;

/// The picture as text with box-drawing characters, without colour.
///
/// Arrows other than success carry their kind in words; in a run each box starts with a mark for
/// its state, explained below the drawing. Phases that run one after the other stand below each
/// other, an arrow between them.
#[must_use]
pub fn ascii(picture: &Picture) -> String {
    let mut out = String::new();
    let title = one_line(&picture.title);
    if !title.trim().is_empty() {
        let _ = writeln!(out, "{title}\n");
    }
    if picture.nodes.is_empty() && picture.groups.is_empty() {
        out.push_str("(no steps)\n");
        return out;
    }
    let drawn = collapsed(picture, ASCII_NODE_LIMIT);
    let mut states = Vec::new();
    let drawing = if drawn.is_sequence(&drawn.drawn_edges()) {
        in_order(&drawn, &mut states)
    } else {
        together(picture, &drawn, &mut states)
    };
    for line in drawing.trim_end().lines() {
        out.push_str(line.trim_end());
        out.push('\n');
    }
    write_states(&mut out, &states);
    out
}

/// Boxes without a phase, then each phase in a frame of its own.
fn in_order(picture: &Picture, states: &mut Vec<NodeColour>) -> String {
    let mut out = shrunk(&picture.part(None), states);
    let parts = (0..picture.groups.len()).map(|group| picture.part(Some(group)));
    let drawings: Vec<String> = parts.map(|part| trimmed(&shrunk(&part, states))).collect();
    let names: Vec<String> = picture.groups.iter().map(|name| fit_columns(name, ID_COLUMNS)).collect();
    let columns = drawings.iter().flat_map(|text| text.lines()).chain(names.iter().map(String::as_str));
    let columns = columns.map(columns_of).max().unwrap_or(0).max(columns_of(EMPTY_GROUP));
    for (at, (name, drawing)) in names.iter().zip(&drawings).enumerate() {
        if at > 0 {
            let _ = writeln!(out, "{:>1$}", '↓', columns / 2 + 3);
        } else if !out.is_empty() {
            out.push('\n');
        }
        write_frame(&mut out, name, drawing, columns);
    }
    out
}

/// Without blank lines at either end and without a common indent.
fn trimmed(drawing: &str) -> String {
    let blank = |line: &str| line.trim().is_empty();
    let indent_of = |line: &str| line.chars().take_while(|c| *c == ' ').count();
    let indent = drawing.lines().filter(|line| !blank(line)).map(indent_of).min().unwrap_or(0);
    let lines: Vec<&str> = drawing.lines().map(|line| line.get(indent..).unwrap_or_default().trim_end()).collect();
    let first = lines.iter().position(|line| !blank(line)).unwrap_or(0);
    let last = lines.iter().rposition(|line| !blank(line)).map_or(0, |at| at + 1);
    lines[first..last.max(first)].join("\n")
}

/// Phases whose edges cross stand in one drawing, and the empty ones below it.
fn together(picture: &Picture, drawn: &Picture, states: &mut Vec<NodeColour>) -> String {
    let mut out = shrunk(picture, states);
    for (name, members) in drawn.groups.iter().zip(drawn.members_by_group()) {
        if members.is_empty() {
            let name = fit_columns(name, ID_COLUMNS);
            let columns = columns_of(&name).max(columns_of(EMPTY_GROUP));
            out.push('\n');
            write_frame(&mut out, &name, "", columns);
        }
    }
    out
}

/// A frame of double lines around a phase, or of dashes when there is nothing in it yet.
fn write_frame(out: &mut String, name: &str, drawing: &str, columns: usize) {
    let empty = drawing.is_empty();
    let [top_left, top_right, bottom_left, bottom_right, across, down] =
        if empty { ['┌', '┐', '└', '┘', '╌', '╎'] } else { ['╔', '╗', '╚', '╝', '═', '║'] };
    let content = if empty { EMPTY_GROUP } else { drawing };
    let line: String = std::iter::repeat_n(across, columns + 2).collect();
    let _ = writeln!(out, "{top_left}{line}{top_right}");
    let air = if empty { None } else { Some("") };
    for text in std::iter::once(name).chain(air).chain(content.lines()) {
        let _ = writeln!(out, "{down} {text:columns$} {down}");
    }
    let _ = writeln!(out, "{bottom_left}{line}{bottom_right}");
}

fn columns_of(text: &str) -> usize {
    text.chars().count()
}

/// A drawing that is not too wide, of fewer boxes where it must be; empty when there are none.
/// The states it shows are added to `states`.
fn shrunk(picture: &Picture, states: &mut Vec<NodeColour>) -> String {
    let mut limit = ASCII_NODE_LIMIT;
    loop {
        let drawn = collapsed(picture, limit);
        if drawn.nodes.is_empty() {
            return String::new();
        }
        let edges = drawn.drawn_edges();
        let ranks = ranks::longest_path(drawn.nodes.len(), &edges);
        let span = ranks::total_span(&ranks, &edges);
        let small = drawn.nodes.len() <= BOXES_MIN;
        if (small || span <= SPAN_LIMIT)
            && let Some(drawing) = drawing(&drawn, &edges, small)
        {
            states.extend(drawn.nodes.iter().filter_map(|node| node.state));
            return drawing;
        }
        limit = ranks::smaller_limit(drawn.nodes.len(), span, SPAN_LIMIT).max(BOXES_MIN);
    }
}

/// The drawing in the better direction; `None` when it is too wide and may still be collapsed.
fn drawing(picture: &Picture, edges: &[PictureEdge], accept_any: bool) -> Option<String> {
    let text = Texts::new(picture, edges);
    let (down, down_columns) = text.draw(picture, edges, Direction::TopDown);
    if down_columns <= COLUMNS_GOOD {
        return Some(down);
    }
    let (right, right_columns) = text.draw(picture, edges, Direction::LeftRight);
    let (best, columns) = if right_columns < down_columns { (right, right_columns) } else { (down, down_columns) };
    (accept_any || columns <= COLUMNS_MAX).then_some(best)
}

/// The strings of a drawing, owned here because the graph only borrows them.
struct Texts {
    boxes: Vec<String>,
    labels: Vec<Option<String>>,
    groups: Vec<String>,
}

impl Texts {
    fn new(picture: &Picture, edges: &[PictureEdge]) -> Self {
        Self {
            boxes: picture.nodes.iter().map(box_text).collect(),
            labels: edges.iter().map(label_text).collect(),
            groups: picture.groups.iter().map(|name| fit_columns(name, ID_COLUMNS)).collect(),
        }
    }

    /// The drawing and its width in columns.
    fn draw(&self, picture: &Picture, edges: &[PictureEdge], direction: Direction) -> (String, usize) {
        let mut graph = Graph::new();
        for (index, text) in self.boxes.iter().enumerate() {
            graph.add_node(index, BoxedNode(text));
        }
        for (edge, label) in edges.iter().zip(&self.labels) {
            graph.add_edge(edge.from, edge.to, label.as_deref());
        }
        for (group, members) in picture.members_by_group().iter().enumerate() {
            if members.is_empty() {
                continue;
            }
            let frame = graph.add_subgraph(&self.groups[group]);
            // The only refusal is an unknown node or frame; a missing frame is still a drawing.
            let _ = graph.put_nodes(members).inside(frame);
        }
        let mut options = RenderOptions::plain();
        options.plan.label_policy.overflow = LabelOverflow::Legend;
        options.emit.render_legend = true;
        let mut config = LayoutConfig::standard();
        config.direction = direction;
        if direction == Direction::LeftRight {
            // Rows are dear: boxes stacked in a column need no air.
            config.node_spacing = 0;
        }
        let layout = graph.compute_layout_with_config(&config);
        (layout.render_string(&options), layout.width())
    }
}

fn box_text(node: &PictureNode) -> String {
    let mut text = String::new();
    if let Some(state) = node.state {
        let _ = write!(text, "{} ", state.mark());
    }
    text.push_str(&fit_columns(&node.id, ID_COLUMNS));
    let caption = fit_columns(&node.caption(), CAPTION_COLUMNS);
    if !caption.is_empty() {
        let _ = write!(text, " · {caption}");
    }
    text
}

fn label_text(edge: &PictureEdge) -> Option<String> {
    // The drawing puts labels in double quotes; inner ones would read as its end.
    let condition = edge
        .label
        .as_deref()
        .map(|text| fit_columns(text, LABEL_COLUMNS).replace('"', "'"))
        .filter(|text| !text.trim().is_empty());
    match (edge.when, condition) {
        (EdgeKind::Success, condition) => condition,
        (kind, None) => Some(kind.word().to_owned()),
        (kind, Some(condition)) => Some(format!("{}: {condition}", kind.word())),
    }
}

fn write_states(out: &mut String, states: &[NodeColour]) {
    let present: Vec<String> = NodeColour::ALL
        .into_iter()
        .filter(|state| states.contains(state))
        .map(|state| format!("{} {}", state.mark(), state.word()))
        .collect();
    if !present.is_empty() {
        let _ = writeln!(out, "\n{}", present.join("   "));
    }
}
