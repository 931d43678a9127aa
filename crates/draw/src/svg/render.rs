//! From picture to file: collapse, measure, lay out, write.

use super::boxes::{box_size, label_size, phase_size, write_box, write_cluster, write_label, write_link, write_route};
use super::page::Page;
use crate::collapse::collapsed;
use crate::layout::{Plan, Size, Sketch, plan};
use crate::picture::{Picture, Theme};
use crate::ranks;

/// More boxes than this are collapsed before they are drawn.
pub const SVG_NODE_LIMIT: usize = 150;

/// The layout's time grows with the rows that edges pass, not with boxes alone; a dense graph
/// is collapsed further until it stays below this.
const SPAN_LIMIT: usize = 1_200;

/// Below this a graph is drawn whatever its edges are: at most 20 rows cannot take long.
const BOXES_MIN: usize = 20;

/// The picture as an SVG document, collapsed when it has more than [`SVG_NODE_LIMIT`] nodes.
///
/// [`Theme::Auto`] follows the reader's colour scheme, also inside an `<img>`.
#[must_use]
pub fn svg(picture: &Picture, theme: Theme) -> String {
    let (drawn, sketch) = drawable(picture);
    let plan = plan(&sketch);
    write(picture, &drawn, &sketch, &plan, theme)
}

/// The picture to draw, small enough to lay out, and its measures.
fn drawable(picture: &Picture) -> (Picture, Sketch) {
    let mut limit = SVG_NODE_LIMIT;
    loop {
        let drawn = collapsed(picture, limit);
        let edges = drawn.drawn_edges();
        let ranks = ranks::longest_path(drawn.nodes.len(), &edges);
        let span = ranks::total_span(&ranks, &edges);
        if span <= SPAN_LIMIT || drawn.nodes.len() <= BOXES_MIN {
            let sketch = Sketch {
                sizes: drawn.nodes.iter().map(box_size).collect(),
                groups: (0..drawn.nodes.len()).map(|node| drawn.group_of(node)).collect(),
                labels: edges.iter().map(|edge| label_size(edge.label.as_deref())).collect(),
                edges,
                ranks,
                phases: phase_sizes(&drawn),
            };
            return (drawn, sketch);
        }
        limit = ranks::smaller_limit(drawn.nodes.len(), span, SPAN_LIMIT).max(BOXES_MIN);
    }
}

fn phase_sizes(drawn: &Picture) -> Vec<Size> {
    drawn
        .groups
        .iter()
        .zip(drawn.members_by_group())
        .map(|(name, members)| phase_size(name, members.is_empty()))
        .collect()
}

fn write(whole: &Picture, drawn: &Picture, sketch: &Sketch, plan: &Plan, theme: Theme) -> String {
    let mut page = Page::open(whole, drawn, &sketch.edges, plan.size, theme);
    for cluster in &plan.clusters {
        write_cluster(&mut page.out, &drawn.groups[cluster.group], cluster);
    }
    for link in &plan.links {
        write_link(&mut page.out, link);
    }
    // Special outcomes last, so that a red line is not crossed by a grey one.
    let mut routes: Vec<_> = plan.routes.iter().collect();
    routes.sort_by_key(|route| (sketch.edges[route.edge].when, route.edge));
    for route in &routes {
        write_route(&mut page.out, &sketch.edges[route.edge], route);
    }
    for (node, rect) in drawn.nodes.iter().zip(&plan.nodes) {
        write_box(&mut page.out, node, rect);
    }
    // Labels come after boxes: nothing may cover a condition.
    for route in &routes {
        if let (Some(rect), Some(text)) = (&route.label, &sketch.edges[route.edge].label) {
            write_label(&mut page.out, text, rect);
        }
    }
    page.close()
}
