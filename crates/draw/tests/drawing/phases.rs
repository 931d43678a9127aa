//! Phases stand in order, whatever the order of their nodes, and empty ones are shown.

use sprag_draw::{EdgeKind, Picture, Theme, ascii, collapsed, dot, mermaid, svg};

use crate::sample::{Seeded, edge, phased, release, xml_fault};

const EMPTY: &str = "generated while running";

fn plan() -> Picture {
    phased(&[("RESEARCH", 3), ("PLAN", 2), ("BUILD", 0), ("RELEASE", 1)])
}

/// x, y, width and height of the frame of each phase, in the order of the file.
fn frames(drawing: &str) -> Vec<[f64; 4]> {
    drawing
        .lines()
        .filter(|line| line.contains("<rect class=\"phase"))
        .map(|line| {
            [" x=\"", " y=\"", " width=\"", " height=\""].map(|name| {
                let start = line.find(name).expect("attribute") + name.len();
                line[start..start + line[start..].find('"').expect("quote")].parse().expect("number")
            })
        })
        .collect()
}

fn names(drawing: &str) -> Vec<&str> {
    let lines = drawing.lines().filter_map(|line| line.split("class=\"phase-name\"").nth(1));
    lines.map(|rest| &rest[rest.find('>').expect("tag") + 1..rest.find('<').expect("end")]).collect()
}

fn near(one: f64, other: f64) -> bool {
    (one - other).abs() < 0.15
}

/// Whether each word is first found after the one before it.
fn in_order(text: &str, words: &[&str]) -> bool {
    let places: Vec<Option<usize>> = words.iter().map(|word| text.find(word)).collect();
    places.iter().all(Option::is_some) && places.is_sorted()
}

#[test]
fn svg_stacks_frames_in_order_with_equal_gaps_and_an_arrow_in_each() {
    let drawing = svg(&plan(), Theme::Auto);
    assert_eq!(xml_fault(&drawing), None);
    assert_eq!(names(&drawing), ["RESEARCH", "PLAN", "BUILD", "RELEASE"]);
    let frames = frames(&drawing);
    for pair in frames.windows(2) {
        let gap = pair[1][1] - pair[0][1] - pair[0][3];
        let first_gap = frames[1][1] - frames[0][1] - frames[0][3];
        assert!(gap > 20.0 && near(gap, first_gap), "{frames:?}");
        assert!(near(pair[0][0], pair[1][0]) && near(pair[0][2], pair[1][2]), "{frames:?}");
    }
    assert_eq!(drawing.matches("<path class=\"next\"").count(), 3);
}

#[test]
fn svg_puts_tall_phases_beside_each_other() {
    let mut picture = phased(&[("One", 13), ("Two", 13), ("Three", 13)]);
    // Everything hangs on the first node of its phase: wide one way, tall the other.
    for edge in &mut picture.edges {
        edge.from -= edge.from % 13;
    }
    let drawing = svg(&picture, Theme::Light);
    let frames = frames(&drawing);
    assert_eq!(names(&drawing), ["One", "Two", "Three"]);
    assert!(frames.windows(2).all(|pair| pair[1][0] > pair[0][0] + pair[0][2]), "{frames:?}");
    assert!(frames.windows(2).all(|pair| near(pair[0][1], pair[1][1]) && near(pair[0][3], pair[1][3])), "{frames:?}");
}

#[test]
fn svg_breaks_many_phases_into_rows() {
    let names: Vec<String> = (0..30).map(|at| format!("P{at}")).collect();
    let phases: Vec<(&str, usize)> = names.iter().map(|name| (name.as_str(), 1)).collect();
    let drawing = svg(&phased(&phases), Theme::Auto);
    let frames = frames(&drawing);
    let right = frames.iter().map(|frame| frame[0] + frame[2]).fold(0.0, f64::max);
    let bottom = frames.iter().map(|frame| frame[1] + frame[3]).fold(0.0, f64::max);
    assert!((0.8..3.5).contains(&(right / bottom)), "{right} x {bottom}");
    // As words in a text: the next frame is further right, or further down.
    assert!(frames.windows(2).all(|p| p[1][0] > p[0][0] + p[0][2] || p[1][1] > p[0][1] + p[0][3]), "{frames:?}");
    assert_eq!(drawing.matches("<path class=\"next\"").count(), 29);
}

