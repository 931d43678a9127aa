//! The frame of the file: root element, heading and legend.

use std::fmt::Write as _;

use super::boxes::legend_words;
use super::style;
use crate::escape::xml;
use crate::layout::Size;
use crate::measure;
use crate::picture::{EdgeKind, Picture, PictureEdge, Theme};

const MARGIN: f64 = 24.0;
const HEADING: f64 = 34.0;
const LEGEND: f64 = 32.0;
const WIDTH_MIN: f64 = 240.0;
const TITLE_SIZE: f64 = 15.0;
const SMALL_SIZE: f64 = 11.0;

/// A file being written: open, then the drawing into `out`, then close.
pub(crate) struct Page {
    pub(crate) out: String,
    legend: String,
}

impl Page {
    pub(crate) fn open(whole: &Picture, drawn: &Picture, edges: &[PictureEdge], content: Size, theme: Theme) -> Self {
        let kinds: Vec<EdgeKind> = EdgeKind::ALL
            .into_iter()
            .filter(|kind| *kind != EdgeKind::Success && edges.iter().any(|e| e.when == *kind))
            .collect();
        let heading = if whole.title.trim().is_empty() { 0.0 } else { HEADING };
        let (legend, legend_width) = legend(&kinds, MARGIN + heading + content.height + 30.0);
        let inner = content.width.max(legend_width).max(WIDTH_MIN - 2.0 * MARGIN);
        let count = counted(whole, drawn);
        let wanted =
            measure::width(&measure::one_line(&whole.title), TITLE_SIZE) + measure::width(&count, SMALL_SIZE) + 14.0;
        // A long title may widen a narrow drawing, within reason.
        let inner = if heading > 0.0 { inner.max(wanted.min(420.0)) } else { inner };
        let width = (inner + 2.0 * MARGIN).ceil();
        let below = if kinds.is_empty() { 0.0 } else { LEGEND };
        let height = (content.height + heading + below + 2.0 * MARGIN).ceil();

        let mut out = String::new();
        let root = style::root_class(theme);
        let name = if heading > 0.0 { whole.title.as_str() } else { "workflow" };
        let _ = writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{root}\" role=\"img\" width=\"{width}\" \
             height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n<title>{}</title>\n<desc>{}</desc>",
            xml(name),
            xml(&description(whole, drawn))
        );
        style::write_style(&mut out, drawn, &kinds, theme);
        let _ = writeln!(out, "<rect class=\"canvas\" width=\"{width}\" height=\"{height}\" rx=\"16\"/>");
        if heading > 0.0 {
            write_heading(&mut out, &whole.title, &count, inner);
        }
        let dx = MARGIN + (inner - content.width) / 2.0;
        let _ = writeln!(out, "<g transform=\"translate({dx:.1} {:.1})\">", MARGIN + heading);
        Self { out, legend }
    }

    pub(crate) fn close(mut self) -> String {
        self.out.push_str("</g>\n");
        self.out.push_str(&self.legend);
        self.out.push_str("</svg>\n");
        self.out
    }
}

fn write_heading(out: &mut String, title: &str, count: &str, width: f64) {
    let count_width = measure::width(count, SMALL_SIZE);
    let shown = measure::fit(title, TITLE_SIZE, width - count_width - 14.0);
    let _ = writeln!(
        out,
        "<text class=\"heading\" x=\"{MARGIN}\" y=\"{:.1}\">{}\
         <tspan class=\"count\" dx=\"10\">{count}</tspan></text>",
        MARGIN + 13.0,
        xml(&shown)
    );
}

/// `2,000 steps in 14 boxes`, or just the steps.
fn counted(whole: &Picture, drawn: &Picture) -> String {
    let total = whole.node_total();
    let noun = if total == 1 { "step" } else { "steps" };
    let mut text = format!("{} {noun}", grouped(total));
    if drawn.nodes.len() < whole.nodes.len() {
        let _ = write!(text, " in {} boxes", drawn.nodes.len());
    }
    text
}

fn description(whole: &Picture, drawn: &Picture) -> String {
    let mut text = format!("Workflow graph of {}", counted(whole, drawn));
    if !whole.groups.is_empty() {
        let _ = write!(text, ", phases: {}", whole.groups.join(", "));
    }
    text.push('.');
    text
}

/// Digits in threes.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The legend's markup and width; empty when every edge is plain success.
fn legend(kinds: &[EdgeKind], baseline: f64) -> (String, f64) {
    let mut out = String::new();
    let mut x = MARGIN;
    for &kind in kinds {
        let class = kind.word();
        let line = baseline - 3.5;
        let _ = writeln!(
            out,
            "<path class=\"edge {class}\" d=\"M{x:.1} {line:.1}h20\"/>\
             <path class=\"head {class}\" d=\"M{:.1} {line:.1}l-7 -3.4q1.6 3.4 0 6.8z\"/>\
             <text class=\"legend\" x=\"{:.1}\" y=\"{baseline:.1}\">{}</text>",
            x + 26.0,
            x + 33.0,
            legend_words(kind)
        );
        x += 33.0 + measure::width(legend_words(kind), SMALL_SIZE) + 18.0;
    }
    (out, x - MARGIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_grouped() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(200_000), "200,000");
    }
}
