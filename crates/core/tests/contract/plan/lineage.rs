//! Any number of resumes in a row, in any order of completion, on random graphs (`R-RES-2`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;
use sprag_core::definition::{Definition, Kind};
use sprag_core::file::{Node, NodeId, Noop, Policy, When, WorkflowId};
use sprag_core::graph::{Builder, NewEdge, NodeIndex};
use sprag_core::plan::{Action, Past, PastNode, Plan, ResumeOptions};
use sprag_core::run::{Carried, EndStatus, KeptEnd, KeptResult, NodeState, Product, SkipReason};

use super::support::{planned, run};

/// A graph from a table of dice: node `n` depends on some of those before it.
fn graph(nodes: usize, dice: &[u8]) -> Definition {
    let id = |at: usize| NodeId::new(&format!("n{at:02}")).unwrap();
    let mut builder = Builder::new((0..nodes).map(|at| (0, id(at))));
    let mut dice = dice.iter().cycle();
    for to in 1..nodes {
        for from in 0..to {
            if *dice.next().unwrap() < 64 {
                let [from, to] = [from, to].map(|at| builder.find(id(at).as_str()).unwrap());
                builder.edge(NewEdge { from, to, when: When::OnSuccess, condition: None });
            }
        }
    }
    let (graph, _) = builder.finish();
    let noop = Arc::new(Node { noop: Some(Noop), ..Node::default() });
    Definition::from_graph(WorkflowId::new("w").unwrap(), Policy::default(), graph, |_| (Kind::Noop, Arc::clone(&noop)))
}

/// Runs what is not kept, in an order that the dice choose; they also say what fails, and when the run stops.
fn ran(definition: &Definition, carried: &Carried, number: u128, mut dice: impl FnMut() -> u8) -> Past {
    let graph = &definition.graph;
    let mut past = Past::empty(run(number), run(1), definition.graph_hash);
    past.ending = Some(EndStatus::Failed);
    for node in graph.nodes() {
        let id = graph.id(node).as_str();
        let mut state = PastNode::new(Kind::Noop, definition.node(node).hash, NodeState::Pending);
        state.generation = carried.generations.get(id).copied().unwrap_or_default();
        match carried.nodes.get(id).map(|kept| &kept.end) {
            Some(KeptEnd::Completed(result)) => {
                (state.state, state.settled, state.result) = (NodeState::Completed, true, Some(result.clone()));
            }
            Some(KeptEnd::Failed(_)) => (state.state, state.settled) = (NodeState::Failed, true),
            Some(KeptEnd::Skipped(reason, cause)) => {
                (state.state, state.settled, state.skip) = (NodeState::Skipped, true, Some((*reason, cause.clone())));
            }
            Some(other) => panic!("{other:?} cannot be here"),
            None => {}
        }
        past.nodes.insert(id.to_owned(), state);
    }
    let stop = dice() < 100;
    loop {
        let open: Vec<NodeIndex> = graph.nodes().filter(|node| !past.nodes[graph.id(*node).as_str()].settled).collect();
        let settled = |node: &&NodeIndex| {
            graph.edges_into(**node).iter().all(|edge| past.nodes[graph.id(edge.from).as_str()].settled)
        };
        let ready: Vec<NodeIndex> = open.iter().filter(settled).copied().collect();
        if ready.is_empty() {
            return past;
        }
        let node = ready[usize::from(dice()) % ready.len()];
        let barred = graph
            .edges_into(node)
            .iter()
            .map(|edge| graph.id(edge.from).as_str())
            .find(|source| past.nodes[*source].state != NodeState::Completed);
        let barred = barred.map(str::to_owned);
        let state = past.nodes.get_mut(graph.id(node).as_str()).unwrap();
        state.settled = true;
        match (barred, dice()) {
            (Some(cause), _) => {
                state.state = NodeState::Skipped;
                state.skip = Some((SkipReason::DependencyFailed, Some(cause)));
            }
            (None, 0..40) => state.state = NodeState::Failed,
            (None, 40..70) if stop => {
                for node in open {
                    let state = past.nodes.get_mut(graph.id(node).as_str()).unwrap();
                    (state.state, state.settled) = (NodeState::Skipped, true);
                    state.skip = Some((SkipReason::RunStopped, None));
                }
                return past;
            }
            (None, _) => {
                state.state = NodeState::Completed;
                // The result says when it was made, so that one made twice shows.
                let output = json!([number, state.generation]);
                state.result = Some(KeptResult::of(Product::of(output)));
            }
        }
    }
}

fn completed(past: &Past) -> BTreeMap<String, KeptResult> {
    let done = past.nodes.iter().filter(|(_, node)| node.state == NodeState::Completed);
    done.map(|(id, node)| (id.clone(), node.result.clone().unwrap())).collect()
}

/// What holds for every plan without task hashes.
fn is_sound(definition: &Definition, past: &Past, plan: &Plan) {
    let graph = &definition.graph;
    let running: BTreeSet<&str> =
        plan.nodes.iter().filter(|node| node.action() != Action::Reuse).map(|node| node.id.as_str()).collect();
    let will_be_skipped = |id: &str| plan.node(id).unwrap().reason.to_string().starts_with("it will be skipped");
    for edge in graph.edges() {
        let [from, to] = [edge.from, edge.to].map(|node| graph.id(node).as_str());
        assert!(
            !running.contains(from) || running.contains(to) || will_be_skipped(to),
            "{to} is kept after {from} runs"
        );
    }
    for id in &plan.completed_results {
        assert!(past.nodes[id].result.is_some(), "{id} is kept without a result");
    }
    assert_eq!(plan.nodes.len(), graph.len());
    assert_eq!(plan.is_done(), running.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// R-RES-2, R-CLAIM-6: what the first resume kept, every later one keeps; nothing is made twice, and the end is whole.
    #[test]
    fn resumes_in_a_row_keep_what_the_first_kept(
        nodes in 1_usize..14,
        edges in prop::collection::vec(any::<u8>(), 1..100),
        dice in prop::collection::vec(any::<u8>(), 1..200),
        no_retry in any::<[bool; 3]>(),
    ) {
        let definition = graph(nodes, &edges);
        let mut dice = dice.iter().cycle().zip((0..=u8::MAX).cycle()).map(|(die, turn)| die.wrapping_add(turn));
        let mut past = ran(&definition, &Carried::default(), 1, || dice.next().unwrap());
        let mut kept = completed(&past);
        for (number, no_retry) in (2..).zip(no_retry) {
            let options = ResumeOptions { retry_failed: !no_retry, ..ResumeOptions::default() };
            let plan = planned(&definition, &past, &options).unwrap();
            is_sound(&definition, &past, &plan);
            let carried = plan.carried(&past);
            let next = ran(&definition, &carried, number, || dice.next().unwrap());
            for (id, result) in &kept {
                prop_assert_eq!(Some(result), next.nodes[id].result.as_ref(), "{} was kept before", id);
                prop_assert_eq!(next.nodes[id].generation, 0);
            }
            kept = completed(&next);
            past = next;
        }
        // Now nothing fails and nothing stops it: success means that everything has a result.
        let plan = planned(&definition, &past, &ResumeOptions::default()).unwrap();
        is_sound(&definition, &past, &plan);
        let last = ran(&definition, &plan.carried(&past), 9, || 200);
        prop_assert!(last.nodes.values().all(|node| node.result.is_some()));
        for (id, result) in &kept {
            prop_assert_eq!(Some(result), last.nodes[id].result.as_ref());
        }
    }
}