#[test]
fn svg_shows_an_empty_phase_as_a_dashed_frame_with_a_caption() {
    let drawing = svg(&plan(), Theme::Dark);
    assert_eq!(drawing.matches("class=\"phase empty\"").count(), 1);
    assert_eq!(drawing.matches(&format!(">{EMPTY}</text>")).count(), 1);
    let rule = drawing.lines().find(|line| line.contains(".phase.empty{")).expect("a rule");
    assert!(rule.contains("stroke-dasharray"));
    let full = svg(&phased(&[("A", 1), ("B", 1)]), Theme::Dark);
    assert!(!full.contains(EMPTY) && !full.contains(".empty"));
}

#[test]
fn edges_that_cross_phases_need_no_arrows_between_frames() {
    let drawing = svg(&release(), Theme::Auto);
    assert!(!drawing.contains("<path class=\"next\""));
    assert!(!dot(&release()).contains("lhead") && !mermaid(&release()).contains("g0 -.-> g1"));
    let mut odd = release();
    odd.groups.push("Later".into());
    assert_eq!(names(&svg(&odd, Theme::Auto)), ["Make", "Ship", "Later"]);
    assert!(svg(&odd, Theme::Auto).contains(EMPTY) && ascii(&odd).contains(EMPTY));
    assert!(dot(&odd).contains(EMPTY) && mermaid(&odd).contains(EMPTY));
}

#[test]
fn text_stacks_frames_with_arrows_between_them() {
    let text = ascii(&plan());
    let words =
        ["║ RESEARCH", "research-a", "research-c", "║ PLAN", "plan-b", "╎ BUILD", EMPTY, "║ RELEASE", "release-a"];
    assert!(in_order(&text, &words), "{text}");
    let between = text.lines().filter(|line| line.trim() == "↓").count();
    assert_eq!(between, 3, "{text}");
    let widths: std::collections::BTreeSet<usize> = text
        .lines()
        .filter(|line| line.starts_with(['╔', '║', '╚', '┌', '╎', '└']))
        .map(|l| l.chars().count())
        .collect();
    assert_eq!(widths.len(), 1, "{text}");
}

#[test]
fn dot_joins_clusters_and_holds_a_place_for_an_empty_one() {
    let text = dot(&plan());
    let clusters = ["cluster_0 {", "\"RESEARCH\"", "cluster_1 {", "\"PLAN\"", "cluster_2 {", EMPTY, "cluster_3 {"];
    assert!(in_order(&text, &clusters), "{text}");
    assert!(text.contains("compound=true"));
    // Nodes are listed from the last phase to the first: RELEASE is n0, PLAN n1 to n2, RESEARCH n3 to n5.
    for line in [
        "n5 -> n1 [ltail=cluster_0, lhead=cluster_1,",
        "n2 -> p2 [ltail=cluster_1, lhead=cluster_2,",
        "p2 -> n0 [ltail=cluster_2, lhead=cluster_3,",
    ] {
        let found = text.lines().find(|known| known.contains(line)).expect(line);
        assert!(found.contains("style=dotted"));
    }
    let place = text.lines().find(|line| line.contains("p2 [")).expect("a placeholder");
    assert!(place.contains("dashed"));
}

#[test]
fn mermaid_joins_subgraphs_and_holds_a_place_for_an_empty_one() {
    let text = mermaid(&plan());
    assert!(
        in_order(&text, &["g0[\"RESEARCH\"]", "g1[\"PLAN\"]", "g2[\"BUILD\"]", EMPTY, "g3[\"RELEASE\"]"]),
        "{text}"
    );
    for line in
        ["  g0 -.-> g1\n", "  g1 -.-> g2\n", "  g2 -.-> g3\n", "  n5 ~~~ n1\n", "  n2 ~~~ p2\n", "  p2 ~~~ n0\n"]
    {
        assert!(text.contains(line), "{line} in\n{text}");
    }
    // Three edges come before, so the links between subgraphs are the fourth to the sixth.
    assert!(text.contains("linkStyle 3,4,5 stroke:"), "{text}");
    assert!(text.contains("class g2,p2 empty\n") && text.contains("stroke-dasharray"), "{text}");
}

