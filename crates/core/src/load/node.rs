//! What a node does, and which keys may stand beside that (`R-NODE-1`, `R-NODE-2`, `R-GROW-2`).

use super::level::Checker;
use super::trail::Trail;
use crate::codes::Code;
use crate::definition::Kind;
use crate::file::{Method, Node, Semantics};
use crate::suggest;

/// Keys that only commands take.
const COMMAND_KEYS: [&str; 9] =
    ["cwd", "env", "pass_env", "secrets", "inputs", "outputs", "output", "normalise", "errors"];
/// Of those, the ones that a command which generates nodes takes too.
const GENERATE_KEYS: [&str; 6] = ["cwd", "env", "pass_env", "secrets", "inputs", "errors"];
/// Keys about attempts, which only kinds that make attempts take.
const ATTEMPT_KEYS: [&str; 9] =
    ["idle_timeout", "retry", "recovery", "cache", "semantics", "probe", "evaluate", "agent_hint", "expensive"];

/// Whether a kind takes a key; `defaults` reach only kinds that do.
pub(super) fn takes(kind: Kind, key: &str) -> bool {
    match key {
        "params" => kind == Kind::Workflow,
        "with" => kind == Kind::Call,
        _ if COMMAND_KEYS.contains(&key) => {
            kind == Kind::Run || (kind == Kind::Generate && GENERATE_KEYS.contains(&key))
        }
        "idle_timeout" | "agent_hint" | "expensive" if kind == Kind::Generate => true,
        "expensive" if kind.grows() => true,
        _ if ATTEMPT_KEYS.contains(&key) => kind.works(),
        "timeout" => !matches!(kind, Kind::Approve | Kind::Noop),
        "queue" => kind.works() || kind == Kind::Generate,
        "output_schema" => !matches!(kind, Kind::Noop | Kind::Approve),
        _ => true,
    }
}

/// The keys that are set, kinds left out. Written as one list so that a new key has to be thought about.
fn set_keys(node: &Node) -> Vec<&'static str> {
    let mut keys = Vec::new();
    macro_rules! options {
        ($($key:ident),+ $(,)?) => { $(if node.$key.is_some() { keys.push(stringify!($key)); })+ };
    }
    macro_rules! lists {
        ($($key:ident),+ $(,)?) => { $(if !node.$key.is_empty() { keys.push(stringify!($key)); })+ };
    }
    options! {
        timeout, idle_timeout, retry, recovery, continue_on_error, priority, expensive, semantics, probe, output_schema,
        cache, fallback, evaluate, queue, agent_hint, with, cwd, output,
    }
    lists! { input_schema, errors, params, env, pass_env, secrets, inputs, outputs, normalise }
    keys
}

/// Every kind that the node names. `approve` counts only when nothing else is there.
fn kinds(node: &Node) -> Vec<Kind> {
    let present = [
        (node.run.is_some(), Kind::Run),
        (node.http.is_some(), Kind::Http),
        (node.agent.is_some(), Kind::Agent),
        (node.workflow.is_some(), Kind::Workflow),
        (node.map.is_some(), Kind::Map),
        (node.repeat.is_some(), Kind::Loop),
        (node.wait.is_some(), Kind::Wait),
        (node.generate.is_some(), Kind::Generate),
        (node.call.is_some(), Kind::Call),
        (node.noop.is_some(), Kind::Noop),
    ];
    let mut kinds: Vec<_> = present.into_iter().filter_map(|(there, kind)| there.then_some(kind)).collect();
    if kinds.is_empty() && node.approve.is_some() {
        kinds.push(Kind::Approve);
    }
    kinds
}

/// What a node does, if it says exactly one thing.
pub(super) fn only_kind(node: &Node) -> Option<Kind> {
    match kinds(node).as_slice() {
        [kind] => Some(*kind),
        _ => None,
    }
}

