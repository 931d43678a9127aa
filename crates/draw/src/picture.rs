//! What is drawn: boxes, arrows and phases, free of any engine type.

use std::collections::HashMap;

/// What is said of a phase that has no nodes yet.
pub(crate) const EMPTY_GROUP: &str = "generated while running";

/// A workflow graph reduced to what a person looks at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Picture {
    /// Heading, usually the workflow's name. May be empty.
    pub title: String,
    /// The boxes; edges refer to them by position.
    pub nodes: Vec<PictureNode>,
    /// The arrows. An edge whose ends do not exist is ignored by every format.
    pub edges: Vec<PictureEdge>,
    /// Phase names in order; empty when the workflow has no phases. A phase to which no node
    /// belongs is drawn as a frame whose content is generated while running.
    pub groups: Vec<String>,
}

/// One box.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PictureNode {
    /// The node's id as the workflow names it.
    pub id: String,
    /// `run`, `http`, `agent`, `approve`, `workflow`, `map`, `loop`, `wait`, `generate`, `call` or
    /// `noop`; any other word is shown with a neutral glyph.
    pub kind: String,
    /// Topological level: every edge leads to a higher wave.
    pub wave: u32,
    /// Position in [`Picture::groups`], when the node belongs to a phase.
    pub group: Option<usize>,
    /// State in a run; `None` when a definition is drawn.
    pub state: Option<NodeColour>,
    /// Small second line, for example `gate`.
    pub note: Option<String>,
    /// How many nodes this box stands for; 1 unless it was collapsed.
    pub members: usize,
}

/// The state of a node in a run, as a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NodeColour {
    /// Waits for its dependencies.
    Pending,
    /// May start.
    Ready,
    /// Is being worked on.
    Running,
    /// Ended well.
    Completed,
    /// Ended badly.
    Failed,
    /// Will not run.
    Skipped,
    /// Was stopped.
    Cancelled,
    /// Waits for a person.
    AwaitingApproval,
    /// A person said yes.
    Approved,
}

/// One arrow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PictureEdge {
    /// Position of the source in [`Picture::nodes`].
    pub from: usize,
    /// Position of the target in [`Picture::nodes`].
    pub to: usize,
    /// The outcome of the source that this arrow follows.
    pub when: EdgeKind,
    /// A condition, shown on the arrow.
    pub label: Option<String>,
}

/// Which outcome of the source lets an edge be followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EdgeKind {
    /// The source completed.
    Success,
    /// The source failed.
    Failure,
    /// The source ended, however it did.
    Always,
    /// The source was skipped.
    Skip,
}

impl EdgeKind {
    /// Every kind, in the order a legend lists them.
    pub const ALL: [Self; 4] = [Self::Success, Self::Failure, Self::Always, Self::Skip];

    /// The word a workflow file uses for this kind.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Always => "always",
            Self::Skip => "skip",
        }
    }
}

/// Which palette an SVG uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Theme {
    /// Follows the reader's light or dark preference.
    #[default]
    Auto,
    /// Always light.
    Light,
    /// Always dark.
    Dark,
}

impl Picture {
    /// The edges every format draws: both ends exist and differ, and no (from, to, kind) repeats.
    ///
    /// Of repeated edges the first stays, with the first label found among them, so that a
    /// condition is not lost to a duplicate that has none.
    #[must_use]
    pub fn drawn_edges(&self) -> Vec<PictureEdge> {
        let mut kept: Vec<PictureEdge> = Vec::with_capacity(self.edges.len());
        let mut seen = HashMap::with_capacity(self.edges.len());
        for edge in &self.edges {
            let exists = edge.from < self.nodes.len() && edge.to < self.nodes.len();
            if !exists || edge.from == edge.to {
                continue;
            }
            match seen.entry((edge.from, edge.to, edge.when)) {
                std::collections::hash_map::Entry::Vacant(slot) => {
                    slot.insert(kept.len());
                    kept.push(edge.clone());
                }
                std::collections::hash_map::Entry::Occupied(slot) => {
                    let first = &mut kept[*slot.get()];
                    if first.label.is_none() {
                        first.label.clone_from(&edge.label);
                    }
                }
            }
        }
        kept
    }

    /// The phase of a node, when it names one that exists.
    #[must_use]
    pub fn group_of(&self, node: usize) -> Option<usize> {
        let group = self.nodes.get(node)?.group?;
        (group < self.groups.len()).then_some(group)
    }

    /// The members of each phase, by position; phases without members are empty lists.
    pub(crate) fn members_by_group(&self) -> Vec<Vec<usize>> {
        let mut members = vec![Vec::new(); self.groups.len()];
        for node in 0..self.nodes.len() {
            if let Some(group) = self.group_of(node) {
                members[group].push(node);
            }
        }
        members
    }

    /// The nodes of one phase, or those of none, as a picture without title and phases.
    pub(crate) fn part(&self, group: Option<usize>) -> Self {
        let inside: Vec<usize> = (0..self.nodes.len()).filter(|&node| self.group_of(node) == group).collect();
        let position: HashMap<usize, usize> = inside.iter().copied().zip(0..).collect();
        let edge = |edge: &PictureEdge| {
            let (from, to) = (*position.get(&edge.from)?, *position.get(&edge.to)?);
            Some(PictureEdge { from, to, ..edge.clone() })
        };
        Self {
            nodes: inside.iter().map(|&node| PictureNode { group: None, ..self.nodes[node].clone() }).collect(),
            edges: self.edges.iter().filter_map(edge).collect(),
            ..Self::default()
        }
    }

    /// Whether no edge crosses phases: they run one after the other, and are drawn so.
    pub(crate) fn is_sequence(&self, edges: &[PictureEdge]) -> bool {
        edges.iter().all(|edge| self.group_of(edge.from) == self.group_of(edge.to))
    }

    /// How many workflow nodes the picture stands for.
    pub(crate) fn node_total(&self) -> usize {
        self.nodes.iter().fold(0, |sum: usize, node| sum.saturating_add(node.members.max(1)))
    }
}

impl PictureNode {
    /// The line under the id: the kind, then the note.
    pub(crate) fn caption(&self) -> String {
        match (&self.note, self.kind.is_empty()) {
            (Some(note), false) if *note != self.kind => format!("{} · {note}", self.kind),
            (Some(note), true) => note.clone(),
            _ => self.kind.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(from: usize, to: usize, when: EdgeKind, label: Option<&str>) -> PictureEdge {
        let label = label.map(str::to_owned);
        PictureEdge { from, to, when, label }
    }

    #[test]
    fn impossible_and_repeated_edges_are_not_drawn() {
        let picture = Picture {
            nodes: vec![PictureNode::default(), PictureNode::default()],
            edges: vec![
                edge(0, 1, EdgeKind::Success, None),
                edge(0, 1, EdgeKind::Success, Some("x > 1")),
                edge(0, 1, EdgeKind::Failure, None),
                edge(1, 1, EdgeKind::Success, None),
                edge(1, 9, EdgeKind::Success, None),
            ],
            ..Picture::default()
        };
        let drawn = picture.drawn_edges();
        assert_eq!(drawn.len(), 2);
        assert_eq!(drawn[0].label.as_deref(), Some("x > 1"));
    }
}
