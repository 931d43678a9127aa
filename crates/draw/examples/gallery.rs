//! Writes sample pictures in every format, to be looked at: `cargo run --example gallery -- DIR`.

#![expect(clippy::print_stdout, reason = "an example says what it wrote")]

use std::path::PathBuf;

use sprag_draw::{EdgeKind, NodeColour, Picture, PictureEdge, PictureNode, Theme};

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "gallery".into()));
    std::fs::create_dir_all(&folder)?;
    let pictures = [
        ("release", release(false)),
        ("live", release(true)),
        ("phases", phases()),
        ("kinds", kinds()),
        ("fan", fan(20)),
        ("chain", chain(30)),
        ("shards", shards()),
        ("dense", dense(60)),
        ("phased-fan", phased_fan()),
        ("agent-plan", agent_plan()),
        ("five-phases", five_phases(false)),
        ("five-phases-live", five_phases(true)),
        ("busy-phases", busy_phases()),
        ("twenty-phases", twenty_phases()),
        ("two-hundred-phases", two_hundred_phases()),
    ];
    for (name, picture) in pictures {
        let started = std::time::Instant::now();
        std::fs::write(folder.join(format!("{name}.svg")), sprag_draw::svg(&picture, Theme::Auto))?;
        println!("{name}: svg in {:?}", started.elapsed());
        let dark = sprag_draw::svg(&picture, Theme::Dark);
        std::fs::write(folder.join(format!("{name}-dark.svg")), dark)?;
        std::fs::write(folder.join(format!("{name}.dot")), sprag_draw::dot(&picture))?;
        std::fs::write(folder.join(format!("{name}.mmd")), sprag_draw::mermaid(&picture))?;
        std::fs::write(folder.join(format!("{name}.txt")), sprag_draw::ascii(&picture))?;
    }
    Ok(())
}

fn node(id: &str, kind: &str) -> PictureNode {
    PictureNode { id: id.into(), kind: kind.into(), members: 1, ..PictureNode::default() }
}

fn edge(from: usize, to: usize, when: EdgeKind, label: Option<&str>) -> PictureEdge {
    PictureEdge { from, to, when, label: label.map(str::to_owned) }
}

