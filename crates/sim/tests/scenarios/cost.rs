//! What a node costs in entries and bytes, counted and not timed: a journal that grows by an entry a node is noticed here.

use std::fmt::Write as _;

use sprag_core::run::{Effect, Entry};
use sprag_sim::World;

/// A file of nodes that do nothing; `needs` says what each needs.
fn noops(scheduling: &str, nodes: u32, needs: impl Fn(u32) -> String) -> String {
    let mut text = format!("workflow: w\npolicy: {{ scheduling: {scheduling} }}\nnodes:\n");
    for node in 0..nodes {
        let _ = writeln!(text, "  n{node:03}: {{ noop: , needs: [{}] }}", needs(node));
    }
    text
}

fn entries(text: &str) -> usize {
    let mut world = World::of(text);
    world.runs();
    assert_eq!(world.end(), "completed 0");
    world.entries().len()
}

#[test]
fn a_node_that_does_nothing_costs_three_entries() {
    // R-STATE-3: ready, started, completed; a wave adds one, and the run created, owned and ended.
    let chain = |node: u32| node.checked_sub(1).map(|source| format!("n{source:03}")).unwrap_or_default();
    let fan = |node: u32| match node {
        0 => String::new(),
        99 => (1..99).map(|source| format!("n{source:03}")).collect::<Vec<_>>().join(", "),
        _ => "n000".to_owned(),
    };
    for scheduling in ["waves", "frontier"] {
        assert_eq!(entries(&noops(scheduling, 100, chain)), 3 * 100 + 100 + 3, "chain, {scheduling}");
        assert_eq!(entries(&noops(scheduling, 100, fan)), 3 * 100 + 3 + 3, "fan, {scheduling}");
    }
}

#[test]
fn entries_stay_small() {
    // Runs of a million nodes pass millions of these around: what is large stands behind a pointer.
    assert!(size_of::<Entry>() <= 48, "{} bytes an entry", size_of::<Entry>());
    assert!(size_of::<Effect>() <= 16, "{} bytes an effect", size_of::<Effect>());
}
