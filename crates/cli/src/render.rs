//! Problems as text and as JSON: two renderings of the same facts (`R-CLI-7`, `R-CLI-8`).

use std::borrow::Cow;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde_json::{Value, json};
use sprag_core::diagnostic::{Diagnostic, Severity};
use sprag_core::facts::Facts;
use sprag_engine::FileReport;

use crate::failure::Failure;

/// The page of a code, relative to the documentation.
const PAGES: &str = "docs/errors/";

/// Places further apart than this are not shown in one excerpt.
const LABELS_APART: usize = 64 * 1024;

/// Lines of source longer than this are cut around the place.
const TEXT_SHOWN: usize = 4_000;

/// All problems of a file, each with its source line underlined.
pub fn file_text(file: &FileReport, width: usize, quiet: bool) -> String {
    let name = shown(file);
    let mut text = String::new();
    if let Some(error) = &file.unreadable {
        text.push_str(&plain(&error.to_string(), &error.facts()));
    }
    let renderer = Renderer::styled().decor_style(DecorStyle::Ascii).term_width(width);
    for diagnostic in file.diagnostics.iter().filter(|diagnostic| !quiet || diagnostic.severity == Severity::Error) {
        text.push_str(&renderer.render(&[group(file, &name, diagnostic)]));
        text.push_str("\n\n");
    }
    text
}

/// The file as a person named it.
pub fn shown(file: &FileReport) -> String {
    if file.path.as_os_str() == "-" {
        return "<standard input>".into();
    }
    visible(&file.path.display().to_string()).into_owned()
}

fn group<'a>(file: &'a FileReport, name: &'a str, diagnostic: &'a Diagnostic) -> Group<'a> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let (excerpt, first_line, offset) = excerpt(file, diagnostic);
    let excerpt = printable(excerpt);
    let length = excerpt.len();
    let local = |span: sprag_core::diagnostic::Span| {
        let range = span.range();
        range.start.saturating_sub(offset).min(length)..range.end.saturating_sub(offset).min(length)
    };
    let mut snippet = Snippet::source(excerpt)
        .path(name)
        .line_start(first_line)
        .annotation(AnnotationKind::Primary.span(local(diagnostic.span)));
    for label in &diagnostic.labels {
        snippet = snippet.annotation(AnnotationKind::Context.span(local(label.span)).label(visible(&label.text)));
    }
    let group = level.primary_title(visible(&diagnostic.message)).id(diagnostic.code.as_str()).element(snippet);
    match &diagnostic.help {
        Some(help) => group.element(Level::HELP.message(visible(help))),
        None => group,
    }
}

/// Text from a file as it can be shown: what would steer a terminal is written out instead.
pub fn visible(text: &str) -> Cow<'_, str> {
    let steers =
        |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if !text.contains(steers) {
        return text.into();
    }
    text.chars().map(|c| if steers(c) { c.escape_unicode().to_string() } else { c.to_string() }).collect()
}

/// The lines that a problem is about, the number of the first, and where they start. Rendering then costs what is
/// shown, not what the file holds.
fn excerpt<'a>(file: &'a FileReport, diagnostic: &Diagnostic) -> (&'a str, usize, usize) {
    let text = file.text.as_str();
    let spans = || diagnostic.labels.iter().map(|label| label.span).chain([diagnostic.span]);
    let from = spans().map(|span| span.start as usize).min().unwrap_or(0).min(text.len());
    let to = spans().map(|span| span.end as usize).max().unwrap_or(0).clamp(from, text.len());
    // Labels may be far apart, but one place is never worth more than a screen.
    let to = if diagnostic.labels.is_empty() || to - from > LABELS_APART {
        floor(text, to.min(from + TEXT_SHOWN))
    } else {
        to
    };
    let mut start = text[..from].rfind('\n').map_or(0, |at| at + 1);
    let mut end = text[to..].find('\n').map_or(text.len(), |at| to + at);
    let first_line = text[..start].matches('\n').count() + 1;
    if from - start > TEXT_SHOWN {
        start = floor(text, from - TEXT_SHOWN / 2);
    }
    if end - to > TEXT_SHOWN {
        end = floor(text, to + TEXT_SHOWN / 2);
    }
    (&text[start..end], first_line, start)
}

/// Source as it can be shown, byte for byte as long: what would steer a terminal and the renderer lets through becomes a
/// dot, and the line ends of other systems become spaces.
fn printable(excerpt: &str) -> String {
    excerpt
        .chars()
        .map(|c| match c {
            '\u{80}'..='\u{9f}' => '\u{b7}',
            '\r' => ' ',
            c => c,
        })
        .collect()
}

/// The nearest character border at or before an offset.
fn floor(text: &str, offset: usize) -> usize {
    (0..=offset).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// A failure without a place in a file.
pub fn failure_text(failure: &Failure) -> String {
    let facts = failure.facts();
    format!("{}{}\n", plain(&failure.to_string(), &facts), pages(&[facts.code.as_str()]))
}

fn plain(message: &str, facts: &Facts) -> String {
    let title = Level::ERROR.primary_title(visible(message)).id(facts.code.as_str());
    let group = match &facts.help {
        Some(help) => Group::with_title(title).element(Level::HELP.message(visible(help))),
        None => Group::with_title(title),
    };
    format!("{}\n\n", Renderer::styled().decor_style(DecorStyle::Ascii).render(&[group]))
}

/// Where the codes of a report are explained.
pub fn pages(codes: &[&str]) -> String {
    let mut codes = codes.to_vec();
    codes.sort_unstable();
    codes.dedup();
    match codes.as_slice() {
        [] => String::new(),
        [code] => format!("more about `{code}`: {PAGES}{code}.md"),
        [first, ..] => format!("more about each code: {PAGES}, such as {PAGES}{first}.md"),
    }
}

/// The problems of one severity, in the stable shape of `R-CLI-8`.
pub fn file_json(file: &FileReport, severity: Severity) -> Vec<Value> {
    let name = shown(file);
    let unreadable = file.unreadable.iter().filter(|_| severity == Severity::Error).map(|error| {
        let facts = error.facts();
        entry(facts.code.as_str(), &error.to_string(), &name, None, facts.help.as_deref())
    });
    let in_text = file.problems().filter(|problem| problem.diagnostic.severity == severity).map(|problem| {
        let diagnostic = problem.diagnostic;
        let at = Some((problem.position.line, problem.position.column));
        entry(diagnostic.code.as_str(), &diagnostic.message, &name, at, diagnostic.help.as_deref())
    });
    unreadable.chain(in_text).collect()
}

fn entry(code: &str, message: &str, file: &str, at: Option<(usize, usize)>, help: Option<&str>) -> Value {
    json!({
        "code": code,
        "message": message,
        "file": file,
        "line": at.map(|(line, _)| line),
        "column": at.map(|(_, column)| column),
        "help": help,
    })
}

/// A failure as JSON.
pub fn failure_json(failure: &Failure) -> Value {
    let facts = failure.facts();
    json!({
        "error": {
            "code": facts.code.as_str(),
            "message": failure.to_string(),
            "help": facts.help,
            "exit_code": facts.code.exit(),
        }
    })
}
