//! The file as a whole, and each graph in it.

use std::collections::BTreeMap;

use super::declared::{check_params, check_schedule};
use super::inside::{Found, within};
use super::level::{Checker, Level, Part, Source, source_of};
use super::names::{Names, Owner, known_secret};
use super::sites::{Form, Output, Site, Sites};
use super::trail::Trail;
use super::{node, paths};
use crate::codes::Code;
use crate::file::{Node, Semantics, TextOr, Workflow};
use crate::graph::NodeIndex;
use crate::suggest;

/// Checks everything. What is found is that of the file's own graph; problems are with the checker.
///
/// `generating` are the phases whose only node stands for their `generate`.
pub(super) fn check(checker: &mut Checker<'_, '_, '_>, workflow: &Workflow, generating: &[usize]) -> Option<Found> {
    let root = Trail::root();
    if workflow.workflow.is_none()
        && !checker.problems.has_raw_key(&root, "workflow")
        && !checker.problems.suggests("workflow")
    {
        let help = "add the id of the workflow: `workflow: my-work`";
        checker.problems.at(Code::MISSING_KEY, &root, "`workflow` is missing", help);
    }
    for (name, source) in &workflow.secrets {
        if is_reserved(name.as_str()) || name.as_str() == "PATH" {
            let message = format!("`{name}` means something to every command");
            checker.problems.at_key(
                Code::INVALID_VALUE,
                &root.key("secrets").key(name.as_str()),
                message,
                "choose another name",
            );
        }
        checker.secret_source(&root.key("secrets").key(name.as_str()), source);
    }
    if let Some(schedule) = &workflow.schedule {
        check_schedule(checker, &root.key("schedule"), schedule);
    }
    let found = parts(checker, &root, workflow, generating).map(|parts| {
        let source = Source {
            parts,
            edges: &workflow.edges,
            params: &workflow.params,
            secrets: &workflow.secrets,
            defaults: &workflow.defaults,
            policy: &workflow.policy,
            inner: false,
        };
        check_level(checker, &root, source)
    });
    for name in workflow.secrets.keys() {
        if found.is_some() && !checker.used_secrets.contains(name.as_str()) {
            let message = format!("no node receives the secret `{name}`");
            let help = "remove it, or hand it to a node with `secrets`";
            checker.problems.warn(Code::UNUSED_SECRET, &root.key("secrets").key(name.as_str()), message, help);
        }
    }
    found
}

/// The nodes of the file, phase by phase.
fn parts<'w>(
    checker: &mut Checker<'_, '_, '_>,
    root: &Trail<'_>,
    workflow: &'w Workflow,
    generating: &[usize],
) -> Option<Vec<Part<'w>>> {
    match (&workflow.nodes, &workflow.phases) {
        (Some(_), Some(_)) => {
            let message = "a workflow has `nodes` or `phases`, not both";
            let help = "move the nodes into a phase, or remove `phases`";
            checker.problems.at_key(Code::INVALID_VALUE, &root.key("phases"), message, help);
            None
        }
        (Some(nodes), None) => {
            if nodes.is_empty() && !checker.problems.has_errors() {
                let help = "add one: `nodes: { greet: { run: echo hello } }`";
                checker.problems.at(Code::MISSING_KEY, &root.key("nodes"), "a workflow needs at least one node", help);
            }
            Some(vec![Part { phase: None, generating: false, nodes }])
        }
        (None, Some(phases)) => {
            let list = root.key("phases");
            if phases.is_empty() && !checker.problems.has_errors() {
                let help = "add one: `phases: [{ name: build, nodes: … }]`";
                checker.problems.at(Code::MISSING_KEY, &list, "a workflow needs at least one phase", help);
            }
            let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
            for (at, phase) in phases.iter().enumerate() {
                let trail = list.index(at);
                let keys = [("nodes", phase.nodes.is_some()), ("generate", phase.generate.is_some())];
                checker.exactly_one(&trail, "a phase", &keys);
                checker.positive(&trail, "timeout", phase.timeout);
                if let Some(first) = seen.insert(phase.name.as_str(), at) {
                    let message = format!("there are two phases named `{}`", phase.name);
                    checker.problems.at(Code::DUPLICATE_KEY, &trail.key("name"), message, "rename one of the two");
                    checker.problems.label(&list.index(first).key("name"), "first here");
                }
            }
            let with_nodes = phases.iter().enumerate().filter_map(|(at, phase)| Some((at, phase.nodes.as_ref()?)));
            let part = |(at, nodes)| Part { phase: Some(at), generating: generating.contains(&at), nodes };
            Some(with_nodes.map(part).collect())
        }
        (None, None) => {
            let unread = ["nodes", "phases"].into_iter().any(|key| checker.problems.has_raw_key(root, key));
            if !unread && !checker.problems.suggests("nodes") {
                let help = "add `nodes:` with at least one node, such as `greet: { run: echo hello }`";
                checker.problems.at(Code::MISSING_KEY, root, "`nodes` is missing", help);
            }
            None
        }
    }
}

