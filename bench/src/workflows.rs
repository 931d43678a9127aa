//! The workflows that are measured, as files and in code.

use std::fmt::Write as _;
use std::sync::Arc;

use sprag_core::definition::{Definition, Kind};
use sprag_core::file::{Node, NodeId, Noop, Policy, Scheduling, When, WorkflowId};
use sprag_core::graph::{Builder, NewEdge, NodeIndex};

/// One node after the other.
pub fn chain(nodes: usize) -> String {
    let mut text = String::from("workflow: chain\nnodes:\n  n0: { noop: {} }\n");
    for at in 1..nodes {
        writeln!(text, "  n{at}: {{ noop: {{}}, needs: [n{}] }}", at - 1).unwrap();
    }
    text
}

/// One, then so many, then one.
pub fn fan(nodes: usize) -> String {
    let mut text = String::from("workflow: fan\npolicy: { max_parallelism: 2000 }\nnodes:\n  first: { noop: {} }\n");
    for at in 0..nodes {
        writeln!(text, "  n{at}: {{ noop: {{}}, needs: [first] }}").unwrap();
    }
    let all: Vec<_> = (0..nodes).map(|at| format!("n{at}")).collect();
    writeln!(text, "  last: {{ noop: {{}}, needs: [{}] }}", all.join(", ")).unwrap();
    text
}

/// Ten layers of a hundred commands, two at a time.
pub fn commands() -> String {
    let mut text = String::from("workflow: commands\npolicy: { max_parallelism: 2 }\nnodes:\n");
    for layer in 0..10 {
        for at in 0..100 {
            let needs = if layer == 0 { String::new() } else { format!(", needs: [l{}n{at}]", layer - 1) };
            writeln!(text, "  l{layer}n{at}: {{ run: ['true']{needs} }}").unwrap();
        }
    }
    text
}

/// Nothing, once.
pub const ONE: &str = "workflow: one\nnodes: { only: { noop: {} } }\n";

/// Layers of a thousand nodes, each of which needs one of the layer before; made in code.
pub fn layers(nodes: u32) -> Definition {
    let width = 1_000.min(nodes);
    made(nodes, 1_000, |node, needs| {
        if let Some(source) = node.checked_sub(width) {
            needs(source);
        }
    })
}

/// One node after the other, made in code.
pub fn short_chain(nodes: u32) -> Definition {
    made(nodes, 4, |node, needs| {
        if let Some(source) = node.checked_sub(1) {
            needs(source);
        }
    })
}

fn made(nodes: u32, parallel: u32, sources: impl Fn(u32, &mut dyn FnMut(u32))) -> Definition {
    let ids = (0..nodes).map(|node| (0, NodeId::new(&format!("n{node:07}")).unwrap()));
    let mut builder = Builder::new(ids);
    for to in 0..nodes {
        sources(to, &mut |from| {
            let (from, to) = (NodeIndex(from), NodeIndex(to));
            builder.edge(NewEdge { from, to, when: When::OnSuccess, condition: None });
        });
    }
    let (graph, cycles) = builder.finish();
    assert!(cycles.is_empty());
    let scheduling = Some(Scheduling::Frontier);
    let policy = Policy { scheduling, max_parallelism: Some(parallel), ..Policy::default() };
    let noop = Arc::new(Node { noop: Some(Noop), ..Node::default() });
    Definition::from_graph(WorkflowId::new("bench").unwrap(), policy, graph, |_| (Kind::Noop, Arc::clone(&noop)))
}
