//! One word of a command, as far as the text tells.

/// The word being read, quotes removed.
#[derive(Default)]
pub(super) struct Word {
    /// Where it began, if it has.
    pub(super) start: Option<usize>,
    /// The literal text so far, without what expansions and values add.
    pub(super) text: Vec<u8>,
    /// Some of it was quoted, so it is no reserved word.
    quoted: bool,
    /// It begins with an unquoted `NAME=`.
    pub(super) assignment: bool,
    /// What it holds besides the text.
    pub(super) holds: Holds,
}

/// What a word holds besides literal text.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Holds {
    #[default]
    TextOnly,
    Expansion,
    Value,
}

impl Word {
    pub(super) fn push_literal(&mut self, byte: u8, quoted: bool) {
        self.quoted |= quoted;
        if byte == b'=' && !self.quoted && self.holds == Holds::TextOnly && !self.assignment {
            self.assignment = is_name(&self.text);
        }
        self.text.push(byte);
    }

    /// Quotes began, perhaps around nothing.
    pub(super) fn push_quotes(&mut self) {
        self.quoted = true;
    }

    /// Something that is not in the text: only the shell will know it.
    pub(super) fn push_unknown(&mut self, holds: Holds) {
        self.holds = self.holds.max(holds);
    }

    /// The whole word, if it is in the text.
    pub(super) fn known_text(&self) -> Option<&str> {
        if self.holds != Holds::TextOnly {
            return None;
        }
        std::str::from_utf8(&self.text).ok()
    }

    /// The whole word, if it can be a reserved one.
    pub(super) fn reserved_text(&self) -> &str {
        if self.quoted {
            return "";
        }
        self.known_text().unwrap_or_default()
    }

    /// It is the number of a file descriptor, if a redirection follows at once.
    pub(super) fn is_descriptor(&self) -> bool {
        let text = self.reserved_text();
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
    }
}

/// The name of a variable.
pub(super) fn is_name(text: &[u8]) -> bool {
    text.first().is_some_and(|first| !first.is_ascii_digit())
        && text.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}
