//! The style sheet inside the file.
//!
//! Every selector starts with the root's class, which names the theme: pictures of several
//! themes can stand in one HTML page without painting each other.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::glyph;
use crate::colour::{CANVAS, CLUSTER, CLUSTER_LINE, INK, LINE, MUTED, SURFACE, Tone, kind_tone};
use crate::picture::{EdgeKind, NodeColour, Picture, Theme};

const FONT: &str = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue','Noto Sans',\
                    'Liberation Sans',Arial,sans-serif";

/// The class of the root element.
pub(crate) const fn root_class(theme: Theme) -> &'static str {
    match theme {
        Theme::Auto => "sprag-graph",
        Theme::Light => "sprag-graph-light",
        Theme::Dark => "sprag-graph-dark",
    }
}

/// Writes the rules that this picture needs and no others.
pub(crate) fn write_style(out: &mut String, drawn: &Picture, kinds: &[EdgeKind], theme: Theme) {
    let mut sheet = Sheet { theme, variables: Vec::new(), rules: String::new() };
    common(&mut sheet, drawn);
    edges(&mut sheet, kinds);
    boxes(&mut sheet, drawn);
    sheet.write(out);
}

struct Sheet {
    theme: Theme,
    variables: Vec<(String, Tone)>,
    rules: String,
}

impl Sheet {
    /// Declares a property with a themed colour.
    ///
    /// The plain value in front of the variable is for renderers without custom properties:
    /// they drop the second declaration and show the light theme.
    fn paint(&mut self, property: &str, name: &str, tone: Tone) -> String {
        let plain = format!("{property}:{};", tone.hex(self.theme));
        if self.theme != Theme::Auto {
            return plain;
        }
        if !self.variables.iter().any(|(known, _)| known == name) {
            self.variables.push((name.to_owned(), tone));
        }
        format!("{plain}{property}:var(--{name});")
    }

    fn rule(&mut self, selector: &str, body: &str) {
        let root = root_class(self.theme);
        let _ = writeln!(self.rules, ".{root} {selector}{{{body}}}");
    }

    fn write(&self, out: &mut String) {
        let root = root_class(self.theme);
        out.push_str("<style>\n");
        let _ = writeln!(out, ".{root}{{max-width:100%;height:auto;font-family:{FONT}}}");
        if !self.variables.is_empty() {
            let list = |theme: Theme| {
                self.variables
                    .iter()
                    .map(|(name, tone)| format!("--{name}:{}", tone.hex(theme)))
                    .collect::<Vec<_>>()
                    .join(";")
            };
            let _ = writeln!(out, ".{root}{{{}}}", list(Theme::Light));
            let _ = writeln!(out, "@media (prefers-color-scheme:dark){{.{root}{{{}}}}}", list(Theme::Dark));
        }
        out.push_str(&self.rules);
        out.push_str("</style>\n");
    }
}

fn common(sheet: &mut Sheet, drawn: &Picture) {
    let canvas = sheet.paint("fill", "canvas", CANVAS);
    sheet.rule(".canvas", &canvas);
    let ink = sheet.paint("fill", "ink", INK);
    let muted = sheet.paint("fill", "muted", MUTED);
    sheet.rule(".heading", &format!("{ink}font-size:15px;font-weight:600"));
    sheet.rule(".count", &format!("{muted}font-size:11px;font-weight:400"));
    sheet.rule(".id", &format!("{ink}font-size:13px;font-weight:600"));
    sheet.rule(".caption,.legend", &format!("{muted}font-size:11px"));
    let phase = sheet.paint("fill", "cluster", CLUSTER);
    let phase_line = sheet.paint("stroke", "cluster-line", CLUSTER_LINE);
    sheet.rule(".phase", &format!("{phase}{phase_line}"));
    if drawn.members_by_group().iter().any(Vec::is_empty) {
        let dashes = sheet.paint("stroke", "edge-skip", EdgeKind::Skip.tone());
        sheet.rule(".phase.empty", &format!("{dashes}fill:none;stroke-dasharray:4 4"));
    }
    if drawn.groups.len() > 1 {
        let next = sheet.paint("stroke", "edge-success", EdgeKind::Success.tone());
        sheet.rule(".next", &format!("{next}fill:none;stroke-width:1.5;stroke-linecap:round;stroke-linejoin:round"));
    }
    sheet.rule(".phase-name", &format!("{muted}font-size:11px;font-weight:600;letter-spacing:.2px"));
    let tag_line = sheet.paint("stroke", "line", LINE);
    let surface = sheet.paint("fill", "surface", SURFACE);
    sheet.rule(".tag", &format!("{surface}{tag_line}"));
    sheet.rule(".tag-text", &format!("{muted}font-size:10.5px;text-anchor:middle"));
    sheet.rule(".card", &format!("{surface}{tag_line}stroke-width:1.2"));
    sheet.rule(".wash", "fill:none");
    sheet.rule(".tile", "fill-opacity:.12");
    sheet.rule(".glyph", "fill:none;stroke-width:1.4;stroke-linecap:round;stroke-linejoin:round");
    sheet.rule(".edge", "fill:none;stroke-width:1.5");
}

