//! Reads what can be read: every mistake in shape is reported, left out, and the rest is tried again.

use serde::Deserialize;

use super::problems::REPORTED;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Severity};
use crate::file::{Edge, Node};
use crate::suggest;
use crate::yaml::{NodeId, Reader, Shape, ShapeError, Value, typed};

/// How many bytes of the file are read again in all. Trying again costs what the tried part costs, so many mistakes in
/// one large part would otherwise take minutes; what was found by then is reported.
const READ_AGAIN: usize = 64 * 1024 * 1024;

/// Reads a workflow with all its mistakes left out. `None` if nothing is left to check, or enough said already.
pub(super) fn salvage<T: for<'de> Deserialize<'de>>(
    reader: &mut Reader<'_, '_>,
    found: &mut Vec<Diagnostic>,
) -> Option<T> {
    let mut salvage = Salvage { reader, found, left: READ_AGAIN };
    // Piece by piece first: the cost of trying again is then that of one node or edge, not of the file.
    for (entry, node) in salvage.pieces("nodes") {
        if salvage.piece::<Node>(node)?.is_none() {
            salvage.reader.leave_out(entry);
        }
    }
    for (entry, edge) in salvage.pieces("edges") {
        if salvage.piece::<Edge>(edge)?.is_none() {
            salvage.reader.leave_out(entry);
        }
    }
    salvage.piece::<T>(salvage.reader.tree.root())?
}

struct Salvage<'s, 'tree, 'text> {
    reader: &'s mut Reader<'tree, 'text>,
    found: &'s mut Vec<Diagnostic>,
    left: usize,
}

impl Salvage<'_, '_, '_> {
    /// The values of a mapping or list at the top of the file or of a phase, each with the entry that holds it.
    fn pieces(&self, key: &str) -> Vec<((NodeId, usize), NodeId)> {
        let tree = self.reader.tree;
        let phases = tree.get(tree.root(), "phases").map_or(&[][..], |entry| tree.items(entry.value));
        let owners =
            std::iter::once(tree.root()).chain(phases.iter().copied()).filter_map(|owner| tree.get(owner, key));
        let mut pieces = Vec::new();
        for owner in owners.map(|entry| entry.value) {
            let values = tree.entries(owner).iter().map(|entry| entry.value).chain(tree.items(owner).iter().copied());
            pieces.extend(values.enumerate().map(|(at, value)| ((owner, at), value)));
        }
        pieces
    }

    /// Reads one piece again and again, each time without the mistake found before. `None` once enough is said; the
    /// piece itself is `None` if nothing of it can be read.
    #[expect(clippy::option_option, reason = "to stop and to find nothing are two things")]
    fn piece<T: for<'de> Deserialize<'de>>(&mut self, id: NodeId) -> Option<Option<T>> {
        let span = self.reader.tree.span(id);
        loop {
            match typed::<T>(self.reader, id) {
                Ok(value) => return Some(Some(value)),
                Err(error) => {
                    let more = leave_out(self.reader, error, self.found);
                    self.left = self.left.checked_sub(span.range().len())?;
                    if self.found.len() >= REPORTED {
                        return None;
                    }
                    if !more {
                        return Some(None);
                    }
                }
            }
        }
    }
}

/// Reports a mistake and leaves out the entry that holds it. False if there is nothing to leave out.
fn leave_out(reader: &mut Reader<'_, '_>, error: ShapeError, found: &mut Vec<Diagnostic>) -> bool {
    let entry = error.spot.and_then(|spot| spot.entry);
    let repeated = entry.is_some_and(|entry| !reader.leave_out(entry));
    // A key that was left out for a mistake of its own is missing now; that is no second mistake.
    let known = matches!((&error.shape, error.spot), (Shape::Missing { key }, Some(spot)) if reader.tree.get(spot.at, key).is_some());
    // Text that starts with `{{` is a mapping with a mapping as its key to YAML, and that has been said.
    let said = found.iter().any(|problem| problem.code == Code::UNSUPPORTED_YAML);
    let braces = said
        && matches!(error.shape, Shape::WrongType { .. })
        && error.spot.is_some_and(|spot| reader.tree.text()[reader.tree.span(spot.at).range()].starts_with("{{"));
    if !repeated && !known && !braces {
        found.push(described(reader, error));
    }
    entry.is_some() && !repeated
}

fn described(reader: &Reader<'_, '_>, error: ShapeError) -> Diagnostic {
    let span = error.spot.map_or_else(Default::default, |spot| reader.first_line(spot.at));
    let plain = error.to_string();
    let (code, message, help) = match error.shape {
        Shape::UnknownKey { key, expected } => {
            let help = suggest::did_you_mean(&key, expected.iter().copied())
                .or_else(|| habit(&key, expected))
                .unwrap_or_else(|| known_keys(expected));
            (Code::UNKNOWN_KEY, plain, Some(help))
        }
        Shape::UnknownWord { word, expected } => {
            let near = suggest::did_you_mean(&word, expected.iter().copied());
            let message = format!("`{word}` is not one of {}", all(expected));
            (Code::INVALID_VALUE, message, near)
        }
        Shape::WrongType { found, expected } => {
            let help = error.spot.and_then(|spot| advice(reader, spot.at, &expected));
            (Code::WRONG_TYPE, format!("expected {}, found {found}", readable(&expected)), help)
        }
        Shape::Missing { key } => (Code::MISSING_KEY, plain, Some(format!("add `{key}:` here"))),
        Shape::Invalid { message, help, is_id } => {
            let message = whole_numbers(&message);
            let code = if is_id { Code::INVALID_ID } else { Code::INVALID_VALUE };
            (code, message, help)
        }
    };
    Diagnostic { code, severity: Severity::Error, message, span, labels: Vec::new(), help }
}

