//! Checking and opening workflow files, with everything they name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sprag_core::codes::Code;
use sprag_core::definition::Definition;
use sprag_core::diagnostic::{Diagnostic, Severity, Span};
use sprag_core::limits::Limits;
use sprag_core::load::{Loaded, Mismatch, load, mismatches, place_of_sub_workflow};

use crate::error::EngineError;
use crate::project::Project;
use crate::report::{FileReport, Report};
use crate::stored::Source;
use crate::{compiled, source};

/// How deep sub-workflow files may name each other.
const FILE_DEPTH: usize = 16;

/// A workflow file that was checked together with everything it names.
#[derive(Debug)]
pub struct Checked {
    /// The workflow, if nothing stops it.
    pub definition: Option<Definition>,
    /// What it was compiled from.
    pub source: Option<Arc<Source>>,
    /// What was found, warnings included.
    pub report: Report,
}

/// Checks a workflow file and the sub-workflow files it names. Runs nothing, resolves no secret, uses no network.
pub fn validate(project: &Project, path: &Path) -> Checked {
    check(project, path, true)
}

/// Loads a workflow file to use it: like [`validate`], but an unchanged file comes from its compiled form.
pub fn open(project: &Project, path: &Path) -> Checked {
    check(project, path, false)
}

fn check(project: &Project, path: &Path, fresh: bool) -> Checked {
    let mut walk = Walk { project, fresh, report: Report::default(), done: BTreeMap::new(), open: Vec::new() };
    let tree = walk.file(path).filter(|_| walk.report.is_valid());
    let (definition, source) = tree.map(|tree| (Arc::unwrap_or_clone(tree.definition), tree.source)).unzip();
    Checked { definition, source, report: walk.report }
}

/// The JSON Schema of workflow files (`R-FILE-2`).
pub fn schema() -> String {
    let mut text = format!("{:#}", sprag_core::schema::json_schema());
    text.push('\n');
    text
}

struct Walk<'project> {
    project: &'project Project,
    /// Whether warnings are wanted, which compiled forms do not hold.
    fresh: bool,
    report: Report,
    /// Files that are done; `None` for one with problems.
    done: BTreeMap<PathBuf, Option<Tree>>,
    open: Vec<PathBuf>,
}

/// A file and all that it names. A file that is named twice counts twice: so it is stored, and so it may run.
#[derive(Clone)]
struct Tree {
    definition: Arc<Definition>,
    source: Arc<Source>,
    nodes: usize,
    bytes: u64,
}

