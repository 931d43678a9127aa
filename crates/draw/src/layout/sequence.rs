//! Phases that run strictly one after the other: each is laid out by itself, and their frames
//! follow each other in order.

use super::arrange::{arrange, cost};
use super::direction::Direction;
use super::fold;
use super::geometry::{Rect, Size};
use super::layered::{FRAME_PADDING, FRAME_TITLE};
use super::plan::{Cluster, Plan, Sketch, flat, in_columns};

/// A phase, or the boxes without one, laid out by itself.
struct Block {
    group: Option<usize>,
    nodes: Vec<usize>,
    edges: Vec<usize>,
}

impl Block {
    /// The block as a sketch of its own; inside a phase no phases are left.
    fn sketch(&self, whole: &Sketch) -> Sketch {
        let mut position = vec![0; whole.sizes.len()];
        for (at, &node) in self.nodes.iter().enumerate() {
            position[node] = at;
        }
        let edge = |&index: &usize| {
            let mut edge = whole.edges[index].clone();
            (edge.from, edge.to) = (position[edge.from], position[edge.to]);
            edge
        };
        let group = |&node: &usize| if self.group.is_some() { None } else { whole.groups[node] };
        Sketch {
            sizes: self.nodes.iter().map(|&node| whole.sizes[node]).collect(),
            groups: self.nodes.iter().map(group).collect(),
            edges: self.edges.iter().map(edge).collect(),
            labels: self.edges.iter().map(|&index| whole.labels[index]).collect(),
            ranks: self.nodes.iter().map(|&node| whole.ranks[node]).collect(),
            phases: Vec::new(),
        }
    }

    /// The frame around content of this size.
    fn framed(&self, content: Size, whole: &Sketch) -> Size {
        let Some(group) = self.group else { return content };
        let least = whole.phases[group];
        Size {
            width: content.width.max(least.width) + 2.0 * FRAME_PADDING,
            height: content.height.max(least.height) + 2.0 * FRAME_PADDING + FRAME_TITLE,
        }
    }
}

/// Lays out a sketch in blocks; `None` when it has no phases that could stand by themselves.
pub(crate) fn plan(sketch: &Sketch) -> Option<Plan> {
    let ordered = sketch.edges.iter().all(|edge| sketch.groups[edge.from] == sketch.groups[edge.to]);
    let blocks = blocks(sketch, ordered);
    if blocks.iter().all(|block| block.group.is_none()) {
        return None;
    }
    let flow = flow(sketch, &blocks);
    // With one flow to the right, the columns of all phases line up.
    let even = (flow == Some(Direction::Right)).then(|| in_columns(sketch));
    let sketch = even.as_ref().unwrap_or(sketch);
    let contents: Vec<Plan> = blocks.iter().map(|block| flat(&block.sketch(sketch), flow)).collect();
    let sizes: Vec<Size> =
        blocks.iter().zip(&contents).map(|(block, content)| block.framed(content.size, sketch)).collect();
    let arranged = arrange(&sizes);
    let nothing = Rect { x: 0.0, y: 0.0, width: 0.0, height: 0.0 };
    let mut plan = Plan {
        size: arranged.size,
        nodes: vec![nothing; sketch.sizes.len()],
        routes: Vec::new(),
        clusters: Vec::new(),
        links: Vec::new(),
    };
    for (at, (block, content)) in blocks.iter().zip(contents).enumerate() {
        let frame = arranged.frames[at];
        place(&mut plan, block, content, &frame, flow);
        if let Some(group) = block.group {
            plan.clusters.push(Cluster { group, frame, empty: block.nodes.is_empty() });
            if ordered && blocks.get(at + 1).is_some() {
                plan.links.extend(arranged.link(at));
            }
        }
    }
    Some(plan)
}

/// Puts a block's content into its frame and into the whole plan.
fn place(plan: &mut Plan, block: &Block, mut content: Plan, frame: &Rect, flow: Option<Direction>) {
    let spare = frame.width - content.size.width;
    let (dx, dy) = match (block.group, flow) {
        (None, _) => (spare / 2.0, 0.0),
        // What flows down hangs from the middle; what flows to the right begins at the left.
        (Some(_), Some(Direction::Down)) => (spare / 2.0, FRAME_PADDING + FRAME_TITLE),
        (Some(_), _) => (FRAME_PADDING, FRAME_PADDING + FRAME_TITLE),
    };
    content.shift(frame.x + dx, frame.y + dy);
    for (&node, rect) in block.nodes.iter().zip(content.nodes) {
        plan.nodes[node] = rect;
    }
    for mut route in content.routes {
        route.edge = block.edges[route.edge];
        plan.routes.push(route);
    }
    plan.clusters.extend(content.clusters);
}