/// Checks one graph: the file's own, or a sub-workflow's.
pub(super) fn check_level(checker: &mut Checker<'_, '_, '_>, base: &Trail<'_>, source: Source<'_>) -> Found {
    check_params(checker, &base.key("params"), source.params);
    checker.policy(&base.key("policy"), source.policy);
    checker.defaults(&base.key("defaults"), source.defaults);
    let at_most_once = source.defaults.semantics == Some(Semantics::AtMostOnce);
    let outer = std::mem::replace(&mut checker.at_most_once, at_most_once);
    let mut level = Level::build(checker, base, source);
    let counted = if level.source.parts.iter().any(|part| part.phase.is_some()) { "phases" } else { "nodes" };
    checker.count(&base.key(counted), level.nodes.len());
    for at in 0..level.nodes.len() {
        let node = level.nodes[at];
        node.with_trail(base, |trail| {
            level.kinds[at] = node::kind(checker, trail, node.spec);
            checker.body(trail, node.spec);
            check_secrets(checker, trail, &level.source, node.spec);
        });
    }
    paths::check(checker, base, &level);
    let reads = check_names(checker, base, &level);
    let mut inside = Vec::with_capacity(level.nodes.len());
    for index in level.graph.nodes() {
        check_input_schema(checker, base, &level, index);
        let node = level.node(index);
        inside.push(node.with_trail(base, |trail| within(checker, trail, node.spec, &level.source)));
    }
    checker.at_most_once = outer;
    Found { graph: level.graph, kinds: level.kinds, reads, inside }
}

/// Checks every name, and returns what nodes read beyond their direct sources.
fn check_names(checker: &mut Checker<'_, '_, '_>, base: &Trail<'_>, level: &Level<'_>) -> Vec<(NodeIndex, NodeIndex)> {
    let mut names = Names::new(level);
    for index in level.graph.nodes() {
        let node = level.node(index);
        node.with_trail(base, |trail| {
            let mut see = |site: Site<'_>| names.check(checker, Owner::Node(index), site);
            Sites { see: &mut see, item: false }.node(trail, node.spec);
            for (at, need) in node.spec.needs.iter().enumerate() {
                if let TextOr::Long(edge) = need
                    && let Some(condition) = &edge.condition
                {
                    let needs = trail.key("needs");
                    let item = needs.index(at);
                    names.check(checker, Owner::EdgeTo(index), condition_site(&item.key("condition"), &condition.0));
                }
            }
        });
    }
    let defaults = base.key("defaults");
    let mut see = |site: Site<'_>| names.check(checker, Owner::Defaults, site);
    Sites { see: &mut see, item: false }.defaults(&defaults, level.source.defaults);
    for (at, edge) in level.source.edges.iter().enumerate() {
        if let (Some(condition), Some(to)) = (&edge.condition, level.graph.find(&edge.to)) {
            let edges = base.key("edges");
            let item = edges.index(at);
            names.check(checker, Owner::EdgeTo(to), condition_site(&item.key("condition"), &condition.0));
        }
    }
    let reads = names.reads.into_iter().collect();
    let Some(used) = names.used_params else { return reads };
    // A parameter may be read by a sub-workflow file or by a command through `SPRAG_INPUT`, which no check can see.
    let hidden = level.nodes.iter().any(|node| reads_input(node.spec));
    for name in level.source.params.keys().filter(|name| !hidden && !used.contains(name.as_str())) {
        let message = format!("nothing reads the parameter `{name}`");
        let help = format!("use it as `{{{{ params.{name} }}}}`, or remove it");
        checker.problems.warn(Code::UNUSED_PARAM, &base.key("params").key(name.as_str()), message, help);
    }
    reads
}