impl Walk<'_> {
    /// Reads one file and, through it, all that it names. Problems are added to the report.
    fn file(&mut self, path: &Path) -> Option<Tree> {
        let text = match source::read(path, self.project.limits()) {
            Ok(text) => text,
            Err(error) => {
                self.add(path, String::new(), Vec::new(), Some(error));
                return None;
            }
        };
        let kept = self.project.state().filter(|_| !self.fresh);
        if let Some(definition) = kept.and_then(|state| compiled::find(state, &text, self.project.limits())) {
            return self.linked(path, text, Vec::new(), definition);
        }
        match load(&text, self.project.limits()) {
            Ok(Loaded { definition, warnings }) => {
                if let Some(state) = self.project.state() {
                    compiled::keep(state, &text, &definition);
                }
                self.linked(path, text, warnings, definition)
            }
            Err(problems) => {
                self.add(path, text, problems, None);
                None
            }
        }
    }

    /// Follows the files that a workflow names, and makes them a part of it.
    fn linked(
        &mut self,
        path: &Path,
        text: String,
        mut found: Vec<Diagnostic>,
        mut definition: Definition,
    ) -> Option<Tree> {
        let limits = *self.project.limits();
        let place = self.report.files.len();
        let (mut files, mut sources) = (BTreeMap::new(), BTreeMap::new());
        let (mut nodes, mut bytes) = (definition.size(), text.len() as u64);
        let mut small = true;
        self.open.push(absolute(path));
        for name in definition.sub_workflow_files().into_iter().map(str::to_owned).collect::<Vec<_>>() {
            match self.named(path, &name) {
                Ok(Some(child)) => {
                    let handed = definition.handed_to(&name);
                    let wrong: Vec<_> =
                        handed.into_iter().flat_map(|handed| mismatches(&child.definition.params, handed)).collect();
                    let span = if wrong.is_empty() {
                        Span::default()
                    } else {
                        place_of_sub_workflow(&text, &name, self.project.limits())
                    };
                    found.extend(wrong.into_iter().map(|Mismatch { message, help, .. }| Diagnostic {
                        code: Code::UNDEFINED_NAME,
                        severity: Severity::Error,
                        message,
                        span,
                        labels: Vec::new(),
                        help: Some(help),
                    }));
                    nodes = nodes.saturating_add(child.nodes);
                    bytes = bytes.saturating_add(child.bytes);
                    if small && (nodes > limits.nodes || bytes > limits.bytes) {
                        small = false;
                        found.push(too_large(&limits, nodes, place_of_sub_workflow(&text, &name, &limits)));
                    }
                    sources.insert(name.clone(), child.source);
                    files.insert(name, child.definition);
                }
                Ok(None) => {}
                Err((code, message, help)) => found.push(Diagnostic {
                    code,
                    severity: Severity::Error,
                    message,
                    span: place_of_sub_workflow(&text, &name, self.project.limits()),
                    labels: Vec::new(),
                    help: Some(help),
                }),
            }
        }
        self.open.pop();
        let valid = found.iter().all(|diagnostic| diagnostic.severity != Severity::Error);
        found.sort_by_key(|diagnostic| diagnostic.span);
        let source = Arc::new(Source { text: text.clone(), files: sources });
        let report = FileReport { path: path.to_owned(), text, diagnostics: found, unreadable: None };
        self.report.files.insert(place, report);
        if valid && !files.is_empty() {
            definition.link(files);
        }
        valid.then(|| Tree { definition: Arc::new(definition), source, nodes, bytes })
    }

    /// A file named by another one, or nothing if it has problems of its own.
    fn named(&mut self, from: &Path, name: &str) -> Result<Option<Tree>, (Code, String, String)> {
        let path = from.parent().unwrap_or_else(|| Path::new("")).join(name);
        let whole = absolute(&path);
        let home = self.open.first().and_then(|main| main.parent()).unwrap_or_else(|| Path::new(""));
        let inside = whole.starts_with(absolute(self.project.root())) || whole.starts_with(home);
        if Path::new(name).is_absolute() || (!inside && path.exists()) {
            let message = format!("`{name}` is outside the project");
            let help = "copy it into the project; a sub-workflow file is named relative to the file that names it";
            return Err((Code::INVALID_VALUE, message, help.into()));
        }
        if let Some(known) = self.done.get(&whole) {
            return Ok(known.clone());
        }
        if let Some(at) = self.open.iter().position(|open| *open == whole) {
            let mut names: Vec<String> = self.open[at..].iter().map(|open| file_name(open)).collect();
            names.push(file_name(&whole));
            let message = format!("these files run each other: {}", names.join(" -> "));
            return Err((Code::CYCLE, message, "use a `loop` to repeat a workflow".into()));
        }
        if self.open.len() >= FILE_DEPTH {
            let message = format!("sub-workflow files name each other more than {FILE_DEPTH} deep here");
            return Err((Code::TOO_DEEP, message, "put some of them into one file".into()));
        }
        let readable = match std::fs::metadata(&path) {
            Ok(kind) if kind.is_file() => Ok(()),
            Ok(_) => Err(EngineError::Unreadable { path: path.clone(), why: "it is not a regular file".into() }),
            Err(error) => Err(EngineError::from_io(path.clone(), &error)),
        };
        if let Err(error) = readable {
            let facts = error.facts();
            let relative = "a sub-workflow file is named relative to the file that names it";
            let help = match &error {
                EngineError::NotFound { nearest: Some(nearest), .. } => format!("did you mean `{nearest}`?"),
                _ => relative.into(),
            };
            return Err((facts.code, error.to_string(), help));
        }
        let child = self.file(&path);
        self.done.insert(whole, child.clone());
        Ok(child)
    }

    fn add(&mut self, path: &Path, text: String, diagnostics: Vec<Diagnostic>, unreadable: Option<EngineError>) {
        self.report.files.push(FileReport { path: path.to_owned(), text, diagnostics, unreadable });
    }
}

/// The problem of files that are small enough each, and not together.
fn too_large(limits: &Limits, nodes: usize, span: Span) -> Diagnostic {
    let (what, key) = if nodes > limits.nodes {
        (format!("{} nodes", limits.nodes), "nodes")
    } else {
        (format!("{} bytes", limits.bytes), "bytes")
    };
    Diagnostic {
        code: Code::TOO_LARGE,
        severity: Severity::Error,
        message: format!("with the sub-workflow files that it names, the workflow has more than {what}"),
        span,
        labels: Vec::new(),
        help: Some(format!(
            "name fewer files: each counts as often as it is named; `limits.{key}` in `sprag.toml` raises the limit"
        )),
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).display().to_string()
}
