//! From a path in the typed model back to the place in the file.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::access::Reader;
use super::tree::{NodeId, Style, Value};
use crate::diagnostic::Span;

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

/// Which part of an entry a problem is about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Part {
    /// The value.
    #[default]
    Value,
    /// The key.
    Key,
    /// A stretch of the text of the value, in bytes.
    Stretch(std::ops::Range<usize>),
}

/// The way from the root of a file to a value, such as `nodes.ship.needs[0]`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Path(Vec<Step>);

impl Path {
    /// The root.
    pub const fn root() -> Self {
        Self(Vec::new())
    }

    /// One key further.
    #[must_use]
    pub fn key(&self, key: impl Into<String>) -> Self {
        let mut steps = self.0.clone();
        steps.push(Step::Key(key.into()));
        Self(steps)
    }

    /// One list item further.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        let mut steps = self.0.clone();
        steps.push(Step::Index(index));
        Self(steps)
    }

    /// The value itself.
    pub fn value(self) -> Place {
        Place { path: self, part: Part::Value }
    }

    /// The last key of the path.
    pub fn name(self) -> Place {
        Place { path: self, part: Part::Key }
    }

    /// A stretch of the value's text.
    pub fn stretch(self, range: std::ops::Range<usize>) -> Place {
        Place { path: self, part: Part::Stretch(range) }
    }
}

/// A path and the part of it that is meant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// The way to the value.
    pub path: Path,
    /// The part.
    pub part: Part,
}

impl Reader<'_, '_> {
    /// The span of a place. Where the path leaves the file (an implied value), the last part that exists.
    pub fn locate(&self, place: &Place) -> Span {
        let mut key = None;
        let mut value = self.tree.root();
        for step in &place.path.0 {
            let next = match step {
                Step::Key(name) => self
                    .entries(value)
                    .find(|(_, entry)| self.tree.text_of(entry.key) == name)
                    .map(|(_, entry)| (Some(entry.key), entry.value)),
                Step::Index(wanted) => self.items(value).nth(*wanted).map(|(_, item)| (None, item)),
            };
            let Some((next_key, next_value)) = next else { break };
            (key, value) = (next_key, next_value);
        }
        match (&place.part, key) {
            (Part::Key, Some(key)) => self.tree.span(key),
            (Part::Stretch(range), _) => self.stretch(value, range),
            _ => self.first_line(value),
        }
    }

    /// The span of a value; of one that goes over several lines, only its first.
    pub fn first_line(&self, id: NodeId) -> Span {
        let span = self.tree.span(id);
        let text = self.tree.text().get(span.range()).unwrap_or_default();
        let length = text.find('\n').unwrap_or(text.len());
        Span { start: span.start, end: span.start + u32::try_from(length).unwrap_or(0) }
    }

    /// Where a stretch of a scalar's text stands in the file; the whole scalar if escapes or folding hide it.
    fn stretch(&self, id: NodeId, range: &std::ops::Range<usize>) -> Span {
        let (whole, Value::Text(text)) = (self.tree.span(id), self.tree.value(id)) else { return self.first_line(id) };
        let source = self.tree.text().get(whole.range()).unwrap_or_default();
        let start = match self.tree.style(id) {
            Style::Plain if source.starts_with(text.as_ref()) => Some(range.start),
            Style::Quoted if source.get(1..).is_some_and(|inner| inner.starts_with(text.as_ref())) => {
                Some(range.start + 1)
            }
            Style::Literal => literal_offset(source, text, range.start),
            _ => None,
        };
        let Some(start) = start else { return self.first_line(id) };
        let line_end = source.get(start..).and_then(|rest| rest.find('\n')).map_or(source.len(), |at| start + at);
        let end = (start + range.len()).min(line_end).max(start);
        let absolute = |offset: usize| whole.start + u32::try_from(offset).unwrap_or(0);
        Span { start: absolute(start), end: absolute(end) }
    }
}

/// In a block scalar (`|`), each line of the text is a line of the file behind the indentation.
fn literal_offset(source: &str, text: &str, offset: usize) -> Option<usize> {
    let line = text.get(..offset)?.matches('\n').count();
    let column = offset - text.get(..offset)?.rfind('\n').map_or(0, |at| at + 1);
    let wanted = text.split('\n').nth(line)?;
    let mut start = 0;
    // The span of a block scalar starts at its header or at its first line, depending on the header; both are tried.
    let lines: Vec<(usize, &str)> = source
        .split_inclusive('\n')
        .map(|line| {
            let at = start;
            start += line.len();
            (at, line.trim_end_matches(['\r', '\n']))
        })
        .collect();
    let header = usize::from(source.starts_with('|'));
    let (at, found) = *lines.get(line + header)?;
    found.ends_with(wanted).then(|| at + found.len() - wanted.len() + column)
}