#[test]
fn phases_alone_are_drawn() {
    let picture = phased(&[("Later", 0), ("Last", 0)]);
    assert_eq!(names(&svg(&picture, Theme::Auto)), ["Later", "Last"]);
    assert!(in_order(&ascii(&picture), &["Later", EMPTY, "↓", "Last"]));
    assert!(dot(&picture).contains("p0 -> p1 [") && mermaid(&picture).contains("p0 ~~~ p1"));
}

#[test]
fn collapsing_keeps_the_order_of_phases() {
    let picture = phased(&[("One", 120), ("Two", 0), ("Three", 300), ("Four", 90)]);
    let small = collapsed(&picture, 20);
    assert_eq!(small.groups, picture.groups);
    for (group, name) in picture.groups.iter().enumerate() {
        let prefix = format!("{}-", name.to_lowercase());
        let inside: Vec<_> = small.nodes.iter().filter(|node| node.group == Some(group)).collect();
        assert_eq!(inside.is_empty(), name == "Two");
        assert!(inside.iter().all(|node| node.id.starts_with(&prefix)), "{name}");
    }
    assert_eq!(names(&svg(&picture, Theme::Auto)), ["One", "Two", "Three", "Four"]);
    assert!(in_order(&ascii(&picture), &["║ One", "╎ Two", EMPTY, "║ Three", "║ Four"]));
}

#[test]
fn more_phases_than_boxes_are_joined_with_their_neighbours() {
    let letters: Vec<String> = ('A'..='I').map(String::from).collect();
    let phases: Vec<(&str, usize)> = letters.iter().map(|name| (name.as_str(), 2)).collect();
    let small = collapsed(&phased(&phases), 4);
    assert_eq!(small.groups, ["A … C", "D … F", "G … I"]);
    let found: Vec<(Option<usize>, usize)> = small.nodes.iter().map(|node| (node.group, node.members)).collect();
    assert_eq!(found, [(Some(2), 6), (Some(1), 6), (Some(0), 6)]);
}

#[test]
fn a_phase_is_empty_after_collapsing_only_if_it_was_before() {
    for seed in 0..300 {
        let mut random = Seeded(seed);
        let picture = random.picture(60);
        let small = collapsed(&picture, 1 + random.below(30));
        let used = |picture: &Picture, name: &str| {
            let group = picture.groups.iter().position(|known| known == name);
            picture.nodes.iter().any(|node| node.group.is_some() && node.group == group)
        };
        for name in small.groups.iter().filter(|name| !name.contains('…')) {
            assert_eq!(used(&small, name), used(&picture, name), "seed {seed}: {name}");
        }
        assert!(small.groups.len() <= picture.groups.len(), "seed {seed}");
    }
}

#[test]
fn any_phases_without_crossing_edges_stay_apart_and_in_order() {
    for seed in 0..60 {
        let mut picture = Seeded(seed).picture(40);
        let nodes = picture.nodes.clone();
        let group = |at: usize| nodes.get(at).and_then(|node| node.group).filter(|g| *g < picture.groups.len());
        picture.edges.retain(|edge| group(edge.from) == group(edge.to));
        picture.edges.push(edge(0, usize::MAX, EdgeKind::Success));
        let drawing = svg(&picture, Theme::Auto);
        let frames = frames(&drawing);
        assert_eq!(xml_fault(&drawing), None, "seed {seed}");
        assert!(!drawing.contains("NaN"), "seed {seed}");
        assert_eq!(frames.len(), picture.groups.len(), "seed {seed}");
        for p in frames.windows(2) {
            assert!(p[1][0] > p[0][0] + p[0][2] || p[1][1] > p[0][1] + p[0][3], "seed {seed}: {frames:?}");
        }
        let links = drawing.matches("<path class=\"next\"").count();
        assert_eq!(links, frames.len().saturating_sub(1), "seed {seed}");
        assert_eq!(drawing, svg(&picture, Theme::Auto), "seed {seed}");
        assert_eq!(ascii(&picture), ascii(&picture), "seed {seed}");
    }
}
