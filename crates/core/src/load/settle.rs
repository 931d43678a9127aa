//! Nodes as they are kept: `defaults` applied (`R-NODE-2`), and inner graphs in one canonical form, so that the order and
//! the form in which they were written change no hash.

use super::node::{only_kind, takes};
use crate::file::{Defaults, Need, NeedEdge, Node, NodeId, SubWorkflow, Template, TextOr};

/// Gives a node the `defaults` of its level where it says nothing itself. The node of a `map` belongs to the same
/// level; a sub-workflow is a level of its own, with its own `defaults`.
pub(super) fn settle(node: &mut Node, defaults: &Defaults) {
    if let Some(kind) = only_kind(node) {
        let takes = |key: &str| takes(kind, key);
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
    if let Some(map) = &mut node.map {
        settle(&mut map.node, defaults);
    }
    let looped = node.repeat.as_mut().map(|repeat| &mut repeat.workflow);
    for workflow in node.workflow.iter_mut().chain(looped) {
        if let TextOr::Long(inline) = workflow {
            settle_inline(inline);
        }
    }
}

/// A sub-workflow inside a node: its `defaults` go to its nodes, its `edges` to the `needs` of their targets, in the long
/// form, sorted.
pub(super) fn settle_inline(inline: &mut SubWorkflow) {
    let defaults = std::mem::take(&mut inline.defaults);
    let edges = std::mem::take(&mut inline.edges);
    let Some(nodes) = &mut inline.nodes else { return };
    for edge in edges {
        if let Some(target) = NodeId::new(&edge.to).ok().and_then(|to| nodes.get_mut(&to)) {
            target.needs.push(TextOr::Long(NeedEdge { node: edge.from, when: edge.when, condition: edge.condition }));
        }
    }
    for node in nodes.values_mut() {
        let mut needs: Vec<NeedEdge> = std::mem::take(&mut node.needs).into_iter().map(long).collect();
        let key = |need: &NeedEdge| {
            (need.node.clone(), need.when, need.condition.as_ref().map(|condition| condition.0.clone()))
        };
        needs.sort_by_key(key);
        needs.dedup();
        node.needs = needs.into_iter().map(TextOr::Long).collect();
        settle(node, &defaults);
    }
    nodes.sort_keys();
    inline.params.sort_keys();
}

fn long(need: Need) -> NeedEdge {
    let mut edge = match need {
        TextOr::Text(node) => NeedEdge { node, when: None, condition: None },
        TextOr::Long(edge) => edge,
    };
    edge.when = Some(edge.when.unwrap_or_default());
    edge
}
