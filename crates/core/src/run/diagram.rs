//! The life of a node as pictures for the docs, drawn from the function that decides (`R-STATE-1`).

use std::fmt::Write as _;

use super::NodeState;

/// The moves as a table in Markdown, a row per state.
pub fn table() -> String {
    let mut text = String::from("| from | to |\n|---|---|\n");
    for from in NodeState::ALL {
        let moves: Vec<String> = moves(from).map(|to| format!("`{to}`")).collect();
        let moves = if moves.is_empty() { "none".to_owned() } else { moves.join(", ") };
        put(&mut text, format_args!("| `{from}` | {moves} |\n"));
    }
    text
}

/// The moves as a Mermaid state diagram.
pub fn mermaid() -> String {
    let mut text = String::from("stateDiagram-v2\n    direction LR\n    [*] --> pending\n");
    for from in NodeState::ALL {
        if is_end(from) {
            put(&mut text, format_args!("    {from} --> [*]\n"));
        }
        for to in moves(from) {
            put(&mut text, format_args!("    {from} --> {to}\n"));
        }
    }
    text
}

/// The moves as a picture that follows the reader's choice of light or dark.
pub fn svg() -> String {
    let mut text = format!("{HEAD}{STYLE}");
    for from in NodeState::ALL {
        for to in moves(from) {
            let kind = if to == NodeState::Failed || from == NodeState::Failed { "failure" } else { "move" };
            let (start, end) = (border(from, to, 0.0), border(to, from, GAP));
            put(
                &mut text,
                format_args!(
                    "<path class=\"{kind}\" d=\"M{:.1} {:.1}L{:.1} {:.1}\"><title>{from} to {to}</title></path>\n",
                    start.0, start.1, end.0, end.1
                ),
            );
        }
    }
    for state in NodeState::ALL {
        let (x, y) = centre(state);
        let kind = if is_end(state) { "end" } else { "state" };
        put(
            &mut text,
            format_args!(
                "<rect class=\"{kind}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"9\"/>\
                 <text x=\"{x}\" y=\"{}\">{state}</text>\n",
                x - HALF.0,
                y - HALF.1,
                2.0 * HALF.0,
                2.0 * HALF.1,
                y + 4.5
            ),
        );
    }
    text.push_str("</svg>\n");
    text
}

fn moves(from: NodeState) -> impl Iterator<Item = NodeState> {
    NodeState::ALL.into_iter().filter(move |to| from.is_valid_transition(*to))
}

fn is_end(state: NodeState) -> bool {
    moves(state).next().is_none()
}

/// Writing into a text cannot fail.
fn put(text: &mut String, piece: std::fmt::Arguments<'_>) {
    let written = text.write_fmt(piece);
    debug_assert!(written.is_ok());
}

/// Half the width and half the height of a box.
const HALF: (f64, f64) = (68.0, 19.0);

/// What is left free between the tip of an arrow and a box.
const GAP: f64 = 3.0;

/// Where a state stands, so that no arrow passes through a box and few cross.
const fn centre(state: NodeState) -> (f64, f64) {
    match state {
        NodeState::Skipped => (170.0, 40.0),
        NodeState::Failed => (430.0, 40.0),
        NodeState::AwaitingApproval => (610.0, 40.0),
        NodeState::Approved => (790.0, 40.0),
        NodeState::Pending => (90.0, 140.0),
        NodeState::Ready => (260.0, 140.0),
        NodeState::Running => (430.0, 140.0),
        NodeState::Completed => (790.0, 140.0),
        NodeState::Cancelled => (520.0, 240.0),
    }
}

/// Where the line from one box to another leaves the first one, at a distance from its border.
fn border(of: NodeState, towards: NodeState, gap: f64) -> (f64, f64) {
    let ((x, y), (far_x, far_y)) = (centre(of), centre(towards));
    let (across, down) = (far_x - x, far_y - y);
    // No two boxes share a centre, so one of the two is a number.
    let part = ((HALF.0 + gap) / across.abs()).min((HALF.1 + gap) / down.abs());
    (x + across * part, y + down * part)
}

const HEAD: &str = "\
<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"sprag-states\" role=\"img\" width=\"870\" height=\"280\" viewBox=\"0 0 870 280\">
<title>The life of a node</title>
<desc>States and the moves between them; a state with a heavy border is never left.</desc>
";

const STYLE: &str = "\
<style>
.sprag-states{max-width:100%;height:auto;font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue','Noto Sans','Liberation Sans',Arial,sans-serif}
.sprag-states{--canvas:#ffffff;--ink:#1b2330;--line:#d3dae3;--surface:#ffffff;--edge:#8793a3;--failure:#cf222e}
@media (prefers-color-scheme:dark){.sprag-states{--canvas:#0d1117;--ink:#e8edf3;--line:#323b47;--surface:#161b22;--edge:#7d8998;--failure:#ff7b72}}
.sprag-states .canvas{fill:#ffffff;fill:var(--canvas)}
.sprag-states .state{fill:#ffffff;fill:var(--surface);stroke:#d3dae3;stroke:var(--line);stroke-width:1.2}
.sprag-states .end{fill:#ffffff;fill:var(--surface);stroke:#8793a3;stroke:var(--edge);stroke-width:2.6}
.sprag-states text{fill:#1b2330;fill:var(--ink);font-size:12px;font-weight:600;text-anchor:middle}
.sprag-states path{fill:none;stroke-width:1.5}
.sprag-states .move{stroke:#8793a3;stroke:var(--edge);marker-end:url(#states-move)}
.sprag-states .failure{stroke:#cf222e;stroke:var(--failure);stroke-dasharray:6 4;marker-end:url(#states-failure)}
.sprag-states .move-head{fill:#8793a3;fill:var(--edge)}
.sprag-states .failure-head{fill:#cf222e;fill:var(--failure)}
</style>
<defs>
<marker id=\"states-move\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><polygon class=\"move-head\" points=\"0,0 8,4 0,8\"/></marker>
<marker id=\"states-failure\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><polygon class=\"failure-head\" points=\"0,0 8,4 0,8\"/></marker>
</defs>
<rect class=\"canvas\" width=\"870\" height=\"280\"/>
";

#[cfg(test)]
mod tests {
    use super::{mermaid, svg, table};

    const PAGE: &str = include_str!("../../../../docs/reference/states.md");
    const PICTURE: &str = include_str!("../../../../docs/pictures/states.svg");

    /// What stands between `<!-- generated: name -->` and `<!-- end -->`.
    fn generated<'page>(page: &'page str, name: &str) -> &'page str {
        let begin = format!("<!-- generated: {name} -->\n");
        let (_, rest) = page.split_once(&begin).unwrap_or_else(|| panic!("the page has no line `{}`", begin.trim()));
        rest.split_once("<!-- end -->").expect("an opened part ends").0.trim_matches('\n')
    }

    #[test]
    fn the_page_shows_what_the_function_says() {
        // R-STATE-1
        let fenced = format!("```mermaid\n{}```", mermaid());
        for (name, expected) in [("table", table()), ("diagram", fenced)] {
            let expected = expected.trim_end();
            let paste = format!("paste this into docs/reference/states.md as `{name}`:\n\n{expected}\n");
            assert!(generated(PAGE, name) == expected, "{paste}");
        }
    }

    #[test]
    fn the_picture_shows_what_the_function_says() {
        // R-STATE-1
        assert!(PICTURE == svg(), "paste this into docs/pictures/states.svg:\n\n{}", svg());
    }
}
