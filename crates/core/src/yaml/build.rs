//! Reads text into a [`Tree`], refusing hostile input before it costs anything (`R-FILE-3`).

use std::collections::HashMap;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, Tag};

use super::scalar::resolve;
use super::seen::Seen;
use super::tree::{Entry, NodeId, Run, Stored, Style, Tree, Value};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Label, Severity, Span};

/// How large a file may be, in the ways that matter to a reader of trees.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How deep lists and mappings may nest.
    pub depth: usize,
    /// How many values all aliases of the file may stand for together; long texts count as several.
    pub alias_values: u64,
    /// How many values a file may hold.
    pub values: usize,
}

/// How many problems one reading collects.
const REPORTED: usize = 200;

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 64, alias_values: 100_000, values: 4_000_000 }
    }
}

/// Text that is no tree: one problem, at which reading stopped.
#[derive(Debug)]
pub struct Unreadable(pub Box<Diagnostic>);

/// Reads YAML or JSON, which is a part of it.
///
/// The second result are problems that do not stop the reading: duplicate keys (the first one counts), tags, keys that
/// are not scalars.
pub fn read(text: &str, limits: Limits) -> Result<(Tree<'_>, Vec<Diagnostic>), Unreadable> {
    // Real files have a value every ten bytes or so; one long scalar must not cost what they cost.
    let expected = (text.len() / 8).min(1 << 18);
    let mut builder = Builder {
        text,
        limits,
        stored: Vec::with_capacity(expected),
        weight: Vec::with_capacity(expected),
        items: Vec::new(),
        entries: Vec::new(),
        open: Vec::new(),
        spare: Vec::new(),
        anchors: HashMap::new(),
        alias_values: 0,
        root: None,
        problems: Vec::new(),
    };
    let mut options = granit_parser::Options::default();
    // The builder's own limit is lower and says more; this one only has to be out of its way.
    options.flow_nesting_limit = limits.depth + 8;
    options.block_nesting_limit = limits.depth + 8;
    options.emit_comments = false;
    let mut documents = 0;
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|error| builder.syntax(&error))?;
        let span = builder.span(span);
        if matches!(event, Event::DocumentStart(..)) {
            documents += 1;
            if documents > 1 {
                let message = "a workflow file holds one document, and a second one starts here";
                return Err(problem(Code::UNSUPPORTED_YAML, span, message, "put each workflow in a file of its own"));
            }
        }
        builder.event(event, span)?;
    }
    let Some(root) = builder.root else {
        return Err(problem(
            Code::EMPTY_FILE,
            Span::default(),
            "the file holds no workflow",
            "a small workflow is `workflow: hello` and, below it, `nodes: { greet: { run: echo hello } }`",
        ));
    };
    Ok((Tree { text, stored: builder.stored, items: builder.items, entries: builder.entries, root }, builder.problems))
}

fn problem(code: Code, span: Span, message: impl Into<String>, help: impl Into<String>) -> Unreadable {
    Unreadable(Box::new(Diagnostic {
        code,
        severity: Severity::Error,
        message: message.into(),
        span,
        labels: Vec::new(),
        help: Some(help.into()),
    }))
}

struct Builder<'text> {
    text: &'text str,
    limits: Limits,
    stored: Vec<Stored<'text>>,
    /// How many values each value stands for when aliases are followed.
    weight: Vec<u64>,
    items: Vec<NodeId>,
    entries: Vec<Entry>,
    open: Vec<Open>,
    /// Child lists of closed collections, emptied, for the next ones.
    spare: Vec<Vec<NodeId>>,
    /// Anchor to value; `None` while the anchored collection is still open.
    anchors: HashMap<usize, Option<NodeId>>,
    alias_values: u64,
    root: Option<NodeId>,
    problems: Vec<Diagnostic>,
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// A collection whose end has not been read.
struct Open {
    span: Span,
    anchor: usize,
    children: Vec<NodeId>,
    map: bool,
}