/// Finds out what a node does and refuses keys that do not belong to that.
pub(super) fn kind(checker: &mut Checker<'_, '_, '_>, trail: &Trail<'_>, node: &Node) -> Option<Kind> {
    let kinds = kinds(node);
    let kind = match kinds.as_slice() {
        [kind] => *kind,
        [] => {
            if !checker.problems.is_damaged(trail) {
                let all = suggest::listed(Kind::ALL.iter().map(|kind| kind.as_str()));
                checker.problems.at_key(
                    Code::NO_KIND,
                    trail,
                    "this node does not say what it does",
                    format!("give it one of {all}"),
                );
            }
            return None;
        }
        [first, second, ..] => {
            let message =
                format!("a node does one thing, and this one has `{}` and `{}`", first.as_str(), second.as_str());
            let help = "make two nodes and connect them with `needs`";
            checker.problems.at_key(Code::SEVERAL_KINDS, &trail.key(second.as_str()), message, help);
            checker.problems.label(&trail.key(first.as_str()), "the other one");
            return None;
        }
    };
    for key in set_keys(node) {
        if !takes(kind, key) {
            let article = if kind.as_str().starts_with('a') { "an" } else { "a" };
            let message = format!("{article} `{}` node does not take `{key}`", kind.as_str());
            checker.problems.at_key(Code::KEY_NOT_ALLOWED, &trail.key(key), message, instead(kind, key));
        }
    }
    if kind == Kind::Generate && node.generate.as_ref().is_some_and(|work| work.run.is_none()) {
        for key in set_keys(node).into_iter().filter(|key| GENERATE_KEYS.contains(key)) {
            let message = format!("`{key}` belongs to commands, and this node has no `run`");
            checker.problems.at_key(
                Code::KEY_NOT_ALLOWED,
                &trail.key(key),
                message,
                "remove it, or generate with `run`",
            );
        }
    }
    warn_late_gate(checker, trail, node, kind);
    Some(kind)
}

/// What to do about a key that a kind does not take.
fn instead(kind: Kind, key: &str) -> String {
    match key {
        "retry" | "recovery" | "cache" | "semantics" | "probe" | "evaluate" if kind.grows() => {
            format!("put `{key}` on its children: they are what is attempted")
        }
        "timeout" if kind == Kind::Approve => "write it inside: `approve: { message: …, timeout: 24h }`".into(),
        "params" if kind == Kind::Loop => "write it inside: `loop: { workflow: …, params: … }`".into(),
        "with" if kind == Kind::Generate => "write it inside: `generate: { call: …, with: … }`".into(),
        "with" | "params" => {
            format!("remove it; `{key}` belongs to `{}` nodes", if key == "with" { "call" } else { "workflow" })
        }
        _ if COMMAND_KEYS.contains(&key) => format!("remove it; `{key}` belongs to `run` nodes"),
        "output_schema" => "remove it; it has no output to check".into(),
        "queue" => "put it on its children: they are what workers take".into(),
        _ => "remove it; there is no attempt here that it could be about".into(),
    }
}

/// A gate on a node with work is asked when the work has already happened (`R-GATE-1`).
fn warn_late_gate(checker: &mut Checker<'_, '_, '_>, trail: &Trail<'_>, node: &Node, kind: Kind) {
    if node.approve.is_none() || kind == Kind::Approve {
        return;
    }
    let changes =
        node.http.as_ref().is_some_and(|http| !matches!(http.method.unwrap_or_default(), Method::Get | Method::Head));
    let why = if node.expensive == Some(true) {
        "is expensive"
    } else if takes(kind, "semantics")
        && node.semantics.map_or(checker.at_most_once, |semantics| semantics == Semantics::AtMostOnce)
    {
        "must not happen twice"
    } else if changes {
        "sends a request that changes something"
    } else {
        return;
    };
    checker.problems.warn(
        Code::GATE_AFTER_WORK,
        &trail.key("approve"),
        format!("this gate is asked after the work, which {why}"),
        "to ask first, make a node with only `approve` and let this one need it",
    );
}
