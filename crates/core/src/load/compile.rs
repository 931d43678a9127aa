//! The way through: read, check, number, hash.

use super::level::Checker;
use super::problems::Problems;
use super::salvage::salvage;
use super::{build, workflow};
use crate::codes::Code;
use crate::definition::Definition;
use crate::diagnostic::{Diagnostic, Severity, Span};
use crate::file::{Node, Workflow};
use crate::limits::Limits;
use crate::yaml::{self, Reader, typed};

/// A workflow that can run, and what is worth a look in it.
#[derive(Debug)]
pub struct Loaded {
    /// The checked workflow.
    pub definition: Definition,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
}

/// Reads and checks the text of a workflow file; on failure every problem, in the order of the file.
pub fn load(text: &str, limits: &Limits) -> Result<Loaded, Vec<Diagnostic>> {
    if text.len() as u64 > limits.bytes {
        return Err(vec![too_large(text.len() as u64, limits)]);
    }
    let (tree, mut found) = yaml::read(text, limits.tree).map_err(|unreadable| vec![*unreadable.0])?;
    let mut reader = Reader::new(&tree);
    let mut workflow = match typed::<Workflow>(&reader, tree.root()) {
        Ok(workflow) => workflow,
        Err(_) => match salvage(&mut reader, &mut found) {
            Some(workflow) => workflow,
            None => return Err(Problems::new(&reader, found).finish()),
        },
    };
    let generating = generating(&mut workflow);
    let mut checker = Checker::new(Problems::new(&reader, found), limits);
    let found = workflow::check(&mut checker, &workflow, &generating);
    let Checker { problems, .. } = checker;
    if problems.has_errors() {
        return Err(problems.finish());
    }
    let warnings = problems.finish();
    let Some(definition) = found.and_then(|found| build::file(workflow, found)) else {
        return Err(vec![Diagnostic {
            code: Code::INTERNAL,
            severity: Severity::Error,
            message: "the workflow passed every check and still could not be compiled".into(),
            span: Span::default(),
            labels: Vec::new(),
            help: Some("this is a bug in sprag; please report it with the file".into()),
        }]);
    };
    Ok(Loaded { definition, warnings })
}

/// Makes a phase that generates its nodes a phase of one node that does so, named like the phase (`R-PHASE-1`), and
/// says which these are.
fn generating(workflow: &mut Workflow) -> Vec<usize> {
    let mut found = Vec::new();
    for (at, phase) in workflow.phases.iter_mut().flatten().enumerate() {
        // A phase with both is refused as it stands.
        if phase.nodes.is_none()
            && let Some(work) = phase.generate.take()
        {
            let node = Node { generate: Some(work), ..Node::default() };
            phase.nodes = Some([(phase.name.clone(), Box::new(node))].into());
            found.push(at);
        }
    }
    found
}

/// The problem of a file over the limit; the engine reports it before it reads such a file at all.
fn too_large(bytes: u64, limits: &Limits) -> Diagnostic {
    Diagnostic {
        code: Code::TOO_LARGE,
        severity: Severity::Error,
        message: format!("the file has {bytes} bytes, more than the limit of {}", limits.bytes),
        span: Span::default(),
        labels: Vec::new(),
        help: Some(
            "split it into sub-workflows or use a `map`; `limits.bytes` in `sprag.toml` raises the limit".into(),
        ),
    }
}

/// Where a file names a sub-workflow file, for problems that only show when that file is opened.
pub fn place_of_sub_workflow(text: &str, file: &str, limits: &Limits) -> Span {
    let Ok((tree, _)) = yaml::read(text, limits.tree) else { return Span::default() };
    let mut open = vec![(tree.root(), 0)];
    let mut first: Option<Span> = None;
    while let Some((id, depth)) = open.pop() {
        for entry in tree.entries(id) {
            if depth > 0 && tree.text_of(entry.key) == "workflow" && tree.text_of(entry.value) == file {
                let span = tree.span(entry.value);
                first = Some(first.map_or(span, |first| first.min(span)));
            }
            open.push((entry.value, depth + 1));
        }
        open.extend(tree.items(id).iter().map(|item| (*item, depth + 1)));
    }
    first.unwrap_or_default()
}
