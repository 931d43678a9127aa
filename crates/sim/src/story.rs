//! Graphs in one line, for tests that are about something else.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A workflow file from chains: `a -> b -> c, a -> d`. Every node calls the scripted world.
pub fn dag(chains: &str) -> String {
    let mut needs: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for chain in chains.split(',') {
        let nodes: Vec<_> = chain.split("->").map(str::trim).filter(|node| !node.is_empty()).collect();
        for node in &nodes {
            needs.entry(node).or_default();
        }
        for pair in nodes.windows(2) {
            needs.entry(pair[1]).or_default().push(pair[0]);
        }
    }
    let mut text = String::from("workflow: story\nnodes:\n");
    for (node, needs) in needs {
        let _ = writeln!(text, "  {node}: {{ call: world, needs: [{}] }}", needs.join(", "));
    }
    text
}