fn condition_site<'a>(trail: &'a Trail<'a>, text: &'a str) -> Site<'a> {
    Site { trail, text, form: Form::Bare, output: Output::Source, secrets: false, item: false }
}

/// Whether a node may read parameters in a way that the file does not show.
fn reads_input(node: &Node) -> bool {
    let script = match &node.run {
        Some(TextOr::Text(script)) => script.contains("SPRAG_INPUT"),
        _ => false,
    };
    script || node.call.is_some()
}

/// Names that sprag itself hands to commands; a value of the user's own would take their place.
fn is_reserved(name: &str) -> bool {
    name.starts_with("SPRAG_") || name == "TRACEPARENT"
}

pub(super) fn check_secrets(checker: &mut Checker<'_, '_, '_>, trail: &Trail<'_>, source: &Source<'_>, node: &Node) {
    for name in node.env.keys().filter(|name| is_reserved(name.as_str())) {
        let message = format!("`{name}` is set by sprag itself");
        checker.problems.at_key(
            Code::INVALID_VALUE,
            &trail.key("env").key(name.as_str()),
            message,
            "choose another name",
        );
    }
    for (at, name) in node.secrets.iter().enumerate() {
        checker.used_secrets.insert(name.to_string());
        if let Err((code, message, help)) = known_secret(source, name.as_str()) {
            checker.problems.at(code, &trail.key("secrets").index(at), message, help.unwrap_or_default());
        }
    }
    if checker.grown.is_some() {
        keep_sources_of_secrets(checker, trail, source, node);
    }
}

/// What a model or a script wrote gets a secret as one, or not at all: passed on as a plain variable it would not be
/// masked.
fn keep_sources_of_secrets(checker: &mut Checker<'_, '_, '_>, trail: &Trail<'_>, source: &Source<'_>, node: &Node) {
    for (at, variable) in node.pass_env.iter().enumerate() {
        let secret = source.secrets.iter().find(|(_, from)| from.env.as_ref() == Some(variable));
        if let Some((secret, _)) = secret {
            let message = format!("`{variable}` is where the secret `{secret}` comes from");
            let help = format!("hand it over as a secret: `secrets: [{secret}]`");
            checker.problems.at(Code::INVALID_VALUE, &trail.key("pass_env").index(at), message, help);
        }
    }
}

/// `input_schema` speaks of outputs that the node receives (`R-SCHED-5`).
fn check_input_schema(checker: &mut Checker<'_, '_, '_>, base: &Trail<'_>, level: &Level<'_>, index: NodeIndex) {
    let node = level.node(index);
    for id in node.spec.input_schema.keys() {
        let direct = level.graph.edges_into(index).iter().any(|edge| level.graph.id(edge.from) == id);
        if !direct && !node.incomplete && !level.cyclic {
            let known = node.spec.needs.iter().map(source_of);
            let help = suggest::did_you_mean(id.as_str(), known).unwrap_or_else(|| format!("add `{id}` to `needs`"));
            node.with_trail(base, |trail| {
                let message = format!("`{id}` is not a dependency of this node");
                checker.problems.at_key(Code::UNKNOWN_NODE, &trail.key("input_schema").key(id.as_str()), message, help);
            });
        }
    }
}
