//! Which results cannot be trusted fully, and what was made of them (`R-REC-7`).

use sprag_core::graph::NodeIndex;
use sprag_core::run::{Entry, KeptEnd, NodeState};

use super::case::Case;
use super::history::History;
use super::track::{Track, continues};

/// The completed nodes that are tainted, or made of something that is, by address.
pub fn unclean(history: &History<'_>) -> Vec<(NodeIndex, String)> {
    let case = Case::of(history);
    if case.senseless.is_some() {
        return Vec::new();
    }
    let mut track = Track::new(&case);
    let mut bad = vec![false; case.count()];
    if let Some(carried) = case.carried() {
        for node in case.all() {
            let kept = carried.nodes.get(case.name(node)).filter(|_| track.of(node).kept).map(|kept| &kept.end);
            bad[node.at()] =
                matches!(kept, Some(KeptEnd::Completed(result)) if result.tainted || result.confidence.is_some());
        }
    }
    for line in &case.lines {
        if let Entry::Completed { node, taint, .. } = line.entry {
            bad[node.at()] = taint.is_some() || made_of_bad(&case, &track, &bad, *node);
        }
        track.read(&case, line);
    }
    let spoiled = case.all().filter(|node| bad[node.at()] && track.of(*node).state == NodeState::Completed);
    spoiled.map(|node| (node, case.name(node).to_owned())).collect()
}

/// Whether a source whose edge holds is not clean: of the node, of one around it, or a child of it.
fn made_of_bad(history: &Case<'_>, track: &Track, bad: &[bool], node: NodeIndex) -> bool {
    let spoils = |source: NodeIndex| {
        (track.of(source).state == NodeState::Completed && bad[source.at()])
            || (track.is_failure(source) && continues(history, source))
    };
    let mut around = std::iter::successors(Some(node), |node| history.level(*node).parent);
    let inputs = around.any(|node| {
        history.edges_into(node).any(|(index, edge, from)| {
            let holds = track.when_holds(history, from, edge.when) && !track.of(node).unmet.contains(&index);
            holds && spoils(from)
        })
    });
    let inside = track.of(node).inside.filter(|_| track.of(node).gathered);
    inputs || inside.is_some_and(|inside| history.levels[inside].nodes().any(spoils))
}
