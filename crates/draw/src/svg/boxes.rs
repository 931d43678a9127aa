//! The parts of the drawing: boxes, phases, arrows and conditions.

use std::fmt::Write as _;

use super::glyph;
use crate::escape::xml;
use crate::layout::{Cluster, Direction, Link, Rect, Route, Size};
use crate::measure;
use crate::picture::{EMPTY_GROUP, EdgeKind, PictureEdge, PictureNode};

const HEIGHT: f64 = 48.0;
const WIDTH_MIN: f64 = 124.0;
const WIDTH_MAX: f64 = 292.0;
const TILE: f64 = 28.0;
const TILE_INSET: f64 = 10.0;
const TEXT_INSET: f64 = 2.0 * TILE_INSET + TILE;
const PADDING: f64 = 16.0;
/// Room for the state's badge at the right.
const BADGE: f64 = 22.0;
const ID_SIZE: f64 = 13.0;
const CAPTION_SIZE: f64 = 11.0;
const LABEL_SIZE: f64 = 10.5;
const LABEL_WIDTH_MAX: f64 = 190.0;
const LABEL_PADDING: f64 = 7.0;
/// A longer name of a phase does not widen its frame.
const PHASE_NAME_MAX: f64 = 220.0;

/// The size a node's box needs for its texts, within limits.
pub(crate) fn box_size(node: &PictureNode) -> Size {
    let id = measure::width(&measure::one_line(&node.id), ID_SIZE);
    // Beside a state only the kind has a right to space; a note is shown if it happens to fit.
    let wanted = match state_words(node) {
        Some(words) => format!("{} · {words}", node.kind),
        None => node.caption(),
    };
    let caption = measure::width(&measure::one_line(&wanted), CAPTION_SIZE);
    let frame = TEXT_INSET + PADDING + badge_room(node);
    let width = (frame + id.max(caption)).ceil().clamp(WIDTH_MIN, WIDTH_MAX);
    Size { width, height: HEIGHT }
}

/// The size of a condition's tag.
pub(crate) fn label_size(label: Option<&str>) -> Option<Size> {
    let text = label.filter(|text| !text.trim().is_empty())?;
    let width = measure::width(&measure::one_line(text), LABEL_SIZE).min(LABEL_WIDTH_MAX);
    Some(Size { width: (width + 2.0 * LABEL_PADDING).ceil(), height: 18.0 })
}

/// The least room inside a phase's frame.
pub(crate) fn phase_size(name: &str, empty: bool) -> Size {
    let name = measure::width(&measure::one_line(name), CAPTION_SIZE).min(PHASE_NAME_MAX);
    if empty {
        return Size { width: name.max(measure::width(EMPTY_GROUP, CAPTION_SIZE)), height: 14.0 };
    }
    Size { width: name, height: 0.0 }
}

/// A phase's frame and name; an empty one says why there is nothing to see.
pub(crate) fn write_cluster(out: &mut String, name: &str, cluster: &Cluster) {
    let Rect { x, y, width, height } = cluster.frame;
    let shown = measure::fit(name, CAPTION_SIZE, width - 28.0);
    let (class, title) =
        if cluster.empty { ("phase empty", format!("{name} ({EMPTY_GROUP})")) } else { ("phase", name.to_owned()) };
    let _ = write!(
        out,
        "<g><title>{}</title><rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" \
         height=\"{height:.1}\" rx=\"14\"/><text class=\"phase-name\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
        xml(&title),
        x + 14.0,
        y + 21.0,
        xml(&shown)
    );
    if cluster.empty {
        let (x, y) = (x + 14.0, y + 42.0);
        let _ = write!(out, "<text class=\"caption\" x=\"{x:.1}\" y=\"{y:.1}\">{EMPTY_GROUP}</text>");
    }
    out.push_str("</g>\n");
}

/// The arrow from a phase to the next: an open head, unlike that of an edge.
pub(crate) fn write_link(out: &mut String, link: &Link) {
    let (x, y) = (link.tip.x, link.tip.y);
    let head = match link.heading {
        Direction::Down => format!("M{:.1} {:.1}L{x:.1} {y:.1}L{:.1} {:.1}", x - 5.0, y - 5.0, x + 5.0, y - 5.0),
        Direction::Right => format!("M{:.1} {:.1}L{x:.1} {y:.1}L{:.1} {:.1}", x - 5.0, y - 5.0, x - 5.0, y + 5.0),
    };
    let _ = writeln!(out, "<path class=\"next\" d=\"{}{head}\"/>", link.path);
}

/// An edge's line and arrowhead.
pub(crate) fn write_route(out: &mut String, edge: &PictureEdge, route: &Route) {
    let class = edge.when.word();
    let (x, y) = (route.tip.x, route.tip.y);
    let head = match route.heading {
        Direction::Down => {
            format!("M{x:.1} {y:.1}L{:.1} {:.1}Q{x:.1} {:.1} {:.1} {:.1}Z", x - 3.8, y - 8.0, y - 6.2, x + 3.8, y - 8.0)
        }
        Direction::Right => {
            format!("M{x:.1} {y:.1}L{:.1} {:.1}Q{:.1} {y:.1} {:.1} {:.1}Z", x - 8.0, y - 3.8, x - 6.2, x - 8.0, y + 3.8)
        }
    };
    let _ =
        writeln!(out, "<path class=\"edge {class}\" d=\"{}\"/><path class=\"head {class}\" d=\"{head}\"/>", route.path);
}

