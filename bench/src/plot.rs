//! How much of what it may take each figure takes, as a picture.

use std::fmt::Write as _;

use crate::rows::Row;

const LEFT: f64 = 440.0;
const SCALE: f64 = 300.0;
const WIDTH: f64 = 840.0;
const STEP: f64 = 30.0;
const TOP: f64 = 62.0;

/// Bars from zero; the line at one is what must be reached, and shorter is better.
pub fn svg(rows: &[Row]) -> String {
    let bottom = TOP + STEP * rows.iter().fold(0.0, |count, _| count + 1.0);
    let height = bottom + 44.0;
    let mut picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-label=\"How much of what it may take each figure takes\">\n<style>\n\
         text {{ font: 13px system-ui, sans-serif; fill: #1f2328; }}\n.title {{ font-size: 16px; font-weight: 600; }}\n\
         .tick {{ fill: #59636e; font-size: 12px; }}\n.bar {{ fill: #1d63d8; }}\n.over {{ fill: #cf222e; }}\n\
         .goal {{ stroke: #1a7f37; stroke-width: 1.5; stroke-dasharray: 4 3; }}\n\
         @media (prefers-color-scheme: dark) {{ text {{ fill: #e6edf3; }} .tick {{ fill: #9198a1; }} \
         .bar {{ fill: #79b0ff; }} .over {{ fill: #ff7b72; }} .goal {{ stroke: #56d364; }} }}\n</style>\n\
         <text class=\"title\" x=\"16\" y=\"28\">How much of what it may take each figure takes</text>\n"
    );
    for (row, number) in rows.iter().zip(0_u16..) {
        let y = TOP + STEP * f64::from(number);
        let share = row.share();
        let class = if row.holds() { "bar" } else { "over" };
        let length = (share * SCALE).clamp(1.0, WIDTH - LEFT - 60.0);
        let work = row.work.replace('&', "&amp;").replace('<', "&lt;");
        let _ = writeln!(
            picture,
            "<text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{work}</text>\
             <rect class=\"{class}\" x=\"{LEFT}\" y=\"{y:.1}\" width=\"{length:.1}\" height=\"18\" rx=\"2\"/>\
             <text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            LEFT - 10.0,
            y + 14.0,
            LEFT + length + 6.0,
            y + 14.0,
            row.figure()
        );
    }
    let goal = LEFT + SCALE;
    let _ = writeln!(
        picture,
        "<path class=\"goal\" d=\"M{goal} {:.1}V{bottom:.1}\"/>\
         <text class=\"tick\" x=\"{goal}\" y=\"{:.1}\" text-anchor=\"middle\">what must be reached</text>\n</svg>",
        TOP - 8.0,
        bottom + 20.0
    );
    picture
}