/// Waves follow from the edges, as an engine would compute them.
fn waved(mut picture: Picture) -> Picture {
    for _ in 0..picture.nodes.len() {
        let mut moved = false;
        for edge in &picture.edges {
            let least = picture.nodes[edge.from].wave + 1;
            if picture.nodes[edge.to].wave < least {
                picture.nodes[edge.to].wave = least;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    picture
}

fn release(live: bool) -> Picture {
    use EdgeKind::{Always, Failure, Success};
    let mut picture = Picture {
        title: "release".into(),
        nodes: vec![
            node("fetch", "http"),
            node("test", "run"),
            node("build", "run"),
            node("review-notes", "agent"),
            node("confirm", "approve"),
            node("ship", "run"),
            node("announce", "http"),
            node("alarm", "call"),
            node("cleanup", "noop"),
        ],
        edges: vec![
            edge(0, 1, Success, None),
            edge(0, 2, Success, None),
            edge(0, 3, Success, None),
            edge(1, 4, Success, None),
            edge(2, 4, Success, None),
            edge(3, 4, Success, None),
            edge(4, 5, Success, Some("branch == \"main\"")),
            edge(5, 6, Success, None),
            edge(5, 7, Failure, None),
            edge(5, 8, Always, None),
        ],
        groups: vec![],
    };
    picture.nodes[4].note = Some("gate".into());
    if live {
        use NodeColour::{AwaitingApproval, Completed, Failed, Pending, Running, Skipped};
        let states = [Completed, Completed, Running, Failed, AwaitingApproval, Pending, Pending, Skipped, Pending];
        for (node, state) in picture.nodes.iter_mut().zip(states) {
            node.state = Some(state);
        }
    }
    waved(picture)
}

fn phases() -> Picture {
    use EdgeKind::{Failure, Skip, Success};
    let mut picture = Picture {
        title: "weekly research digest".into(),
        nodes: vec![
            node("search-news", "http"),
            node("search-papers", "http"),
            node("load-archive", "run"),
            node("rank-sources", "agent"),
            node("summarise", "map"),
            node("plan-outline", "generate"),
            node("write-draft", "agent"),
            node("editor-approval", "approve"),
            node("publish", "workflow"),
            node("notify-owner", "call"),
        ],
        edges: vec![
            edge(0, 3, Success, None),
            edge(1, 3, Success, None),
            edge(2, 3, Success, None),
            edge(3, 4, Success, None),
            edge(3, 5, Success, Some("sources > 3")),
            edge(4, 6, Success, None),
            edge(5, 6, Success, None),
            edge(5, 6, Skip, None),
            edge(6, 7, Success, None),
            edge(7, 8, Success, None),
            edge(7, 9, Failure, None),
        ],
        groups: vec!["Gather".into(), "Think".into(), "Publish".into()],
    };
    picture.nodes[4].note = Some("× 40".into());
    picture.nodes[7].note = Some("gate".into());
    for (index, group) in [0, 0, 0, 1, 1, 1, 1, 2, 2, 2].into_iter().enumerate() {
        picture.nodes[index].group = Some(group);
    }
    waved(picture)
}

fn kinds() -> Picture {
    let names = ["run", "http", "agent", "approve", "workflow", "map", "loop", "wait", "generate", "call", "noop"];
    let mut nodes: Vec<PictureNode> = names.iter().map(|kind| node(&format!("a-{kind}"), kind)).collect();
    for (at, state) in NodeColour::ALL.into_iter().enumerate() {
        let mut shown = node(&format!("state-{at}"), "run");
        shown.state = Some(state);
        nodes.push(shown);
    }
    nodes.push(node(&format!("a-very-long-identifier-{}-end", "of-many-words-".repeat(7)), "run"));
    let edges = (0..nodes.len() - 4).map(|at| edge(at, at + 4, EdgeKind::Success, None)).collect();
    waved(Picture { title: "kinds <and> states".into(), nodes, edges, groups: vec![] })
}

fn fan(count: usize) -> Picture {
    let mut nodes = vec![node("list-pages", "http")];
    nodes.extend((1..=count).map(|at| node(&format!("fetch-page-{at}"), "http")));
    nodes.push(node("merge", "run"));
    let last = nodes.len() - 1;
    let edges = (1..last)
        .flat_map(|at| [edge(0, at, EdgeKind::Success, None), edge(at, last, EdgeKind::Success, None)])
        .collect();
    waved(Picture { title: "fan-out".into(), nodes, edges, groups: vec![] })
}

fn phased_fan() -> Picture {
    let mut picture = fan(9);
    let last = picture.nodes.len();
    picture.title = "crawl".into();
    picture.groups = vec!["Find".into(), "Fetch".into(), "Decide".into()];
    picture.nodes.push(node("review", "approve"));
    picture.nodes.push(node("discard", "noop"));
    picture.edges.push(edge(last - 1, last, EdgeKind::Success, Some("changed > 0")));
    picture.edges.push(edge(last - 1, last + 1, EdgeKind::Skip, None));
    for (at, node) in picture.nodes.iter_mut().enumerate() {
        node.group = Some(usize::from(at > 0) + usize::from(at >= last - 1));
    }
    waved(picture)
}

/// A name, nodes as (id, kind), and edges among them.
type Phase<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a [(usize, usize)]);

/// A picture of phases that run one after the other.
fn sequence(title: &str, phases: &[Phase<'_>]) -> Picture {
    let mut picture = Picture { title: title.into(), ..Picture::default() };
    for (name, nodes, edges) in phases {
        let first = picture.nodes.len();
        for (id, kind) in *nodes {
            picture.nodes.push(PictureNode { group: Some(picture.groups.len()), ..node(id, kind) });
        }
        let inside = edges.iter().map(|(from, to)| edge(first + from, first + to, EdgeKind::Success, None));
        picture.edges.extend(inside);
        picture.groups.push((*name).into());
    }
    waved(picture)
}

fn agent_plan() -> Picture {
    sequence(
        "agent-plan",
        &[
            ("RESEARCH", &[("notes", "agent"), ("questions", "agent"), ("sources", "agent")], &[(1, 0), (2, 0)]),
            ("PLAN", &[("approve-outline", "approve"), ("outline", "agent")], &[(1, 0)]),
            ("BUILD", &[], &[]),
            ("RELEASE", &[("publish", "run")], &[]),
        ],
    )
}

fn five_phases(live: bool) -> Picture {
    let mut picture = sequence(
        "ship a feature",
        &[
            (
                "Understand",
                &[("read-issue", "http"), ("scan-code", "run"), ("ask-questions", "agent"), ("summary", "agent")],
                &[(0, 2), (1, 2), (2, 3)],
            ),
            ("Design", &[("options", "agent"), ("choose", "approve"), ("write-plan", "generate")], &[(0, 1), (1, 2)]),
            ("Build", &[], &[]),
            (
                "Check",
                &[
                    ("unit-tests", "run"),
                    ("end-to-end", "workflow"),
                    ("review", "agent"),
                    ("fix", "loop"),
                    ("verdict", "call"),
                ],
                &[(0, 3), (1, 3), (2, 3), (3, 4)],
            ),
            ("Release", &[("sign-off", "approve"), ("deploy", "run"), ("announce", "http")], &[(0, 1), (1, 2)]),
        ],
    );
    picture.edges.push(edge(10, 11, EdgeKind::Failure, Some("tests.failed > 0")));
    if live {
        use NodeColour::{Approved, Completed, Failed, Pending, Running};
        let states =
            [Completed, Completed, Completed, Completed, Completed, Approved, Completed, Completed, Failed, Running];
        for (at, node) in picture.nodes.iter_mut().enumerate() {
            node.state = Some(states.get(at).copied().unwrap_or(Pending));
        }
    }
    picture
}

/// Phases of many nodes: a fan, a long chain and a mesh.
fn busy_phases() -> Picture {
    let mut picture = Picture {
        title: "train and serve".into(),
        groups: ["Collect", "Clean", "Train", "Serve"].map(String::from).to_vec(),
        ..Picture::default()
    };
    for (group, part) in [fan(12), chain(9), dense(16), release(false)].into_iter().enumerate() {
        let first = picture.nodes.len();
        picture.nodes.extend(part.nodes.into_iter().map(|node| PictureNode { group: Some(group), ..node }));
        picture.edges.extend(part.edges.into_iter().map(|edge| PictureEdge {
            from: edge.from + first,
            to: edge.to + first,
            ..edge
        }));
    }
    picture
}

fn twenty_phases() -> Picture {
    let joined: &[(usize, usize)] = &[(0, 1)];
    let two: &[(&str, &str)] = &[("draft", "agent"), ("check", "run")];
    let one: &[(&str, &str)] = &[("confirm", "approve")];
    let names: Vec<String> = (1..=20).map(|at| format!("Chapter {at}")).collect();
    let phases: Vec<_> = names
        .iter()
        .enumerate()
        .map(|(at, name)| match at % 5 {
            3 => (name.as_str(), &[] as &[_], &[] as &[_]),
            1 => (name.as_str(), one, &[] as &[_]),
            _ => (name.as_str(), two, joined),
        })
        .collect();
    sequence("write a book", &phases)
}

fn two_hundred_phases() -> Picture {
    let names: Vec<String> = (1..=200).map(|at| format!("Day {at}")).collect();
    let joined: &[(usize, usize)] = &[(0, 1)];
    let day: &[(&str, &str)] = &[("collect", "http"), ("digest", "agent")];
    let phases: Vec<_> = names.iter().map(|name| (name.as_str(), day, joined)).collect();
    sequence("a long journey", &phases)
}

fn chain(count: usize) -> Picture {
    let words = ["extract", "clean", "validate", "enrich", "score", "store"];
    let kinds = ["run", "run", "call", "http", "agent", "run"];
    let nodes = (0..count).map(|at| node(&format!("{}-{}", words[at % 6], at / 6 + 1), kinds[at % 6])).collect();
    let edges = (1..count).map(|at| edge(at - 1, at, EdgeKind::Success, None)).collect();
    waved(Picture { title: "nightly pipeline".into(), nodes, edges, groups: vec![] })
}

fn shards() -> Picture {
    let mut nodes = vec![node("plan-shards", "generate")];
    let mut edges = Vec::new();
    for shard in 0..400 {
        let first = nodes.len();
        for (word, kind) in
            [("download", "http"), ("parse", "run"), ("label", "agent"), ("verify", "call"), ("upload", "http")]
        {
            nodes.push(node(&format!("{word}-{shard:03}"), kind));
        }
        edges.push(edge(0, first, EdgeKind::Success, None));
        edges.extend((first..first + 4).map(|at| edge(at, at + 1, EdgeKind::Success, None)));
        edges.push(edge(first + 2, first + 4, EdgeKind::Failure, None));
    }
    let last = nodes.len();
    nodes.push(node("sign-off", "approve"));
    nodes.push(node("publish-dataset", "workflow"));
    edges.extend((0..400).map(|shard| edge(shard * 5 + 5, last, EdgeKind::Success, None)));
    edges.push(edge(last, last + 1, EdgeKind::Success, None));
    waved(Picture { title: "label the corpus".into(), nodes, edges, groups: vec![] })
}

fn dense(count: usize) -> Picture {
    let mut seed: u64 = 7;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap_or(0) % below
    };
    let kinds = ["run", "http", "agent", "call", "map", "wait"];
    let nodes = (0..count)
        .map(|at| node(&format!("step-{}", ('a'..='z').nth(at % 26).unwrap_or('a')), kinds[at % 6]))
        .collect();
    let edges = (1..count)
        .flat_map(|to| {
            let near = to.saturating_sub(9);
            let one = near + random(to - near);
            let other = near + random(to - near);
            [edge(one, to, EdgeKind::Success, None), edge(other, to, EdgeKind::Success, None)]
        })
        .collect();
    waved(Picture { title: "sixty steps".into(), nodes, edges, groups: vec![] })
}
