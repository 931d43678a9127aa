//! Builders, a seeded generator and a small XML checker, shared by the tests.

use sprag_draw::{EdgeKind, NodeColour, Picture, PictureEdge, PictureNode};

pub fn node(id: &str, kind: &str, wave: u32) -> PictureNode {
    PictureNode { id: id.into(), kind: kind.into(), wave, members: 1, ..PictureNode::default() }
}

pub fn edge(from: usize, to: usize, when: EdgeKind) -> PictureEdge {
    PictureEdge { from, to, when, label: None }
}

/// fetch, build, a gate, ship, and an alarm when shipping fails.
pub fn release() -> Picture {
    let mut picture = Picture {
        title: "release".into(),
        nodes: vec![
            node("fetch", "http", 0),
            node("build", "run", 1),
            node("confirm", "approve", 2),
            node("ship", "agent", 3),
            node("alarm", "call", 4),
            node("cleanup", "noop", 4),
        ],
        edges: vec![
            edge(0, 1, EdgeKind::Success),
            edge(1, 2, EdgeKind::Success),
            edge(2, 3, EdgeKind::Success),
            edge(3, 4, EdgeKind::Failure),
            edge(3, 5, EdgeKind::Always),
            edge(2, 5, EdgeKind::Skip),
        ],
        groups: vec!["Make".into(), "Ship".into()],
    };
    for (index, node) in picture.nodes.iter_mut().enumerate() {
        node.group = Some(usize::from(index > 1));
    }
    picture.edges[2].label = Some("branch == \"main\" && a < b".into());
    picture
}

/// Phases that run one after the other: each is a name and how many nodes it has, in a chain.
///
/// The nodes of later phases come first, so that only the order of the groups can put them right.
pub fn phased(phases: &[(&str, usize)]) -> Picture {
    let mut picture = Picture { title: "phased".into(), ..Picture::default() };
    picture.groups = phases.iter().map(|(name, _)| (*name).to_owned()).collect();
    for (group, &(name, count)) in phases.iter().enumerate().rev() {
        for wave in 0..count {
            let at = picture.nodes.len();
            let id = format!("{}-{}", name.to_lowercase(), char::from(b'a' + u8::try_from(wave % 26).expect("small")));
            picture.nodes.push(node(&id, "run", u32::try_from(wave).expect("small")));
            picture.nodes[at].group = Some(group);
            if wave > 0 {
                picture.edges.push(edge(at - 1, at, EdgeKind::Success));
            }
        }
    }
    picture
}

/// Numbers that look random and are the same everywhere.
pub struct Seeded(pub u64);

impl Seeded {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bits = usize::try_from(self.0 >> 33).expect("31 bits fit");
        bits % limit.max(1)
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// A graph whose waves are true, with rough edges: duplicates, wrong indices, odd labels.
    pub fn picture(&mut self, nodes_max: usize) -> Picture {
        let count = self.below(nodes_max + 1);
        let kinds = ["run", "http", "agent", "approve", "map", "<kind>", ""];
        let words = ["build", "a&b", "数据", "x\u{301}", "shard", "\u{1f600}", ""];
        let group_count = self.below(4);
        let mut nodes: Vec<PictureNode> = (0..count)
            .map(|index| {
                let word = self.pick(&words);
                let mut node = node(&format!("{word}-{index}"), self.pick(&kinds), 0);
                node.group = (self.below(3) > 0).then(|| self.below(group_count + 1));
                node.state = (self.below(2) == 0).then(|| self.pick(&NodeColour::ALL));
                node.note = (self.below(4) == 0).then(|| "note \"<&>\"".into());
                if self.below(12) == 0 {
                    node.id = "w".repeat(128);
                }
                node
            })
            .collect();
        let mut edges = Vec::new();
        if count > 1 {
            for _ in 0..self.below(count * 2) {
                let to = 1 + self.below(count - 1);
                let mut edge = edge(self.below(to), to, self.pick(&EdgeKind::ALL));
                edge.label = (self.below(5) == 0).then(|| "]]> --> \"x\" < y\n&&".repeat(1 + self.below(4)));
                edges.push(edge.clone());
                if self.below(6) == 0 {
                    edges.push(edge);
                }
            }
            edges.sort_by_key(|edge| edge.to);
            for edge in &edges {
                nodes[edge.to].wave = nodes[edge.to].wave.max(nodes[edge.from].wave + 1);
            }
            edges.push(edge(0, count + 7, EdgeKind::Success));
            edges.push(edge(usize::MAX, 0, EdgeKind::Failure));
            edges.push(edge(1, 1, EdgeKind::Success));
        }
        let groups = (0..group_count).map(|at| format!("phase <{at}>")).collect();
        Picture { title: "t <&\"'> \u{0}".into(), nodes, edges, groups }
    }
}

/// Whether the edges of a picture form no cycle.
pub fn is_acyclic(picture: &Picture) -> bool {
    let mut waiting = vec![0; picture.nodes.len()];
    let edges = picture.drawn_edges();
    for edge in &edges {
        waiting[edge.to] += 1;
    }
    let mut free: Vec<usize> = (0..waiting.len()).filter(|&node| waiting[node] == 0).collect();
    let mut done = 0;
    while let Some(node) = free.pop() {
        done += 1;
        for edge in edges.iter().filter(|edge| edge.from == node) {
            waiting[edge.to] -= 1;
            if waiting[edge.to] == 0 {
                free.push(edge.to);
            }
        }
    }
    done == picture.nodes.len()
}

/// Checks tags, attributes and entities; answers with the first fault.
pub fn xml_fault(text: &str) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        if let Some(fault) = text_fault(&rest[..start]) {
            return Some(fault);
        }
        let Some(length) = rest[start..].find('>') else {
            return Some("unclosed tag".into());
        };
        let tag = &rest[start + 1..start + length];
        rest = &rest[start + length + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            match open.pop() {
                Some(expected) if expected == name => {}
                found => return Some(format!("</{name}> closes {found:?}")),
            }
            continue;
        }
        if !tag.matches('"').count().is_multiple_of(2) || tag.contains('<') {
            return Some(format!("bad attributes in <{tag}>"));
        }
        if !tag.ends_with('/') {
            open.push(tag.split_whitespace().next().unwrap_or_default());
        }
    }
    text_fault(rest).or_else(|| (!open.is_empty()).then(|| format!("left open: {open:?}")))
}

fn text_fault(text: &str) -> Option<String> {
    if text.chars().any(|c| c.is_control() && c != '\n') {
        return Some(format!("control character in {text:?}"));
    }
    for (at, _) in text.match_indices('&') {
        let entity = &text[at..text[at..].find(';').map_or(text.len(), |end| at + end + 1)];
        if !["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"].contains(&entity) {
            return Some(format!("bad entity {entity:?}"));
        }
    }
    None
}