fn all(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// What other tools call a thing that is here too.
const HABITS: [(&str, &str); 24] = [
    ("command", "run"),
    ("commands", "run"),
    ("cmd", "run"),
    ("script", "run"),
    ("exec", "run"),
    ("depends", "needs"),
    ("depends_on", "needs"),
    ("dependencies", "needs"),
    ("after", "needs"),
    ("requires", "needs"),
    ("retries", "retry"),
    ("environment", "env"),
    ("variables", "env"),
    ("working_directory", "cwd"),
    ("workdir", "cwd"),
    ("dir", "cwd"),
    ("steps", "nodes"),
    ("jobs", "nodes"),
    ("tasks", "nodes"),
    ("stages", "phases"),
    ("name", "workflow"),
    ("inputs", "params"),
    ("on", "schedule"),
    ("cron", "schedule"),
];

fn habit(key: &str, expected: &[&str]) -> Option<String> {
    if matches!(key, "if" | "when" | "condition") && expected.contains(&"needs") {
        return Some("conditions stand on edges: `needs: [{ node: …, condition: output.ok }]`".into());
    }
    let (_, ours) = HABITS.iter().find(|(theirs, ours)| *theirs == key && expected.contains(ours))?;
    Some(format!("here it is called `{ours}`"))
}

/// The keys of a place, if they are few enough to read.
fn known_keys(expected: &[&str]) -> String {
    const READABLE: usize = 14;
    match expected.len() {
        0 => "nothing stands inside here".into(),
        1..=READABLE => format!("the keys here are {}", all(expected)),
        _ => "`sprag schema` lists every key".into(),
    }
}

/// Serde names numbers as Rust does.
fn whole_numbers(message: &str) -> String {
    ["u8", "u16", "u32", "u64", "usize", "i32", "i64"]
        .iter()
        .find_map(|kind| message.strip_prefix("expected ")?.strip_prefix(kind)?.strip_prefix(','))
        .map_or_else(|| message.to_owned(), |rest| format!("expected a whole number that fits here,{rest}"))
}

/// Serde's words for types, in ours.
fn readable(expected: &str) -> String {
    match expected {
        "a string" => "text".into(),
        "a boolean" => "`true` or `false`".into(),
        "a sequence" => "a list".into(),
        "a map" => "a mapping".into(),
        "u8" | "u16" | "u32" | "u64" | "usize" | "i32" | "i64" => "a whole number".into(),
        "f64" => "a number".into(),
        other if other.starts_with("struct ") => "a mapping".into(),
        other if other.starts_with("tuple struct ") => "text".into(),
        other => other.into(),
    }
}

fn advice(reader: &Reader<'_, '_>, at: NodeId, expected: &str) -> Option<String> {
    let wants_text = matches!(expected, "a string" | "a name") || expected.starts_with("text");
    let written = reader.tree.text().get(reader.tree.span(at).range()).unwrap_or_default();
    match reader.tree.value(at) {
        Value::Null => Some("give it a value".into()),
        Value::Integer(_) | Value::Unsigned(_) | Value::Float(_) | Value::Bool(_) if wants_text => {
            Some(format!("quote it: `\"{written}\"`"))
        }
        Value::Map(_) if written.starts_with("{{") => {
            Some("text that starts with `{{` needs quotes: YAML reads it as a mapping".into())
        }
        Value::List(_) if expected == "a map" => {
            Some("write a mapping, each name with what it stands for: `name: …`".into())
        }
        Value::Text(text) if expected == "a sequence" => Some(format!("write a list: `[{text}]`")),
        Value::Text(text) if expected == "a boolean" && matches!(text.as_ref(), "yes" | "on" | "no" | "off") => {
            let word = if matches!(text.as_ref(), "yes" | "on") { "true" } else { "false" };
            Some(format!("YAML 1.2 knows only `true` and `false`: write `{word}`"))
        }
        _ => structure(expected).map(str::to_owned),
    }
}

/// What a mapping looks like that was expected, by the name of its type.
fn structure(expected: &str) -> Option<&'static str> {
    Some(match expected.strip_prefix("struct ")? {
        "Node" => "a node is a mapping such as `{ run: make }`",
        "Retry" => "write `{ max_attempts: 3 }`",
        "Recovery" => "write `{ max_attempts: 3, human: pause }`",
        "Approve" => "write `{ message: Ship it? }`",
        "Http" => "write `{ method: POST, url: https://… }`",
        "Agent" => "write `{ provider: anthropic, model: sonnet, prompt: … }`",
        "Wait" => "write `{ for: 10m }`",
        "MapOver" => "write `{ over: params.list, node: { run: … } }`",
        "Loop" => "write `{ workflow: …, until: output.done, max: 5 }`",
        "Budget" => "write `{ usd: 20 }`",
        "Param" => "write `{ type: string }`",
        "SecretSource" => "write `{ env: NAME }`",
        "Schedule" => "write `{ cron: 0 6 * * 1-5 }`",
        "Workflow" => "a workflow file is a mapping with `workflow` and `nodes`",
        _ => return None,
    })
}