/// Boxes without a phase first, then the phases. When edges cross phases, these are laid out
/// together, and only the empty ones are left for blocks of their own.
fn blocks(sketch: &Sketch, ordered: bool) -> Vec<Block> {
    let block = |group| Block { group, nodes: Vec::new(), edges: Vec::new() };
    let mut loose = block(None);
    let mut phases: Vec<Block> = (0..sketch.phases.len()).map(|group| block(Some(group))).collect();
    let mut used = vec![false; phases.len()];
    for (node, group) in sketch.groups.iter().enumerate() {
        match *group {
            Some(group) if ordered => phases[group].nodes.push(node),
            _ => loose.nodes.push(node),
        }
        if let Some(group) = *group {
            used[group] = true;
        }
    }
    for (index, edge) in sketch.edges.iter().enumerate() {
        match sketch.groups[edge.from] {
            Some(group) if ordered => phases[group].edges.push(index),
            _ => loose.edges.push(index),
        }
    }
    let loose = (!loose.nodes.is_empty()).then_some(loose);
    let phases = phases.into_iter().zip(used).filter(|(_, used)| ordered || !used).map(|(block, _)| block);
    loose.into_iter().chain(phases).collect()
}

/// The flow inside the blocks: one for all, unless leaving it to each of them is clearly better.
fn flow(sketch: &Sketch, blocks: &[Block]) -> Option<Direction> {
    const COST_OF_MIXTURE: f64 = 1.15;
    let full = blocks.iter().filter(|block| !block.nodes.is_empty()).count();
    if full < 2 {
        return None;
    }
    let sketches: Vec<Sketch> = blocks.iter().map(|block| block.sketch(sketch)).collect();
    let weighed = |flow: Option<Direction>| {
        let sizes: Vec<Size> =
            blocks.iter().zip(&sketches).map(|(block, inner)| block.framed(estimate(inner, flow), sketch)).collect();
        (cost(&sizes) * if flow.is_none() { COST_OF_MIXTURE } else { 1.0 }, flow)
    };
    [Some(Direction::Down), Some(Direction::Right), None]
        .map(weighed)
        .into_iter()
        .reduce(|best, next| if next.0 < best.0 { next } else { best })
        .and_then(|(_, flow)| flow)
}

fn estimate(sketch: &Sketch, flow: Option<Direction>) -> Size {
    if let Some(rows) = fold::rows(sketch) {
        return fold::folded_size(sketch, &rows);
    }
    let direction = flow.unwrap_or_else(|| Direction::choose(&sketch.ranks, &sketch.sizes));
    let size = direction.estimate(&sketch.ranks, &sketch.sizes);
    // The estimate counts a gap after every box, also after the last.
    let gaps = direction.gaps();
    let (right, below) = match direction {
        Direction::Down => (gaps.across, gaps.along),
        Direction::Right => (gaps.along, gaps.across),
    };
    Size { width: (size.width - right).max(0.0), height: (size.height - below).max(0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::{EdgeKind, PictureEdge};

    fn sketch(groups: &[Option<usize>], phases: usize, pairs: &[(usize, usize)]) -> Sketch {
        let edge = |&(from, to): &(usize, usize)| PictureEdge { from, to, when: EdgeKind::Success, label: None };
        let edges: Vec<PictureEdge> = pairs.iter().map(edge).collect();
        Sketch {
            sizes: vec![Size { width: 150.0, height: 48.0 }; groups.len()],
            groups: groups.to_vec(),
            labels: vec![None; edges.len()],
            ranks: crate::ranks::longest_path(groups.len(), &edges),
            edges,
            phases: vec![Size { width: 60.0, height: 0.0 }; phases],
        }
    }

    #[test]
    fn boxes_lie_in_their_frames_and_every_edge_is_routed_once() {
        let sketch = sketch(&[Some(1), Some(0), Some(0), Some(1), None], 3, &[(0, 3), (1, 2)]);
        let plan = plan(&sketch).expect("phases");
        assert_eq!(
            plan.clusters.iter().map(|c| (c.group, c.empty)).collect::<Vec<_>>(),
            [(0, false), (1, false), (2, true)]
        );
        for (node, rect) in plan.nodes.iter().enumerate().take(4) {
            let frame = plan.clusters[sketch.groups[node].expect("framed")].frame;
            assert!(rect.x > frame.x && rect.right() < frame.right(), "{node}");
            assert!(rect.y > frame.y + FRAME_TITLE && rect.bottom() < frame.bottom(), "{node}");
        }
        let mut edges: Vec<usize> = plan.routes.iter().map(|route| route.edge).collect();
        edges.sort_unstable();
        assert_eq!(edges, [0, 1]);
        assert_eq!(plan.links.len(), 2);
    }

    #[test]
    fn crossing_edges_keep_the_common_layout_and_empty_phases_follow_it() {
        let sketch = sketch(&[Some(0), Some(2)], 3, &[(0, 1)]);
        let plan = plan(&sketch).expect("an empty phase");
        let found: Vec<(usize, bool)> = plan.clusters.iter().map(|c| (c.group, c.empty)).collect();
        assert_eq!(found, [(0, false), (2, false), (1, true)]);
        assert!(plan.links.is_empty());
        assert!(super::plan(&self::sketch(&[Some(0), Some(1)], 2, &[(0, 1)])).is_none());
    }
}