impl<'text> Builder<'text> {
    fn event(&mut self, event: Event<'text>, span: Span) -> Result<(), Unreadable> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                if let Some(tag) = tag {
                    self.refuse_tag(&tag.original(), span);
                }
                // Keys stay as written: `75: RATE_LIMITED` and `"75": RATE_LIMITED` are the same key.
                let value =
                    if style == ScalarStyle::Plain && !self.key_is_next() { resolve(text) } else { Value::Text(text) };
                let style = match style {
                    ScalarStyle::Plain => Style::Plain,
                    ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => Style::Quoted,
                    ScalarStyle::Literal => Style::Literal,
                    ScalarStyle::Folded => Style::Other,
                };
                let weight = match &value {
                    Value::Text(text) => 1 + text.len() as u64 / 16,
                    _ => 1,
                };
                let id = self.store(value, span, style, weight)?;
                self.settle_anchor(anchor, id);
                self.attach(id);
            }
            Event::SequenceStart(_, anchor, tag) => self.open(span, anchor, tag.as_deref(), false)?,
            Event::MappingStart(_, anchor, tag) => self.open(span, anchor, tag.as_deref(), true)?,
            Event::SequenceEnd => self.close(span, false)?,
            Event::MappingEnd => self.close(span, true)?,
            Event::Alias(anchor) => self.alias(anchor, span)?,
            _ => {}
        }
        Ok(())
    }

    fn key_is_next(&self) -> bool {
        self.open.last().is_some_and(|open| open.map && open.children.len() % 2 == 0)
    }

    fn open(&mut self, span: Span, anchor: usize, tag: Option<&Tag>, map: bool) -> Result<(), Unreadable> {
        if let Some(tag) = tag {
            self.refuse_tag(&tag.original(), span);
        }
        if self.open.len() >= self.limits.depth {
            return Err(self.too_deep(span));
        }
        if anchor > 0 {
            self.anchors.insert(anchor, None);
        }
        let children = self.spare.pop().unwrap_or_default();
        self.open.push(Open { span, anchor, children, map });
        Ok(())
    }

    fn close(&mut self, end: Span, map: bool) -> Result<(), Unreadable> {
        let Some(mut open) = self.open.pop() else { return Ok(()) };
        let weight = open.children.iter().fold(1_u64, |sum, id| sum.saturating_add(self.weight[id.0 as usize]));
        // A block collection ends where the next thing starts; its own text ends with its last child.
        let inner_end = open.children.last().map_or(open.span.end, |id| self.stored[id.0 as usize].span.end);
        let last = if self.text.get(end.range()).is_some_and(|text| text == "]" || text == "}") {
            end.end
        } else {
            inner_end.max(open.span.start)
        };
        let span = Span { start: open.span.start, end: last };
        let value = if map { Value::Map(self.pair(&open.children)) } else { Value::List(self.list(&open.children)) };
        open.children.clear();
        self.spare.push(open.children);
        let id = self.store(value, span, Style::Other, weight)?;
        self.settle_anchor(open.anchor, id);
        self.attach(id);
        Ok(())
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<(), Unreadable> {
        let Some(Some(target)) = self.anchors.get(&anchor).copied() else {
            let help = "write the value out, or move the anchor before this place";
            return Err(problem(Code::UNSUPPORTED_YAML, span, "this alias stands inside the value it names", help));
        };
        self.alias_values = self.alias_values.saturating_add(self.weight[target.0 as usize]);
        if self.alias_values > self.limits.alias_values {
            let message = format!("the aliases of this file stand for more than {} values", self.limits.alias_values);
            return Err(problem(
                Code::TOO_LARGE,
                span,
                message,
                "write the values out, or use `defaults`; `limits.alias_values` in `sprag.toml` raises the limit",
            ));
        }
        self.attach(target);
        Ok(())
    }

    fn list(&mut self, children: &[NodeId]) -> Run {
        let start = offset(self.items.len());
        self.items.extend_from_slice(children);
        Run { start, end: offset(self.items.len()) }
    }

    /// Pairs keys with values; reports duplicates and keys that are no scalars, and follows merge keys.
    fn pair(&mut self, children: &[NodeId]) -> Run {
        let start = self.entries.len();
        let mut seen = Seen::new(children.len() / 2);
        let mut merged = Vec::new();
        for pair in children.chunks_exact(2) {
            let entry = Entry { key: pair[0], value: pair[1] };
            let Stored { value: Value::Text(key), span, style } = &self.stored[entry.key.0 as usize] else {
                let start = self.stored[entry.key.0 as usize].span.start as usize;
                let braces = start > 0 && self.text.get(start - 1..start + 1) == Some("{{");
                let help = if braces { "text that starts with `{{` needs quotes" } else { "quote it, or rename it" };
                self.report(Code::UNSUPPORTED_YAML, entry.key, "a key must be a simple name", help);
                continue;
            };
            if key == "<<" && *style == Style::Plain {
                merged.push(entry.value);
            } else if let Some(first) = self.first(&seen, start, key) {
                if self.problems.len() >= REPORTED {
                    continue;
                }
                self.problems.push(Diagnostic {
                    code: Code::DUPLICATE_KEY,
                    severity: Severity::Error,
                    message: format!("`{key}` stands here for the second time"),
                    span: *span,
                    labels: vec![Label { span: self.stored[first.0 as usize].span, text: "first here".into() }],
                    help: Some("remove one of the two, or rename it".into()),
                });
            } else {
                seen.add(key, entry.key);
                self.entries.push(entry);
            }
        }
        for value in merged {
            self.merge(value, start, &mut seen);
        }
        Run { start: offset(start), end: offset(self.entries.len()) }
    }

    /// The key of this name among the entries since `start`.
    fn first(&self, seen: &Seen, start: usize, key: &str) -> Option<NodeId> {
        match seen {
            Seen::Few => {
                let same = |entry: &&Entry| matches!(&self.stored[entry.key.0 as usize].value, Value::Text(text) if text == key);
                self.entries[start..].iter().find(same).map(|entry| entry.key)
            }
            Seen::Many(names) => names.get(key).copied(),
        }
    }

    /// `<<: *base`: the entries of the base that the mapping does not have itself.
    fn merge(&mut self, value: NodeId, start: usize, seen: &mut Seen) {
        let bases: Vec<Run> = match &self.stored[value.0 as usize].value {
            Value::Map(base) => vec![*base],
            Value::List(list) => self.items[list.start as usize..list.end as usize]
                .iter()
                .filter_map(|item| match &self.stored[item.0 as usize].value {
                    Value::Map(base) => Some(*base),
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        };
        if bases.is_empty() {
            self.report(
                Code::UNSUPPORTED_YAML,
                value,
                "`<<` merges a mapping",
                "name an anchored mapping: `<<: *base`",
            );
        }
        for at in bases.into_iter().flat_map(|base| base.start as usize..base.end as usize) {
            let entry = self.entries[at];
            if let Value::Text(key) = &self.stored[entry.key.0 as usize].value
                && self.first(seen, start, key).is_none()
            {
                seen.add(key, entry.key);
                self.entries.push(entry);
            }
        }
    }

    fn store(&mut self, value: Value<'text>, span: Span, style: Style, weight: u64) -> Result<NodeId, Unreadable> {
        if self.stored.len() >= self.limits.values {
            let message = format!("the file holds more than {} values", self.limits.values);
            return Err(problem(
                Code::TOO_LARGE,
                span,
                message,
                "split it into sub-workflows, or read large data in a command",
            ));
        }
        let id = offset(self.stored.len());
        self.stored.push(Stored { value, span, style });
        self.weight.push(weight);
        Ok(NodeId(id))
    }

    fn settle_anchor(&mut self, anchor: usize, id: NodeId) {
        if anchor > 0 {
            self.anchors.insert(anchor, Some(id));
        }
    }

    fn attach(&mut self, id: NodeId) {
        match self.open.last_mut() {
            Some(open) => open.children.push(id),
            None => self.root = self.root.or(Some(id)),
        }
    }

    fn report(&mut self, code: Code, at: NodeId, message: &str, help: &str) {
        if self.problems.len() >= REPORTED {
            return;
        }
        let span = self.stored[at.0 as usize].span;
        self.problems.push(*problem(code, span, message, help).0);
    }

    fn refuse_tag(&mut self, tag: &str, span: Span) {
        if self.problems.len() >= REPORTED {
            return;
        }
        let message = format!("the tag `{tag}` has no meaning in a workflow file");
        self.problems
            .push(*problem(Code::UNSUPPORTED_YAML, span, message, "remove the tag; quote a value to make it text").0);
    }

    fn too_deep(&self, span: Span) -> Unreadable {
        let message = format!("values nest deeper than {} levels here", self.limits.depth);
        problem(Code::TOO_DEEP, span, message, "flatten the value, or keep it in a file that a command reads")
    }

    fn syntax(&self, error: &ScanError) -> Unreadable {
        let at = error.marker().byte_offset().unwrap_or(0).min(self.text.len());
        let start = u32::try_from(at).unwrap_or(u32::MAX);
        let end =
            self.text.get(at..).and_then(|rest| rest.chars().next()).map_or(start, |next| {
                start + if next == '\n' { 0 } else { u32::try_from(next.len_utf8()).unwrap_or(1) }
            });
        let span = Span { start, end };
        let message = error.info();
        if matches!(error.kind(), ErrorKind::RecursionLimitExceeded) {
            return self.too_deep(span);
        }
        let line = self.text[..at].rfind('\n').map_or(0, |end| end + 1);
        let indentation: String = self.text[line..].chars().take_while(|c| c.is_whitespace() && *c != '\n').collect();
        let help = if indentation.contains('\t') {
            "YAML is indented with spaces, not with tabs"
        } else if matches!(error.kind(), ErrorKind::UnknownAnchor) {
            "an alias `*name` needs an anchor `&name` before it"
        } else {
            "check the indentation, and that every quote and bracket before this place is closed; \
             text with `: `, ` #`, `{` or `}` needs quotes"
        };
        problem(Code::YAML_SYNTAX, span, message, help)
    }

    fn span(&self, span: granit_parser::Span) -> Span {
        let offset = |at: Option<usize>| u32::try_from(at.unwrap_or(0).min(self.text.len())).unwrap_or(u32::MAX);
        Span { start: offset(span.start.byte_offset()), end: offset(span.end.byte_offset()) }
    }
}
