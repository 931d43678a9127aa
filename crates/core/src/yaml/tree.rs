//! The tree: an arena of values, each with its span.

use std::borrow::Cow;

use crate::diagnostic::Span;

/// Index of a value in its [`Tree`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(super) u32);

/// One value of the file.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'text> {
    /// `null`, `~` or nothing at all.
    Null,
    /// `true` or `false`; `yes` and `on` are text, as in YAML 1.2.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A whole number over [`i64::MAX`].
    Unsigned(u64),
    /// A number with a fraction or an exponent.
    Float(f64),
    /// Text.
    Text(Cow<'text, str>),
    /// A list: where its items stand among those of the tree.
    List(Run),
    /// A mapping, in the order of the file: where its entries stand among those of the tree.
    Map(Run),
}

/// A stretch of one of the tree's shared arrays. One array for all lists costs less than one each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Run {
    const fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// One key of a mapping and its value. The key is always [`Value::Text`], as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub key: NodeId,
    /// The value.
    pub value: NodeId,
}

/// How a scalar was written, which decides how a place inside its text is found again in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Quoted,
    Literal,
    Other,
}

#[derive(Debug)]
pub(super) struct Stored<'text> {
    pub value: Value<'text>,
    pub span: Span,
    pub style: Style,
}

/// A file as a tree of values with spans. Aliases share the value they name.
#[derive(Debug)]
pub struct Tree<'text> {
    pub(super) text: &'text str,
    pub(super) stored: Vec<Stored<'text>>,
    pub(super) items: Vec<NodeId>,
    pub(super) entries: Vec<Entry>,
    pub(super) root: NodeId,
}

impl<'text> Tree<'text> {
    /// The outermost value.
    pub const fn root(&self) -> NodeId {
        self.root
    }

    /// The text the tree was read from.
    pub const fn text(&self) -> &'text str {
        self.text
    }

    /// A value.
    pub fn value(&self, id: NodeId) -> &Value<'text> {
        &self.stored[id.0 as usize].value
    }

    /// Where a value stands.
    pub fn span(&self, id: NodeId) -> Span {
        self.stored[id.0 as usize].span
    }

    pub(super) fn style(&self, id: NodeId) -> Style {
        self.stored[id.0 as usize].style
    }

    /// The text of a key or scalar; other values have none.
    pub fn text_of(&self, id: NodeId) -> &str {
        match self.value(id) {
            Value::Text(text) => text,
            _ => "",
        }
    }

    /// The entries of a mapping; other values have none.
    pub fn entries(&self, id: NodeId) -> &[Entry] {
        match self.value(id) {
            Value::Map(run) => &self.entries[run.range()],
            _ => &[],
        }
    }

    /// The items of a list; other values have none.
    pub fn items(&self, id: NodeId) -> &[NodeId] {
        match self.value(id) {
            Value::List(run) => &self.items[run.range()],
            _ => &[],
        }
    }

    /// The value of `key` in a mapping.
    pub fn get(&self, id: NodeId, key: &str) -> Option<Entry> {
        self.entries(id).iter().copied().find(|entry| self.text_of(entry.key) == key)
    }
}
