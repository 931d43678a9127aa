//! Graphs that work produced while a run was going: "validated like the file" (`R-GROW-1`).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;

use super::build::{self, Around};
use super::inside::Found;
use super::level::{Checker, Part, Source};
use super::problems::{Problems, REPORTED};
use super::salvage::salvage;
use super::trail::Trail;
use super::workflow::check_level;
use crate::codes::Code;
use crate::definition::Definition;
use crate::diagnostic::Diagnostic;
use crate::file::{
    Defaults, Edge, Json, Node, NodeId, Param, ParamName, Policy, SecretName, SecretSource, SubWorkflow, WorkflowId,
};
use crate::limits::Limits;
use crate::run::{Known, NodeError};
use crate::yaml::{self, Reader, typed};

/// The longest place, problem or advice that a message tells in full. It is never cut: half a secret would not be
/// recognised as one when the message is masked.
const TOLD: usize = 400;

/// What a generated graph may use of the workflow it grows in.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "it holds a function")]
pub struct Soil<'a> {
    /// The workflow.
    pub id: &'a WorkflowId,
    /// Its parameters.
    pub params: &'a IndexMap<ParamName, Param>,
    /// Its secrets: a model or a script wrote the graph, and gets no others.
    pub secrets: &'a BTreeMap<SecretName, SecretSource>,
    /// Whether a sub-workflow file may be named.
    pub files: &'a dyn Fn(&str) -> bool,
}

/// What is generated: a sub-workflow without `params`, since nobody hands it any.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Body {
    nodes: Option<IndexMap<NodeId, Box<Node>>>,
    edges: Vec<Edge>,
    defaults: Defaults,
    policy: Policy,
    context: BTreeMap<String, Json>,
}

/// Checks and compiles what `generate` or a `decompose` hook produced: an object with `nodes` and, if wanted, `edges`,
/// `defaults`, `policy` and `context`.
///
/// Its expressions see its own nodes, the parameters of the soil, `context` and `run`. What is refused is
/// `CYCLE_DETECTED` if nodes wait for each other, `MISSING_DEPENDENCY` if it names a node, a secret or a file that does
/// not exist, and `INVALID_OUTPUT` otherwise; the first problem decides, and the message tells where it is.
pub fn grown(body: &Value, soil: &Soil<'_>, limits: &Limits) -> Result<Definition, NodeError> {
    if is_deeper(body, limits.tree.depth) {
        return Err(invalid(&format!("it nests more than {} deep", limits.tree.depth)));
    }
    let text = as_yaml(body);
    if text.len() as u64 > limits.bytes {
        return Err(invalid(&format!("it has {} bytes, more than the limit of {}", text.len(), limits.bytes)));
    }
    let (tree, mut found) = yaml::read(&text, limits.tree).map_err(|unreadable| invalid(&unreadable.0.message))?;
    let mut reader = Reader::new(&tree);
    let body = match typed::<Body>(&reader, tree.root()) {
        Ok(body) => Some(body),
        Err(_) => salvage(&mut reader, &mut found),
    };
    let problems = Problems::new(&reader, found);
    let Some(Body { nodes, edges, defaults, policy, context }) = body else {
        return Err(refusal(&reader, &problems.finish()));
    };
    let sub = SubWorkflow { params: IndexMap::new(), context, policy, defaults, nodes, edges };
    let mut checker = Checker::new(problems, limits);
    checker.grown = Some(soil.files);
    let found = checked(&mut checker, &sub, soil);
    let Checker { problems, .. } = checker;
    if problems.has_errors() {
        return Err(refusal(&reader, &problems.finish()));
    }
    let around = Around { id: soil.id, secrets: soil.secrets };
    found.and_then(|found| build::grown(sub, found, soil.params, around)).ok_or_else(|| {
        NodeError::new(Known::INTERNAL, "a generated graph passed every check and could not be compiled")
    })
}

/// The JSON text, with the characters escaped that may stand in JSON as they are and not in YAML.
fn as_yaml(body: &Value) -> String {
    let text = body.to_string();
    let is_odd =
        |c: char| matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}');
    if !text.contains(is_odd) {
        return text;
    }
    let mut escaped = String::with_capacity(text.len() + 64);
    for c in text.chars() {
        if is_odd(c) {
            let _ = write!(escaped, "\\u{:04x}", u32::from(c));
        } else {
            escaped.push(c);
        }
    }
    escaped
}

fn checked(checker: &mut Checker<'_, '_, '_>, sub: &SubWorkflow, soil: &Soil<'_>) -> Option<Found> {
    let root = Trail::root();
    let Some(nodes) = sub.nodes.as_ref().filter(|nodes| !nodes.is_empty()) else {
        if !checker.problems.is_damaged(&root) {
            let help = "write an object such as `{\"nodes\": {\"greet\": {\"run\": \"echo hello\"}}}`";
            checker.problems.at(Code::MISSING_KEY, &root, "there are no `nodes`", help);
        }
        return None;
    };
    let source = Source {
        parts: vec![Part { phase: None, generating: false, nodes }],
        edges: &sub.edges,
        params: soil.params,
        secrets: soil.secrets,
        defaults: &sub.defaults,
        policy: &sub.policy,
        inner: true,
    };
    Some(check_level(checker, &root, source))
}

/// The first problem, where it is, what to do, and how many more there are.
fn refusal(reader: &Reader<'_, '_>, problems: &[Diagnostic]) -> NodeError {
    let Some(first) = problems.first() else { return invalid("it cannot be read") };
    let known = match first.code {
        Code::CYCLE | Code::SELF_DEPENDENCY => Known::CYCLE_DETECTED,
        Code::UNKNOWN_NODE | Code::UNKNOWN_SECRET | Code::FILE_NOT_FOUND => Known::MISSING_DEPENDENCY,
        _ => Known::INVALID_OUTPUT,
    };
    let way = told(&reader.way_to(first.span.start)).map(|way| format!("`{way}`: ")).unwrap_or_default();
    let problem = told(&first.message).unwrap_or(first.code.summary());
    let help = first.help.as_deref().and_then(told).map(|help| format!("; {help}")).unwrap_or_default();
    let more = match problems.len() - 1 {
        0 => String::new(),
        1 => " (and 1 more problem)".into(),
        more if problems.len() < REPORTED => format!(" (and {more} more problems)"),
        more => format!(" (and at least {more} more problems)"),
    };
    NodeError::new(known, format!("what it generated cannot run: {way}{problem}{help}{more}"))
}

fn invalid(problem: &str) -> NodeError {
    let problem = told(problem).unwrap_or("it cannot be read");
    NodeError::new(Known::INVALID_OUTPUT, format!("what it generated cannot run: {problem}"))
}

/// A text that says something and is short enough to be told.
fn told(text: &str) -> Option<&str> {
    (!text.is_empty() && text.len() <= TOLD).then_some(text)
}

/// Whether a value nests deeper than this, found without going deep oneself.
fn is_deeper(value: &Value, limit: usize) -> bool {
    let mut open = vec![(value, 0)];
    while let Some((value, depth)) = open.pop() {
        if depth > limit {
            return true;
        }
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(entries) => open.extend(entries.values().map(|item| (item, depth + 1))),
            _ => {}
        }
    }
    false
}