impl Reader<'_, '_> {
    /// Follows a path as far as it goes, read or left out.
    fn raw(&self, path: &Path) -> Option<NodeId> {
        path.0.iter().try_fold(self.tree.root(), |at, step| match step {
            Step::Key(name) => self.tree.get(at, name).map(|entry| entry.value),
            Step::Index(wanted) => self.items(at).nth(*wanted).map(|(_, item)| item),
        })
    }

    /// Whether a node has this id, read or left out: one of `nodes`, of a phase, or of a phase that generates.
    pub fn has_node(&self, id: &str) -> bool {
        let root = self.tree.root();
        let phases = self.tree.get(root, "phases").map_or(&[][..], |entry| self.tree.items(entry.value));
        let is_named =
            |phase: &NodeId| self.tree.get(*phase, "name").is_some_and(|name| self.tree.text_of(name.value) == id);
        let generated = phases.iter().any(|phase| self.tree.get(*phase, "generate").is_some() && is_named(phase));
        let mut nodes = std::iter::once(&root).chain(phases).filter_map(|owner| self.tree.get(*owner, "nodes"));
        generated || nodes.any(|nodes| self.tree.get(nodes.value, id).is_some())
    }

    /// The way to a place of the text as people write it, such as `nodes.ship.needs[0]`; empty for the whole.
    pub fn way_to(&self, offset: u32) -> String {
        let mut way = String::new();
        let mut at = self.tree.root();
        loop {
            let ends_behind = |id: NodeId| offset < self.tree.span(id).end;
            let (entries, items) = (self.tree.entries(at), self.tree.items(at));
            let entry = entries.partition_point(|entry| self.tree.span(entry.key).start <= offset).checked_sub(1);
            let item = items.partition_point(|item| self.tree.span(*item).start <= offset).checked_sub(1);
            if let Some(entry) = entry.map(|entry| entries[entry]).filter(|entry| ends_behind(entry.value)) {
                if !way.is_empty() {
                    way.push('.');
                }
                way.push_str(self.tree.text_of(entry.key));
                at = entry.value;
            } else if let Some(item) = item.filter(|item| ends_behind(items[*item])) {
                let _ = write!(way, "[{item}]");
                at = items[item];
            } else {
                return way;
            }
        }
    }

    /// Whether a mapping of the file has this key, read or left out.
    pub fn has_raw_key(&self, path: &Path, key: &str) -> bool {
        self.raw(path).is_some_and(|id| self.tree.get(id, key).is_some())
    }

    /// Whether something at or below this place was left out.
    pub fn is_damaged(&self, path: &Path) -> bool {
        let Some(id) = self.raw(path) else { return !self.is_whole() };
        self.left_out().any(|(container, _)| self.holds(id, container))
    }

    /// The keys of a mapping of mappings in which `part`, or something in it, was left out.
    pub fn entries_with_unread(&self, path: &Path, part: &str) -> BTreeSet<&str> {
        let mut found = BTreeSet::new();
        let Some(outer) = self.raw(path) else { return found };
        if self.is_whole() {
            return found;
        }
        let entries = self.tree.entries(outer);
        for (container, index) in self.left_out() {
            // Values stand in the order of the file, so the entry around a place is the last one that starts before it.
            let start = self.tree.span(container).start;
            let at = entries.partition_point(|entry| self.tree.span(entry.value).start <= start);
            let Some(entry) = at.checked_sub(1).and_then(|at| entries.get(at)) else { continue };
            let whole = container == entry.value
                && self.tree.entries(container).get(index).is_some_and(|entry| self.tree.text_of(entry.key) == part);
            let inside = self.tree.get(entry.value, part).is_some_and(|entry| self.holds(entry.value, container));
            if whole || inside {
                found.insert(self.tree.text_of(entry.key));
            }
        }
        found
    }

    fn holds(&self, outer: NodeId, inner: NodeId) -> bool {
        let (outer, inner) = (self.tree.span(outer), self.tree.span(inner));
        outer.start <= inner.start && inner.end <= outer.end
    }
}
