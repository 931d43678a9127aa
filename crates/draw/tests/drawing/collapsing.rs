//! Collapsing keeps count, order and acyclicity, and is fast.

use std::time::{Duration, Instant};

use sprag_draw::{EdgeKind, NodeColour, Picture, SVG_NODE_LIMIT, Theme, collapsed, svg};

use crate::sample::{Seeded, edge, is_acyclic, node, release, xml_fault};

/// `count` shards of five numbered steps between a first and a last node.
fn shards(count: usize) -> Picture {
    let mut picture =
        Picture { title: "shards".into(), nodes: vec![node("plan", "generate", 0)], ..Picture::default() };
    for shard in 0..count {
        for (wave, word) in (1..).zip(["load", "parse", "label", "check", "store"]) {
            let at = picture.nodes.len();
            let from = if wave == 1 { 0 } else { at - 1 };
            picture.nodes.push(node(&format!("{word}-{shard:05}"), "run", wave));
            picture.edges.push(edge(from, at, EdgeKind::Success));
        }
    }
    picture
}

fn total(picture: &Picture) -> usize {
    picture.nodes.iter().map(|node| node.members).sum()
}

#[test]
fn a_small_picture_is_left_alone() {
    assert_eq!(collapsed(&release(), 6), release());
}

#[test]
fn numbered_siblings_become_one_box() {
    let mut picture = shards(400);
    picture.nodes[7].state = Some(NodeColour::Failed);
    let small = collapsed(&picture, SVG_NODE_LIMIT);
    let ids: Vec<&str> = small.nodes.iter().map(|node| node.id.as_str()).collect();
    assert_eq!(ids, ["plan", "load*", "parse*", "label*", "check*", "store*"]);
    assert_eq!(small.nodes[1].members, 400);
    assert_eq!(small.nodes[1].note.as_deref(), Some("× 400"));
    assert_eq!(small.nodes[2].state, Some(NodeColour::Failed));
    assert_eq!(small.edges.len(), 5);
    let drawing = svg(&picture, Theme::Auto);
    assert!(drawing.contains("2,001 steps in 6 boxes") && drawing.contains("load*"));
}

#[test]
fn kinds_of_edges_stay_apart_and_disagreeing_labels_go() {
    let mut picture = shards(3);
    picture.edges.push(edge(1, 2, EdgeKind::Failure));
    for (at, edge) in picture.edges.iter_mut().enumerate() {
        edge.label = Some(if at % 5 == 0 { "same".into() } else { format!("own {at}") });
    }
    let small = collapsed(&picture, 10);
    let load_to_parse: Vec<EdgeKind> =
        small.edges.iter().filter(|e| (e.from, e.to) == (1, 2)).map(|e| e.when).collect();
    assert_eq!(load_to_parse, [EdgeKind::Success, EdgeKind::Failure]);
    assert_eq!(small.edges[0].label.as_deref(), Some("same"));
    assert_eq!(small.edges[1].label, None);
}

#[test]
fn unlike_ids_are_banded_by_wave() {
    let letters = |mut at: usize| {
        let mut id = String::new();
        for _ in 0..4 {
            id.push(char::from(b'a' + u8::try_from(at % 26).expect("a letter")));
            at /= 26;
        }
        id
    };
    let mut picture = Picture::default();
    for at in 0..1000 {
        picture.nodes.push(node(&letters(at), "run", u32::try_from(at).expect("small")));
        if at > 0 {
            picture.edges.push(edge(at - 1, at, EdgeKind::Success));
        }
    }
    let small = collapsed(&picture, 100);
    assert_eq!(small.nodes.len(), 100);
    assert_eq!(small.edges.len(), 99);
    assert_eq!(small.nodes[0].id, format!("{}…{}", letters(0), letters(9)));
    assert_eq!(total(&small), 1000);
}

#[test]
fn phases_that_alternate_do_not_make_a_cycle() {
    let mut picture = Picture { groups: vec!["A".into(), "B".into()], ..Picture::default() };
    for at in 0..40_u8 {
        let mut step = node(&format!("{}x", char::from(b'A' + at)), "run", u32::from(at));
        step.group = Some(usize::from(at % 2));
        picture.nodes.push(step);
        if at > 0 {
            picture.edges.push(edge(usize::from(at) - 1, usize::from(at), EdgeKind::Success));
        }
    }
    for limit in 1..40 {
        let small = collapsed(&picture, limit);
        assert!(small.nodes.len() <= limit && is_acyclic(&small) && total(&small) == 40, "{limit}");
    }
}

#[test]
fn random_pictures_keep_every_invariant() {
    for seed in 0..400 {
        let mut random = Seeded(seed);
        let picture = random.picture(120);
        let limit = random.below(40);
        let small = collapsed(&picture, limit);
        assert!(small.nodes.len() <= limit.max(1), "seed {seed}");
        assert_eq!(total(&small), picture.nodes.len(), "seed {seed}");
        assert!(is_acyclic(&small), "seed {seed}");
        assert_eq!(small, collapsed(&picture, limit), "seed {seed}");
        if picture.nodes.len() > limit {
            assert_eq!(small.edges, small.drawn_edges(), "seed {seed}: repeated or impossible edges");
        }
    }
}

#[test]
fn two_hundred_thousand_nodes_collapse_quickly() {
    let picture = shards(40_000);
    let started = Instant::now();
    let small = collapsed(&picture, SVG_NODE_LIMIT);
    let took = started.elapsed();
    assert_eq!(total(&small), 200_001);
    // Generous for unoptimised builds on a busy machine; quadratic work would take minutes.
    assert!(took < Duration::from_secs(8), "{took:?}");
}

#[test]
fn a_dense_picture_is_collapsed_until_it_can_be_laid_out() {
    let mut picture = Picture::default();
    for to in 0..90_u8 {
        let id = format!("{}{}", char::from(b'a' + to % 26), char::from(b'a' + to / 26));
        picture.nodes.push(node(&id, "run", u32::from(to)));
        let to = usize::from(to);
        picture.edges.extend((0..to).map(|from| edge(from, to, EdgeKind::Success)));
    }
    let drawing = svg(&picture, Theme::Auto);
    assert_eq!(xml_fault(&drawing), None);
    assert!(drawing.contains("90 steps in "));
}