fn edges(sheet: &mut Sheet, kinds: &[EdgeKind]) {
    for &kind in [EdgeKind::Success].iter().chain(kinds) {
        let name = format!("edge-{}", kind.word());
        let stroke = sheet.paint("stroke", &name, kind.tone());
        let fill = sheet.paint("fill", &name, kind.tone());
        let style = match kind {
            EdgeKind::Success => "",
            EdgeKind::Failure => "stroke-dasharray:6 4;",
            EdgeKind::Always => "stroke-dasharray:.1 4.4;stroke-linecap:round;stroke-width:2;",
            EdgeKind::Skip => "stroke-dasharray:4 4;stroke-width:1;",
        };
        sheet.rule(&format!(".edge.{}", kind.word()), &format!("{stroke}{style}"));
        sheet.rule(&format!(".head.{}", kind.word()), &fill);
    }
}

fn boxes(sheet: &mut Sheet, drawn: &Picture) {
    let used: BTreeSet<&str> = drawn.nodes.iter().map(|n| glyph::kind_class(&n.kind)).collect();
    for kind in used {
        let (name, tone) = (format!("kind-{kind}"), kind_tone(kind));
        let fill = sheet.paint("fill", &name, tone);
        let stroke = sheet.paint("stroke", &name, tone);
        sheet.rule(&format!(".k-{kind} .tile"), &fill);
        sheet.rule(&format!(".k-{kind} .glyph"), &stroke);
        // Steps where a person or a model decides carry their colour on the whole card.
        if matches!(kind, "approve" | "agent") {
            sheet.rule(&format!(".k-{kind} .card"), &format!("{stroke}stroke-opacity:.75"));
            sheet.rule(&format!(".k-{kind} .wash"), &format!("{fill}fill-opacity:.05"));
        }
    }
    let states: Vec<NodeColour> =
        NodeColour::ALL.into_iter().filter(|state| drawn.nodes.iter().any(|node| node.state == Some(*state))).collect();
    if states.is_empty() {
        return;
    }
    let mark = sheet.paint("stroke", "surface", SURFACE);
    sheet.rule(".mark", &format!("{mark}fill:none;stroke-width:1.7;stroke-linecap:round;stroke-linejoin:round"));
    sheet.rule(".state", "font-weight:600");
    for state in states {
        let (word, name) = (state.word(), format!("state-{}", state.word()));
        let fill = sheet.paint("fill", &name, state.tone());
        let stroke = sheet.paint("stroke", &name, state.tone());
        sheet.rule(&format!(".s-{word} .badge"), &fill);
        sheet.rule(&format!(".s-{word} .state"), &fill);
        let quiet = matches!(state, NodeColour::Pending | NodeColour::Skipped | NodeColour::Cancelled);
        if quiet {
            // What has not happened, or will not, steps back.
            let line = sheet.paint("stroke", "line", LINE);
            let muted = sheet.paint("fill", "muted", MUTED);
            sheet.rule(&format!(".s-{word} .card"), &format!("{line}stroke-opacity:1"));
            sheet.rule(&format!(".s-{word} .wash"), "fill:none");
            sheet.rule(&format!(".s-{word} .id"), &muted);
        } else {
            sheet.rule(&format!(".s-{word} .card"), &format!("{stroke}stroke-opacity:.85"));
            sheet.rule(&format!(".s-{word} .wash"), &format!("{fill}fill-opacity:.07"));
        }
    }
}
