//! The palette. Every format takes its colours from here, so a state looks the same everywhere.

use crate::picture::{EdgeKind, NodeColour, Theme};

/// One colour in both themes, as `#rrggbb`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tone {
    /// On a light background.
    pub light: &'static str,
    /// On a dark background.
    pub dark: &'static str,
}

impl Tone {
    const fn new(light: &'static str, dark: &'static str) -> Self {
        Self { light, dark }
    }

    /// The value for a theme; [`Theme::Auto`] answers with the light one.
    #[must_use]
    pub const fn hex(self, theme: Theme) -> &'static str {
        match theme {
            Theme::Auto | Theme::Light => self.light,
            Theme::Dark => self.dark,
        }
    }
}

/// Behind everything; equal to the page colour of common code hosts, so that no box is seen.
pub(crate) const CANVAS: Tone = Tone::new("#ffffff", "#0d1117");
/// Inside a box.
pub(crate) const SURFACE: Tone = Tone::new("#ffffff", "#161b22");
/// Inside a phase.
pub(crate) const CLUSTER: Tone = Tone::new("#f6f8fa", "#11161d");
/// Around a phase.
pub(crate) const CLUSTER_LINE: Tone = Tone::new("#e3e8ee", "#232a33");
/// Around a box.
pub(crate) const LINE: Tone = Tone::new("#d3dae3", "#323b47");
/// Ids and the title.
pub(crate) const INK: Tone = Tone::new("#1b2330", "#e8edf3");
/// Captions; still AA on canvas, surface and cluster.
pub(crate) const MUTED: Tone = Tone::new("#5a6675", "#98a4b3");

impl NodeColour {
    /// Every state, in the order of a node's life.
    pub const ALL: [Self; 9] = [
        Self::Pending,
        Self::Ready,
        Self::Running,
        Self::Completed,
        Self::Failed,
        Self::Skipped,
        Self::Cancelled,
        Self::AwaitingApproval,
        Self::Approved,
    ];

    /// The state's name as it stands in journals and JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Ready => "ready",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Cancelled => "cancelled",
            Self::AwaitingApproval => "awaiting_approval",
            Self::Approved => "approved",
        }
    }

    /// The state's colour; readable as text (contrast of at least 4.5) on its theme's surfaces.
    #[must_use]
    pub const fn tone(self) -> Tone {
        match self {
            Self::Pending => Tone::new("#667080", "#8b98a8"),
            Self::Ready => Tone::new("#0b7285", "#4fc3d9"),
            Self::Running => Tone::new("#1d63d8", "#6ea8ff"),
            Self::Completed => Tone::new("#1a7f42", "#4cc47a"),
            Self::Failed => Tone::new("#cf222e", "#ff7b72"),
            Self::Skipped => Tone::new("#6b7280", "#8b949e"),
            Self::Cancelled => Tone::new("#8a4b2a", "#d69a78"),
            Self::AwaitingApproval => Tone::new("#a15c00", "#f0b44c"),
            Self::Approved => Tone::new("#4d7c0f", "#a3d14f"),
        }
    }

    /// Shorthand for `tone().hex(theme)`.
    #[must_use]
    pub const fn hex(self, theme: Theme) -> &'static str {
        self.tone().hex(theme)
    }

    /// A one-column mark for plain text.
    pub(crate) const fn mark(self) -> char {
        match self {
            Self::Pending => '·',
            Self::Ready => '○',
            Self::Running => '▶',
            Self::Completed => '✓',
            Self::Failed => '✗',
            Self::Skipped => '↷',
            Self::Cancelled => '■',
            Self::AwaitingApproval => '?',
            Self::Approved => '✔',
        }
    }
}

impl EdgeKind {
    /// The colour of the arrow.
    #[must_use]
    pub const fn tone(self) -> Tone {
        match self {
            Self::Success => Tone::new("#8793a3", "#7d8998"),
            Self::Failure => Tone::new("#cf222e", "#ff7b72"),
            Self::Always => Tone::new("#5f6b7a", "#9aa6b5"),
            Self::Skip => Tone::new("#9aa4b1", "#6b7684"),
        }
    }
}

/// The colour of a kind's glyph. An unknown kind gets the neutral one.
#[must_use]
pub fn kind_tone(kind: &str) -> Tone {
    match kind {
        "run" => Tone::new("#1d63d8", "#79b0ff"),
        "http" => Tone::new("#0f766e", "#4fd1c0"),
        "agent" => Tone::new("#7438e0", "#b99aff"),
        "approve" => Tone::new("#a15c00", "#f0b44c"),
        "workflow" => Tone::new("#4549d1", "#a0a8ff"),
        "map" => Tone::new("#0b7285", "#5cc8dd"),
        "loop" => Tone::new("#a02685", "#ec9ad8"),
        "generate" => Tone::new("#b3247a", "#f58fc4"),
        "call" => Tone::new("#4d7c0f", "#a3d14f"),
        _ => Tone::new("#5a6675", "#98a4b3"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(hex: &str, at: usize) -> f64 {
        let value = u8::from_str_radix(&hex[at..at + 2], 16).expect("a hex colour");
        let scaled = f64::from(value) / 255.0;
        if scaled <= 0.040_45 { scaled / 12.92 } else { ((scaled + 0.055) / 1.055).powf(2.4) }
    }

    fn luminance(hex: &str) -> f64 {
        0.2126 * channel(hex, 1) + 0.7152 * channel(hex, 3) + 0.0722 * channel(hex, 5)
    }

    fn contrast(one: &str, other: &str) -> f64 {
        let (a, b) = (luminance(one), luminance(other));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    fn assert_readable(what: &str, tone: Tone, least: f64) {
        for back in [CANVAS, SURFACE, CLUSTER] {
            for theme in [Theme::Light, Theme::Dark] {
                let found = contrast(tone.hex(theme), back.hex(theme));
                assert!(found >= least, "{what} {theme:?}: {found:.2}");
            }
        }
    }

    #[test]
    fn everything_that_is_text_has_aa_contrast() {
        assert_readable("ink", INK, 7.0);
        assert_readable("muted", MUTED, 4.5);
        for state in NodeColour::ALL {
            assert_readable(state.word(), state.tone(), 4.5);
        }
        for kind in ["run", "http", "agent", "approve", "workflow", "map", "loop", "generate", "call", "noop"] {
            assert_readable(kind, kind_tone(kind), 4.5);
        }
    }

    #[test]
    fn arrows_can_be_seen() {
        for kind in [EdgeKind::Success, EdgeKind::Failure, EdgeKind::Always] {
            assert_readable(kind.word(), kind.tone(), 2.9);
        }
        // A skip edge is meant to recede, but not to vanish.
        assert_readable("skip", EdgeKind::Skip.tone(), 2.2);
    }

    #[test]
    fn words_differ() {
        let words: std::collections::BTreeSet<_> = NodeColour::ALL.iter().map(|s| s.word()).collect();
        assert_eq!(words.len(), NodeColour::ALL.len());
    }
}
