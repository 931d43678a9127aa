//! Any picture can be drawn, and always the same way.

use sprag_draw::{EdgeKind, Picture, Theme, ascii, dot, mermaid, svg};

use crate::sample::{Seeded, edge, node, xml_fault};

#[test]
fn no_picture_panics_and_every_svg_is_well_formed() {
    for seed in 0..80 {
        let picture = Seeded(seed).picture(24);
        let drawing = svg(&picture, Theme::Auto);
        assert_eq!(xml_fault(&drawing), None, "seed {seed}");
        assert!(!drawing.contains("NaN") && !drawing.contains("inf"), "seed {seed}");
        let text = ascii(&picture);
        assert!(!text.contains('\u{1b}') && !text.is_empty(), "seed {seed}");
        assert!(dot(&picture).ends_with("}\n"), "seed {seed}");
        assert!(mermaid(&picture).starts_with("flowchart"), "seed {seed}");
    }
}

#[test]
fn the_same_picture_gives_the_same_bytes() {
    for seed in 1000..1012 {
        let picture = Seeded(seed).picture(30);
        assert_eq!(svg(&picture, Theme::Auto), svg(&picture, Theme::Auto), "seed {seed}");
        assert_eq!(ascii(&picture), ascii(&picture), "seed {seed}");
        assert_eq!(dot(&picture), dot(&picture), "seed {seed}");
        assert_eq!(mermaid(&picture), mermaid(&picture), "seed {seed}");
    }
}

#[test]
fn the_smallest_and_the_oddest_pictures_are_drawn() {
    let lonely = Picture { nodes: vec![node("one", "run", 0)], ..Picture::default() };
    let apart = Picture { nodes: (0..9).map(|at| node(&format!("n{at}"), "run", 0)).collect(), ..Picture::default() };
    let mut cyclic = apart.clone();
    cyclic.edges = (0..9).map(|at| edge(at, (at + 1) % 9, EdgeKind::Success)).collect();
    let mut grouped = apart.clone();
    grouped.groups = (0..9).map(|at| format!("phase {at}")).collect();
    for (at, node) in grouped.nodes.iter_mut().enumerate() {
        node.group = Some(at);
    }
    let nameless = Picture {
        nodes: vec![node("", "", 0), node(&"\u{202e}\u{200d}".repeat(64), "\u{7}", 0)],
        groups: vec![String::new()],
        ..Picture::default()
    };
    for picture in [Picture::default(), lonely, apart, cyclic, grouped, nameless] {
        assert_eq!(xml_fault(&svg(&picture, Theme::Light)), None);
        assert!(!ascii(&picture).is_empty());
        assert!(!dot(&picture).is_empty() && !mermaid(&picture).is_empty());
    }
}

/// Boxes never cover each other, whatever the direction or folding.
#[test]
fn boxes_do_not_overlap() {
    for seed in 0..30 {
        let mut picture = Seeded(seed).picture(28);
        picture.groups.clear();
        let drawing = svg(&picture, Theme::Auto);
        let boxes: Vec<[f64; 4]> = drawing
            .lines()
            .filter(|line| line.contains("<rect class=\"card\" "))
            .map(|line| {
                let number = |name: &str| {
                    let start = line.find(name).expect("attribute") + name.len();
                    line[start..start + line[start..].find('"').expect("quote")].parse().expect("number")
                };
                [number(" x=\""), number(" y=\""), number(" width=\""), number(" height=\"")]
            })
            .collect();
        assert_eq!(boxes.len(), picture.nodes.len(), "seed {seed}");
        for (at, one) in boxes.iter().enumerate() {
            for other in &boxes[at + 1..] {
                let apart = one[0] + one[2] <= other[0] + 0.2
                    || other[0] + other[2] <= one[0] + 0.2
                    || one[1] + one[3] <= other[1] + 0.2
                    || other[1] + other[3] <= one[1] + 0.2;
                assert!(apart, "seed {seed}: {one:?} and {other:?}");
            }
        }
    }
}
