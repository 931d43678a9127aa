use proptest::prelude::*;

use super::{Builder, Graph, NewEdge, NodeIndex, Reach};
use crate::file::{NodeId, When};

fn graph(count: usize, edges: &[(usize, usize)]) -> (Graph, Vec<String>) {
    let name = |at: usize| NodeId::new(&format!("n{at:03}")).unwrap();
    let mut builder = Builder::new((0..count).map(|at| (0, name(at))));
    for (from, to) in edges {
        let find = |at: &usize| builder.find(name(*at).as_str()).unwrap();
        let edge = NewEdge { from: find(from), to: find(to), when: When::OnSuccess, condition: None };
        builder.edge(edge);
    }
    let (graph, cycles) = builder.finish();
    let texts = cycles.iter().map(|cycle| cycle.text(&graph)).collect();
    (graph, texts)
}

#[test]
fn waves_are_longest_path_depths() {
    // R-SCHED-1
    let (graph, cycles) = graph(6, &[(0, 1), (1, 2), (0, 2), (3, 2), (2, 4), (2, 4)]);
    assert!(cycles.is_empty());
    let waves: Vec<_> = graph.nodes().map(|node| graph.wave(node)).collect();
    assert_eq!(waves, [0, 1, 2, 0, 3, 0]);
    assert_eq!(graph.waves(), [4]);
    assert_eq!(graph.edges().len(), 5, "the same edge twice is one edge");
    assert_eq!(graph.find("n004"), Some(NodeIndex(4)));
    assert_eq!(graph.find("nope"), None);
}

#[test]
fn cycles_are_named_node_by_node() {
    // R-FILE-1
    let (_, cycles) = graph(7, &[(0, 1), (1, 2), (2, 0), (2, 3), (4, 5), (5, 4), (5, 6)]);
    assert_eq!(cycles, ["n000 -> n001 -> n002 -> n000", "n004 -> n005 -> n004"]);
}

#[test]
fn a_chain_of_200000_is_quick_to_ask() {
    let count = 200_000;
    let name = |at: usize| NodeId::new(&format!("n{at}")).unwrap();
    let mut builder = Builder::new((0..count).map(|at| (0, name(at))));
    let found: Vec<_> = (0..count).map(|at| builder.find(name(at).as_str()).unwrap()).collect();
    for pair in found.windows(2) {
        builder.edge(NewEdge { from: pair[0], to: pair[1], when: When::OnSuccess, condition: None });
    }
    let (graph, cycles) = builder.finish();
    assert!(cycles.is_empty());
    let mut reach = Reach::new(&graph);
    for node in &found[1..] {
        assert!(reach.reaches(found[0], *node));
        assert!(!reach.reaches(*node, found[0]));
    }
}

proptest! {
    #[test]
    fn reachability_agrees_with_a_plain_search(
        count in 1_usize..40,
        raw in proptest::collection::vec((0_usize..40, 0_usize..40), 0..120),
    ) {
        let edges: Vec<_> = raw.into_iter().filter(|(a, b)| a < b && *b < count).collect();
        let (graph, cycles) = graph(count, &edges);
        prop_assert!(cycles.is_empty());
        let mut plain = vec![vec![false; count]; count];
        for from in (0..count).rev() {
            for (a, b) in edges.iter().filter(|(a, _)| *a == from) {
                let below = plain[*b].clone();
                plain[*a][*b] = true;
                for (slot, reached) in plain[*a].iter_mut().zip(below) {
                    *slot |= reached;
                }
            }
        }
        let mut reach = Reach::new(&graph);
        for (from, row) in plain.iter().enumerate() {
            for (to, expected) in row.iter().enumerate() {
                let (a, b) = (NodeIndex(u32::try_from(from).unwrap()), NodeIndex(u32::try_from(to).unwrap()));
                prop_assert_eq!(reach.reaches(a, b), *expected, "{} {}", from, to);
            }
        }
    }

    #[test]
    fn a_cycle_is_found_exactly_when_there_is_one(
        count in 1_usize..12,
        raw in proptest::collection::vec((0_usize..12, 0_usize..12), 0..24),
    ) {
        let edges: Vec<_> = raw.into_iter().filter(|(a, b)| a != b && *a < count && *b < count).collect();
        let mut reachable = vec![vec![false; count]; count];
        for (a, b) in &edges {
            reachable[*a][*b] = true;
        }
        for via in 0..count {
            for a in 0..count {
                for b in 0..count {
                    reachable[a][b] |= reachable[a][via] && reachable[via][b];
                }
            }
        }
        let cyclic = (0..count).any(|at| reachable[at][at]);
        let (_, cycles) = graph(count, &edges);
        prop_assert_eq!(!cycles.is_empty(), cyclic);
    }
}

#[test]
fn numbered_nodes_are_found_by_their_numbers() {
    // R-GROW-1
    for count in (0..=321).chain([999, 1_000, 1_001, 10_000, 12_345]) {
        let (graph, _) = Builder::numbered(count).finish();
        assert_eq!(graph.len(), count as usize);
        for at in 0..count {
            assert_eq!(graph.id(NodeIndex(at)).as_str(), at.to_string());
            assert_eq!(graph.find(&at.to_string()), Some(NodeIndex(at)), "{at} of {count}");
        }
        assert_eq!((graph.find(&count.to_string()), graph.find("00"), graph.find("")), (None, None, None));
    }
}
