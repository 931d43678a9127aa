//! The time per node over the number of nodes, as a picture.

use std::fmt::Write as _;

use super::SIZES;
use super::measure::Cost;
use super::shapes::Shape;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 560.0;
const TOP: f64 = 72.0;
const BOTTOM: f64 = 340.0;

/// Labels at the ends of lines keep this distance.
const LABEL_GAP: f64 = 16.0;

/// Colours of the lines on light and on dark ground, in the order of the shapes.
const COLOURS: [(&str, &str); 5] = [
    ("#1d63d8", "#79b0ff"),
    ("#a15c00", "#f0b44c"),
    ("#1a7f37", "#56d364"),
    ("#8250df", "#d2a8ff"),
    ("#b42318", "#ff9492"),
];

/// The picture: nodes on a logarithmic axis, time per node on a linear one from zero, so that what is flat scales.
pub fn svg(costs: &[Cost]) -> String {
    let step = step(costs.iter().map(Cost::ns_per_node).fold(0.0, f64::max));
    let top = step * 5.0;
    let mut picture = head();
    for line in 0..=5_u8 {
        let value = step * f64::from(line);
        let y = height(value, top);
        let _ = writeln!(picture, "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{RIGHT}\"/>");
        let label = super::grouped(&value.to_string());
        let _ =
            writeln!(picture, "<text class=\"tick\" text-anchor=\"end\" x=\"56\" y=\"{:.1}\">{label}</text>", y + 4.0);
    }
    for nodes in SIZES {
        let (x, label) = (place(nodes), super::grouped(&nodes.to_string()));
        let _ = writeln!(
            picture,
            "<text class=\"tick\" text-anchor=\"middle\" x=\"{x:.1}\" y=\"{:.1}\">{label}</text>",
            BOTTOM + 22.0
        );
    }
    let middle = f64::midpoint(LEFT, RIGHT);
    let _ = writeln!(picture, "<text class=\"tick\" text-anchor=\"middle\" x=\"{middle}\" y=\"386\">nodes</text>");
    let mut labels = Vec::new();
    for (number, shape) in Shape::ALL.into_iter().enumerate() {
        let points: Vec<_> = costs
            .iter()
            .filter(|cost| cost.shape == shape)
            .map(|cost| (place(cost.nodes), height(cost.ns_per_node(), top)))
            .collect();
        let path: Vec<_> = points.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        let _ = writeln!(picture, "<path class=\"line s{number}\" d=\"M{}\"/>", path.join("L"));
        for (x, y) in &points {
            let _ = writeln!(picture, "<circle class=\"dot s{number}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\"/>");
        }
        labels.extend(points.last().map(|(_, y)| (*y, number, shape.name())));
    }
    picture.push_str(&names(labels));
    picture.push_str("</svg>\n");
    picture
}

/// The names of the lines at their ends, moved apart where they would meet.
fn names(mut labels: Vec<(f64, usize, &str)>) -> String {
    labels.sort_by(|left, right| left.0.total_cmp(&right.0));
    let mut picture = String::new();
    let mut lowest = f64::NEG_INFINITY;
    for (y, number, name) in labels {
        lowest = y.max(lowest + LABEL_GAP);
        let (x, y) = (RIGHT + 12.0, lowest + 4.0);
        let _ = writeln!(picture, "<text class=\"name n{number}\" x=\"{x}\" y=\"{y:.1}\">{name}</text>");
    }
    picture
}

fn place(nodes: u32) -> f64 {
    let [first, .., last] = SIZES.map(|size| f64::from(size).log10());
    LEFT + (f64::from(nodes).log10() - first) / (last - first) * (RIGHT - LEFT)
}

fn height(value: f64, top: f64) -> f64 {
    BOTTOM - value / top * (BOTTOM - TOP)
}

/// A round distance between five lines of the grid that reach over the highest value.
fn step(highest: f64) -> f64 {
    let least = (highest / 5.0).max(1.0);
    let power = 10_f64.powf(least.log10().floor());
    [1.0, 2.0, 2.5, 4.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= least)
        .unwrap_or(least)
}

fn head() -> String {
    let mut light = String::from("--canvas:#ffffff;--ink:#1b2330;--muted:#5a6675;--grid:#e3e8ee");
    let mut dark = String::from("--canvas:#0d1117;--ink:#e8edf3;--muted:#98a4b3;--grid:#232a33");
    let mut lines = String::new();
    for (number, (on_light, on_dark)) in COLOURS.iter().enumerate() {
        let _ = write!(light, ";--s{number}:{on_light}");
        let _ = write!(dark, ";--s{number}:{on_dark}");
        let _ = writeln!(
            lines,
            ".run-cost .line.s{number}{{stroke:{on_light};stroke:var(--s{number})}}\n\
             .run-cost .dot.s{number},.run-cost .n{number}{{fill:{on_light};fill:var(--s{number})}}"
        );
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"run-cost\" role=\"img\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         viewBox=\"0 0 {WIDTH} {HEIGHT}\">\n<title>What a node costs</title>\n\
         <desc>Time per node that does nothing, over the number of nodes, for four shapes of graphs.</desc>\n<style>\n\
         .run-cost{{max-width:100%;height:auto;font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',\
         'Noto Sans','Liberation Sans',Arial,sans-serif}}\n\
         .run-cost{{{light}}}\n@media (prefers-color-scheme:dark){{.run-cost{{{dark}}}}}\n\
         .run-cost .canvas{{fill:#ffffff;fill:var(--canvas)}}\n\
         .run-cost .heading{{fill:#1b2330;fill:var(--ink);font-size:15px;font-weight:600}}\n\
         .run-cost .tick{{fill:#5a6675;fill:var(--muted);font-size:11px}}\n\
         .run-cost .name{{font-size:12px;font-weight:600}}\n\
         .run-cost .grid{{fill:none;stroke:#e3e8ee;stroke:var(--grid)}}\n\
         .run-cost .line{{fill:none;stroke-width:2;stroke-linejoin:round}}\n{lines}</style>\n\
         <rect class=\"canvas\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"16\"/>\n\
         <text class=\"heading\" x=\"24\" y=\"37\">What a node costs</text>\n\
         <text class=\"tick\" x=\"24\" y=\"56\">nanoseconds per node that does nothing</text>\n"
    )
}