/// A condition on its tag.
pub(crate) fn write_label(out: &mut String, text: &str, rect: &Rect) {
    let Rect { x, y, width, height } = *rect;
    let shown = measure::fit(text, LABEL_SIZE, LABEL_WIDTH_MAX);
    let center = rect.center();
    let _ = writeln!(
        out,
        "<g><title>{}</title><rect class=\"tag\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" \
         height=\"{height:.1}\" rx=\"9\"/><text class=\"tag-text\" x=\"{:.1}\" y=\"{:.1}\">{}</text></g>",
        xml(text),
        center.x,
        center.y + 3.7,
        xml(&shown)
    );
}

/// A node's box: card, glyph, id, caption and, in a run, its state.
pub(crate) fn write_box(out: &mut String, node: &PictureNode, rect: &Rect) {
    let kind = glyph::kind_class(&node.kind);
    let state = node.state.map_or(String::new(), |state| format!(" s-{}", state.word()));
    let _ = writeln!(out, "<g class=\"node k-{kind}{state}\"><title>{}</title>", xml(&described(node)));
    write_card(out, node, rect);
    let (x, y) = (rect.x, rect.y);
    let tile = y + (rect.height - TILE) / 2.0;
    let round = if node.kind == "approve" { TILE / 2.0 } else { 8.0 };
    let _ = writeln!(
        out,
        "<rect class=\"tile\" x=\"{:.1}\" y=\"{tile:.1}\" width=\"{TILE}\" height=\"{TILE}\" rx=\"{round}\"/>\
         <path class=\"glyph\" transform=\"translate({:.1} {:.1})\" d=\"{}\"/>",
        x + TILE_INSET,
        x + TILE_INSET + 6.0,
        tile + 6.0,
        glyph::kind_path(&node.kind)
    );
    let room = rect.width - TEXT_INSET - PADDING - badge_room(node);
    let left = x + TEXT_INSET;
    let id = xml(&measure::fit(&node.id, ID_SIZE, room));
    let caption = captioned(node, room);
    if caption.is_empty() {
        let _ = writeln!(out, "<text class=\"id\" x=\"{left:.1}\" y=\"{:.1}\">{id}</text>", y + 28.5);
    } else {
        let _ = writeln!(
            out,
            "<text class=\"id\" x=\"{left:.1}\" y=\"{:.1}\">{id}</text>\
             <text class=\"caption\" x=\"{left:.1}\" y=\"{:.1}\">{caption}</text>",
            y + 21.5,
            y + 36.5
        );
    }
    if let Some(state) = node.state {
        let (cx, cy) = (rect.right() - PADDING - 6.0, rect.center().y);
        let _ = writeln!(
            out,
            "<circle class=\"badge\" cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"9\"/>\
             <path class=\"mark\" transform=\"translate({:.1} {:.1})\" d=\"{}\"/>",
            cx - 8.0,
            cy - 8.0,
            glyph::state_path(state)
        );
    }
    out.push_str("</g>\n");
}

/// The card; a box that stands for many nodes is a small stack of cards.
fn write_card(out: &mut String, node: &PictureNode, rect: &Rect) {
    let Rect { x, y, width, height } = *rect;
    // Gates are pills: the one shape nobody takes for an ordinary step.
    let round = if node.kind == "approve" { height / 2.0 } else { 11.0 };
    if node.members > 1 {
        for (step, inset) in [(8.0, 7.0), (4.0, 3.5)] {
            let _ = write!(
                out,
                "<rect class=\"card under\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{height:.1}\" rx=\"{round}\"/>",
                x + inset,
                y + step,
                width - 2.0 * inset
            );
        }
    }
    let place = format!("x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"{round}\"");
    let _ = writeln!(out, "<rect class=\"card\" {place}/><rect class=\"wash\" {place}/>");
}

fn badge_room(node: &PictureNode) -> f64 {
    if node.state.is_some() { BADGE } else { 0.0 }
}

fn state_words(node: &PictureNode) -> Option<String> {
    node.state.map(|state| state.word().replace('_', " "))
}

fn full_caption(node: &PictureNode) -> String {
    match (node.caption(), state_words(node)) {
        (caption, None) => caption,
        (caption, Some(words)) if caption.is_empty() => words,
        (caption, Some(words)) => format!("{caption} · {words}"),
    }
}

/// The caption as markup, the state's words in the state's colour.
fn captioned(node: &PictureNode, room: f64) -> String {
    let Some(words) = state_words(node) else {
        return xml(&measure::fit(&node.caption(), CAPTION_SIZE, room));
    };
    let room = room - measure::width(&words, CAPTION_SIZE) - measure::width(" · ", CAPTION_SIZE);
    let coloured = format!("<tspan class=\"state\">{words}</tspan>");
    // The state matters most; the rest is shown whole or not at all.
    [node.caption(), node.kind.clone()]
        .iter()
        .find(|text| !text.is_empty() && measure::width(text, CAPTION_SIZE) <= room + 0.5)
        .map_or(coloured.clone(), |text| format!("{} · {coloured}", xml(&measure::one_line(text))))
}

/// What a pointer resting on the box, or a screen reader, is told.
fn described(node: &PictureNode) -> String {
    let caption = full_caption(node);
    if caption.is_empty() { node.id.clone() } else { format!("{} ({caption})", node.id) }
}

/// What the legend says of a kind; success needs no explanation.
pub(crate) const fn legend_words(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Success => "on success",
        EdgeKind::Failure => "on failure",
        EdgeKind::Always => "always",
        EdgeKind::Skip => "when skipped",
    }
}
