//! What went wrong while a typed value was read from the tree, and where.

use std::fmt;

use serde::de::{self, Unexpected};

use super::tree::NodeId;

/// Separates a message from its help inside serde's one-string error channel; no text in a file holds it.
const HELP_MARK: char = '\u{1f}';
/// The same, and the value is an id that does not follow the grammar.
const ID_MARK: char = '\u{1e}';

/// A mistake in the shape of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// A key that the type does not have.
    UnknownKey {
        /// What was written.
        key: String,
        /// What could have been.
        expected: &'static [&'static str],
    },
    /// A word that is not one of a fixed set.
    UnknownWord {
        /// What was written.
        word: String,
        /// What could have been.
        expected: &'static [&'static str],
    },
    /// A value of another type.
    WrongType {
        /// What was found.
        found: String,
        /// What was expected.
        expected: String,
    },
    /// A key that has to be there.
    Missing {
        /// Its name.
        key: &'static str,
    },
    /// A value that its type refused.
    Invalid {
        /// Why.
        message: String,
        /// What to write.
        help: Option<String>,
        /// Whether it is an id that does not follow the grammar.
        is_id: bool,
    },
}

/// Where in the tree a mistake is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spot {
    /// The value to point at.
    pub at: NodeId,
    /// The list or mapping entry that holds the mistake: leaving it out lets the rest be read.
    pub entry: Option<(NodeId, usize)>,
}

/// A mistake in the shape of a value, with its place once the reader has added it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShapeError {
    /// What is wrong.
    pub shape: Shape,
    /// Where it is.
    pub spot: Option<Spot>,
}

impl ShapeError {
    fn new(shape: Shape) -> Self {
        Self { shape, spot: None }
    }

    /// Adds the place, unless a deeper reader has already.
    pub(super) fn at(mut self, at: NodeId) -> Self {
        self.spot.get_or_insert(Spot { at, entry: None });
        self
    }

    /// Adds the entry that holds the place, unless a deeper one is known.
    pub(super) fn inside(mut self, at: NodeId, container: NodeId, index: usize) -> Self {
        let spot = self.spot.get_or_insert(Spot { at, entry: None });
        spot.entry.get_or_insert((container, index));
        self
    }

    /// A message together with what to do, for the `Deserialize` of a checked type.
    pub fn advice(message: impl fmt::Display, help: impl fmt::Display) -> String {
        format!("{message}{HELP_MARK}{help}")
    }

    /// The same for an id that does not follow the grammar.
    pub fn bad_id(message: impl fmt::Display, help: impl fmt::Display) -> String {
        format!("{message}{ID_MARK}{help}")
    }
}

impl fmt::Display for ShapeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.shape {
            Shape::UnknownKey { key, .. } => write!(formatter, "unknown key `{key}`"),
            Shape::UnknownWord { word, .. } => write!(formatter, "`{word}` is not one of the allowed words"),
            Shape::WrongType { found, expected } => write!(formatter, "expected {expected}, found {found}"),
            Shape::Missing { key } => write!(formatter, "`{key}` is missing"),
            Shape::Invalid { message, .. } => formatter.write_str(message),
        }
    }
}

impl std::error::Error for ShapeError {}

impl de::Error for ShapeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        let text = message.to_string();
        let is_id = text.contains(ID_MARK);
        let (message, help) = match text.split_once([HELP_MARK, ID_MARK]) {
            Some((message, help)) => (message.to_owned(), Some(help.to_owned())),
            None => (text, None),
        };
        Self::new(Shape::Invalid { message, help, is_id })
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::new(Shape::WrongType { found: described(&found), expected: expected.to_string() })
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        let message = format!("expected {expected}, found {}", described(&found));
        Self::new(Shape::Invalid { message, help: None, is_id: false })
    }

    fn invalid_length(length: usize, expected: &dyn de::Expected) -> Self {
        let message = format!("expected {expected}, found {length} items");
        Self::new(Shape::Invalid { message, help: None, is_id: false })
    }

    fn unknown_variant(word: &str, expected: &'static [&'static str]) -> Self {
        Self::new(Shape::UnknownWord { word: word.to_owned(), expected })
    }

    fn unknown_field(key: &str, expected: &'static [&'static str]) -> Self {
        Self::new(Shape::UnknownKey { key: key.to_owned(), expected })
    }

    fn missing_field(key: &'static str) -> Self {
        Self::new(Shape::Missing { key })
    }
}

fn described(found: &Unexpected<'_>) -> String {
    match found {
        Unexpected::Unit | Unexpected::Option => "nothing".into(),
        Unexpected::Bool(value) => format!("`{value}`"),
        Unexpected::Unsigned(number) => format!("the number {number}"),
        Unexpected::Signed(number) => format!("the number {number}"),
        Unexpected::Float(number) => format!("the number {number}"),
        Unexpected::Str(text) => match text.char_indices().nth(40) {
            Some((cut, _)) => format!("the text `{}…`", &text[..cut]),
            None => format!("the text `{text}`"),
        },
        Unexpected::Seq => "a list".into(),
        Unexpected::Map => "a mapping".into(),
        other => other.to_string(),
    }
}
