//! How much the results of nodes can be trusted, and how that travels to what is made of them (`R-REC-7`).

use super::fold::Run;
use super::parts::Taint;
use super::recovery::{Confidence, Origin, Unclean, require_clean, travels};
use super::state::NodeState;
use crate::graph::NodeIndex;

impl Run {
    /// How much a node's output can be trusted; nothing if it gives none. It is less than 1 also where only what it was
    /// made of is tainted: [`Run::is_tainted`] is about the node itself.
    pub fn confidence(&self, node: NodeIndex) -> Option<Confidence> {
        let record = &self.nodes[node.at()];
        if record.has_failed() && self.continues_on_error(node) {
            let fallback = self.compiled(node).spec.fallback.is_some();
            return Some(Confidence::of(if fallback { Origin::Fallback } else { Origin::Nothing }));
        }
        (record.state == NodeState::Completed).then_some(record.confidence)
    }

    /// The first input of a node that is not clean, by address.
    pub fn unclean_inputs(&self, node: NodeIndex) -> Option<Unclean<String>> {
        let inputs = self.inputs(node).map(|(source, confidence)| (self.address(source), confidence));
        require_clean(inputs).err()
    }

    /// What a node is made of: the sources whose edges hold, what it reads beyond them, and the same of the node it grew
    /// in. Sources that give nothing to read, as failures that it handles, spoil nothing.
    fn inputs(&self, node: NodeIndex) -> impl Iterator<Item = (NodeIndex, Confidence)> {
        let around = std::iter::successors(Some(node), move |node| self.level(*node).parent);
        around.flat_map(move |node| {
            let level = self.level(node);
            let read = level.body.reads_beyond_edges(level.local(node)).map(move |local| level.global(local));
            let holding = self.edges_into(node).filter(move |(edge, ..)| self.holds(node, *edge));
            let sources = holding.map(|(.., from)| from).chain(read);
            sources.filter_map(move |source| Some((source, self.confidence(source)?)))
        })
    }

    /// A node has its result: how much it can be trusted is known from here on.
    pub(super) fn trust(&mut self, node: NodeIndex, taint: Option<&Taint>) {
        // Where nothing is tainted everything is clean, and most runs are like that.
        if !self.doubts {
            return;
        }
        let own = match taint {
            None => self.children_confidence(node),
            Some(Taint::Fallback(_)) => Confidence::of(Origin::Fallback),
            Some(Taint::Provided) => Confidence::of(Origin::Person(None)),
            Some(Taint::LowGrade(grade)) => Confidence::of(Origin::Person(Some(*grade))),
        };
        let travelled = travels(Some(own), self.inputs(node).map(|(_, confidence)| confidence));
        self.nodes[node.at()].confidence = travelled;
    }

    /// The least confidence among the children whose results a node took.
    fn children_confidence(&self, node: NodeIndex) -> Confidence {
        let inside = self.inside(node).map(|at| &self.levels[at]).filter(|level| level.gathered);
        let children = inside.into_iter().flat_map(|level| {
            let failed = level.unhandled.iter().map(|_| Confidence::NOTHING);
            level.nodes().filter_map(|child| self.confidence(child)).chain(failed)
        });
        travels(None, children)
    }
}
