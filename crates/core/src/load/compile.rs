//! The way through: read, check, number, hash.

use super::level::{Checker, Level};
use super::problems::Problems;
use super::salvage::salvage;
use super::workflow;
use crate::codes::Code;
use crate::definition::{CompiledNode, CompiledPhase, Definition};
use crate::diagnostic::{Diagnostic, Severity, Span};
use crate::file::{Defaults, Node, Workflow};
use crate::hash::Digest;
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
    let workflow = match typed::<Workflow>(&reader, tree.root()) {
        Ok(workflow) => workflow,
        Err(_) => match salvage(&mut reader, &mut found) {
            Some(workflow) => workflow,
            None => return Err(Problems::new(&reader, found).finish()),
        },
    };
    let mut checker = Checker::new(Problems::new(&reader, found), limits);
    let level = workflow::check(&mut checker, &workflow);
    let Checker { problems, .. } = checker;
    if problems.has_errors() {
        return Err(problems.finish());
    }
    let Some(definition) = level.and_then(|level| definition(&workflow, level)) else {
        return Err(vec![Diagnostic {
            code: Code::INTERNAL,
            severity: Severity::Error,
            message: "the workflow passed every check and still could not be compiled".into(),
            span: Span::default(),
            labels: Vec::new(),
            help: Some("this is a bug in sprag; please report it with the file".into()),
        }]);
    };
    Ok(Loaded { definition, warnings: problems.finish() })
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

fn definition(workflow: &Workflow, level: Level<'_>) -> Option<Definition> {
    let nodes = level
        .graph
        .nodes()
        .map(|index| {
            let node = level.nodes.get(index.at())?;
            Some(CompiledNode {
                kind: node.kind?,
                hash: Digest([0; 32]),
                spec: Box::new(effective(node.spec, node.kind?, &workflow.defaults)),
            })
        })
        .collect::<Option<Vec<_>>>()?;
    let phases = workflow.phases.iter().flatten().map(|phase| CompiledPhase {
        name: phase.name.clone(),
        timeout: phase.timeout,
        generate: phase.generate.clone(),
    });
    let mut definition = Definition {
        id: workflow.workflow.clone()?,
        version: workflow.version.clone(),
        description: workflow.description.clone(),
        params: workflow.params.clone(),
        context: workflow.context.clone(),
        policy: workflow.policy.clone(),
        secrets: workflow.secrets.clone(),
        schedule: workflow.schedule.clone(),
        phases: phases.collect(),
        nodes,
        graph: level.graph,
        files: std::collections::BTreeMap::new(),
        graph_hash: Digest([0; 32]),
    };
    definition.rehash();
    Some(definition)
}

/// The node with the workflow's `defaults` where it says nothing itself, and without its edges (`R-NODE-2`).
pub(super) fn effective(spec: &Node, kind: crate::definition::Kind, defaults: &Defaults) -> Node {
    let mut node = spec.clone();
    node.needs = Vec::new();
    let takes = |key: &str| super::node::takes(kind, key);
    macro_rules! fill {
        ($($key:ident),+) => {
            $(if node.$key.is_none() && takes(stringify!($key)) {
                node.$key = defaults.$key.clone();
            })+
        };
    }
    fill! { timeout, idle_timeout, recovery, continue_on_error, priority, semantics, cache, queue, agent_hint }
    if takes("retry")
        && let Some(base) = &defaults.retry
    {
        let own = node.retry.get_or_insert_default();
        macro_rules! inherit {
            ($($key:ident),+) => { $(if own.$key.is_none() { own.$key = base.$key.clone(); })+ };
        }
        inherit! { max_attempts, initial_delay, max_delay, backoff, jitter, only, never }
    }
    if takes("cwd") && node.cwd.is_none() {
        node.cwd = defaults.cwd.clone().map(crate::file::Template);
    }
    if takes("env") {
        for (name, value) in &defaults.env {
            node.env.entry(name.clone()).or_insert_with(|| value.clone());
        }
        for name in &defaults.pass_env {
            if !node.pass_env.contains(name) {
                node.pass_env.push(name.clone());
            }
        }
    }
    node
}

/// Where a file names a sub-workflow file, for problems that only show when that file is opened.
pub fn place_of_sub_workflow(text: &str, file: &str, limits: &Limits) -> Span {
    let Ok((tree, _)) = yaml::read(text, limits.tree) else { return Span::default() };
    let mut open = vec![(tree.root(), 0)];
    while let Some((id, depth)) = open.pop() {
        for entry in tree.entries(id) {
            if depth > 0 && tree.text_of(entry.key) == "workflow" && tree.text_of(entry.value) == file {
                return tree.span(entry.value);
            }
            open.push((entry.value, depth + 1));
        }
        open.extend(tree.items(id).iter().map(|item| (*item, depth + 1)));
    }
    Span::default()
}
