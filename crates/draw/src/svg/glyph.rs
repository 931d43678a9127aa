//! Small line drawings on a 16 by 16 grid, as the `d` of a stroked path.

use crate::picture::NodeColour;

/// The kinds that have a glyph of their own.
pub(crate) const KINDS: [&str; 12] =
    ["run", "http", "agent", "approve", "workflow", "map", "loop", "wait", "generate", "call", "noop", "mixed"];

/// A class name for a kind; unknown kinds share one, so user text never reaches the style sheet.
pub(crate) fn kind_class(kind: &str) -> &'static str {
    KINDS.into_iter().find(|known| *known == kind).unwrap_or("other")
}

pub(crate) fn kind_path(kind: &str) -> &'static str {
    match kind {
        // A prompt.
        "run" => "M3 4.2l3.6 3.8L3 11.8M8.4 12h4.8",
        // A globe.
        "http" => {
            "M8 2.2a5.8 5.8 0 1 0 0 11.6a5.8 5.8 0 1 0 0-11.6zM2.2 8h11.6M8 2.2c3.2 3.2 3.2 8.4 0 11.6M8 2.2c-3.2 3.2-3.2 8.4 0 11.6"
        }
        // A large spark and a small one.
        "agent" => {
            "M7 2.6c.6 3.4 2 4.8 5.4 5.4c-3.4.6-4.8 2-5.4 5.4c-.6-3.4-2-4.8-5.4-5.4c3.4-.6 4.8-2 5.4-5.4zM13 1.6v3M11.5 3.1h3"
        }
        // A shield with a tick.
        "approve" => "M8 1.8l5.2 2v4.1c0 3.1-2.1 5.1-5.2 6.3c-3.1-1.2-5.2-3.2-5.2-6.3v-4.1zM5.6 7.9l1.8 1.8l3.2-3.4",
        // A box that opens into a box.
        "workflow" => "M2.4 2.6h4.6v4.6h-4.6zM9 8.8h4.6v4.6h-4.6zM4.7 7.2v3.9h4.3",
        // Layers.
        "map" => "M8 2l6 3l-6 3l-6-3zM2 8.1l6 3l6-3M2 11.1l6 3l6-3",
        // Round and round.
        "loop" => "M13.4 8a5.4 5.4 0 1 1-1.7-3.9M13.4 1.8v3.2h-3.2",
        // A clock.
        "wait" => "M8 2.2a5.8 5.8 0 1 0 0 11.6a5.8 5.8 0 1 0 0-11.6zM8 4.8v3.4l2.3 1.5",
        // One step that becomes several.
        "generate" => {
            "M8 13.8v-4.6M8 9.2c0-3-4.4-2-4.4-6M8 9.2c0-3 4.4-2 4.4-6M8 9.2v-6M1.8 4.8l1.8-2l1.8 2M10.6 4.8l1.8-2l1.8 2"
        }
        // Braces.
        "call" => "M6 2.6c-3.4 0-.6 5.4-3.8 5.4c3.2 0 .4 5.4 3.8 5.4M10 2.6c3.4 0 .6 5.4 3.8 5.4c-3.2 0-.4 5.4-3.8 5.4",
        // A point on a line.
        "noop" => "M8 5.4a2.6 2.6 0 1 0 0 5.2a2.6 2.6 0 1 0 0-5.2zM1.8 8h3.6M10.6 8h3.6",
        // Four of something.
        "mixed" => "M2.6 2.6h4v4h-4zM9.4 2.6h4v4h-4zM2.6 9.4h4v4h-4zM9.4 9.4h4v4h-4z",
        _ => "M3 3h10v10h-10z",
    }
}

pub(crate) fn state_path(state: NodeColour) -> &'static str {
    match state {
        NodeColour::Pending => "M5 8h.01M8 8h.01M11 8h.01",
        NodeColour::Ready => "M8 5.2a2.8 2.8 0 1 0 0 5.6a2.8 2.8 0 1 0 0-5.6z",
        NodeColour::Running => "M6.4 4.9l4.8 3.1l-4.8 3.1z",
        NodeColour::Completed => "M4.6 8.2l2.4 2.4l4.4-4.8",
        NodeColour::Failed => "M5.4 5.4l5.2 5.2M10.6 5.4l-5.2 5.2",
        NodeColour::Skipped => "M4.6 5.4l2.8 2.6l-2.8 2.6M8.6 5.4l2.8 2.6l-2.8 2.6",
        NodeColour::Cancelled => "M5.6 5.6h4.8v4.8h-4.8z",
        NodeColour::AwaitingApproval => "M6.3 5.2v5.6M9.7 5.2v5.6",
        NodeColour::Approved => "M3.4 8.4l2.1 2.1l3.8-4.4M8.6 10.5l3.8-4.4",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_and_state_has_its_own_glyph() {
        let paths: std::collections::BTreeSet<_> = KINDS.into_iter().map(kind_path).collect();
        assert_eq!(paths.len(), KINDS.len());
        let marks: std::collections::BTreeSet<_> = NodeColour::ALL.into_iter().map(state_path).collect();
        assert_eq!(marks.len(), NodeColour::ALL.len());
    }

    #[test]
    fn an_unknown_kind_is_not_a_class() {
        assert_eq!(kind_class("x\"><script>"), "other");
    }
}
