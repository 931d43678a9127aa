//! The way through: read, check, number, hash.

use std::collections::BTreeMap;

use super::level::Checker;
use super::problems::Problems;
use super::salvage::salvage;
use super::workflow;
use crate::codes::Code;
use crate::definition::{CompiledNode, CompiledPhase, Definition, Kind};
use crate::diagnostic::{Diagnostic, Severity, Span};
use crate::file::{Defaults, Node, Template, Workflow};
use crate::graph::Graph;
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
    let level = workflow::check(&mut checker, &workflow).map(|level| (level.graph, level.kinds));
    let Checker { problems, .. } = checker;
    if problems.has_errors() {
        return Err(problems.finish());
    }
    let warnings = problems.finish();
    let Some(definition) = level.and_then(|(graph, kinds)| definition(workflow, graph, &kinds)) else {
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

fn definition(workflow: Workflow, graph: Graph, kinds: &[Option<Kind>]) -> Option<Definition> {
    let mut specs: Vec<Option<Box<Node>>> = Vec::new();
    specs.resize_with(graph.len(), || None);
    let mut phases = Vec::new();
    let mut parts: Vec<_> = workflow.nodes.into_iter().collect();
    for phase in workflow.phases.into_iter().flatten() {
        phases.push(CompiledPhase { name: phase.name, timeout: phase.timeout, generate: phase.generate });
        parts.extend(phase.nodes);
    }
    for (id, spec) in parts.into_iter().flatten() {
        specs[graph.find(id.as_str())?.at()] = Some(spec);
    }
    let nodes = specs
        .into_iter()
        .zip(kinds)
        .map(|(spec, kind)| {
            let mut spec = spec?;
            let kind = (*kind)?;
            settle(&mut spec, kind, &workflow.defaults);
            Some(CompiledNode { kind, hash: Digest([0; 32]), spec })
        })
        .collect::<Option<Vec<_>>>()?;
    let mut definition = Definition {
        id: workflow.workflow?,
        version: workflow.version,
        description: workflow.description,
        params: workflow.params,
        context: workflow.context,
        policy: workflow.policy,
        secrets: workflow.secrets,
        schedule: workflow.schedule,
        phases,
        nodes,
        graph,
        files: BTreeMap::new(),
        graph_hash: Digest([0; 32]),
    };
    definition.rehash();
    Some(definition)
}

/// Gives a node the workflow's `defaults` where it says nothing itself, and takes its edges away: they are in the
/// graph (`R-NODE-2`).
fn settle(node: &mut Node, kind: Kind, defaults: &Defaults) {
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
        node.cwd = defaults.cwd.clone().map(Template);
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
