//! Each format by itself.

use sprag_draw::{EdgeKind, NodeColour, Picture, Theme, ascii, dot, mermaid, svg};

use crate::sample::{edge, node, release, xml_fault};

/// Width and height from the root element.
fn page(drawing: &str) -> (f64, f64) {
    let number = |name: &str| {
        let start = drawing.find(name).expect("attribute") + name.len();
        let text = &drawing[start..start + drawing[start..].find('"').expect("quote")];
        text.parse::<f64>().expect("a number")
    };
    (number("width=\""), number("height=\""))
}

fn chain(length: usize) -> Picture {
    Picture {
        title: "chain".into(),
        nodes: (0..length).map(|at| node(&format!("step-{at}"), "run", u32::try_from(at).expect("small"))).collect(),
        edges: (1..length).map(|to| edge(to - 1, to, EdgeKind::Success)).collect(),
        groups: vec![],
    }
}

#[test]
fn svg_is_well_formed_and_needs_nothing_from_outside() {
    for theme in [Theme::Auto, Theme::Light, Theme::Dark] {
        let drawing = svg(&release(), theme);
        assert_eq!(xml_fault(&drawing), None);
        assert!(drawing.contains("role=\"img\"") && drawing.contains("<desc>"));
        for outside in ["<script", "href", "url(", "@import", "@font-face"] {
            assert!(!drawing.contains(outside), "{outside}");
        }
    }
}

#[test]
fn only_the_automatic_theme_depends_on_the_reader() {
    let dark_canvas = "#0d1117";
    let auto = svg(&release(), Theme::Auto);
    assert!(auto.contains("prefers-color-scheme:dark") && auto.contains("var(--"));
    let light = svg(&release(), Theme::Light);
    assert!(!light.contains("prefers-color-scheme") && !light.contains(dark_canvas));
    let dark = svg(&release(), Theme::Dark);
    assert!(!dark.contains("prefers-color-scheme") && dark.contains(dark_canvas));
}

#[test]
fn user_text_is_escaped_everywhere() {
    let mut picture = release();
    picture.title = "<script>alert(1)</script>".into();
    picture.groups[0] = "</style>&".into();
    picture.edges[0].label = Some("a < b && \"c\"".into());
    let drawing = svg(&picture, Theme::Auto);
    assert_eq!(xml_fault(&drawing), None);
    assert!(drawing.contains("&lt;script&gt;") && !drawing.contains("<script"));
    assert_eq!(drawing.matches("</style>").count(), 1);
    assert!(drawing.contains("a &lt; b &amp;&amp; &quot;c&quot;"));
}

#[test]
fn edge_styles_appear_with_a_legend_only_where_needed() {
    let drawing = svg(&release(), Theme::Auto);
    for kind in ["success", "failure", "always", "skip"] {
        assert!(drawing.contains(&format!("<path class=\"edge {kind}\"")), "{kind}");
    }
    for words in ["on failure", "always", "when skipped"] {
        assert!(drawing.contains(&format!(">{words}</text>")), "{words}");
    }
    assert!(!drawing.contains("on success"));
    assert!(!svg(&chain(3), Theme::Auto).contains("class=\"legend\""));
}

#[test]
fn a_long_id_is_shortened_but_stays_in_the_title() {
    let id = format!("begin-{}-end", "m".repeat(118));
    let drawing = svg(&Picture { nodes: vec![node(&id, "run", 0)], ..Picture::default() }, Theme::Auto);
    assert!(drawing.contains(&format!("<title>{id} (run)</title>")));
    assert!(!drawing.contains(&format!(">{id}</text>")) && drawing.contains('…'));
    assert!(page(&drawing).0 < 400.0);
}

#[test]
fn states_are_said_and_not_only_coloured() {
    let mut picture = release();
    for (node, state) in picture.nodes.iter_mut().zip(NodeColour::ALL) {
        node.state = Some(state);
    }
    let drawing = svg(&picture, Theme::Dark);
    for state in &NodeColour::ALL[..picture.nodes.len()] {
        assert!(drawing.contains(&format!("s-{}", state.word())));
        assert!(drawing.contains(&format!(">{}</tspan>", state.word())));
        assert!(drawing.contains(state.hex(Theme::Dark)));
    }
    assert!(ascii(&picture).contains("✓ completed"));
    assert!(mermaid(&picture).contains("classDef failed fill:#cf222e"));
    assert!(dot(&picture).contains("tooltip=\"failed\""));
}

#[test]
fn shapes_stay_near_a_screen() {
    let (width, height) = page(&svg(&chain(30), Theme::Auto));
    assert!((1.0..3.0).contains(&(width / height)), "chain {width} x {height}");

    let mut fan = chain(1);
    fan.nodes.extend((0..20).map(|at| node(&format!("part-{at}"), "run", 1)));
    fan.edges = (1..=20).map(|to| edge(0, to, EdgeKind::Success)).collect();
    let (width, height) = page(&svg(&fan, Theme::Auto));
    assert!(width < 900.0 && height < 1600.0, "fan {width} x {height}");
}

#[test]
fn siblings_stand_in_the_order_of_the_file() {
    let mut fan = chain(1);
    fan.nodes.extend((0..3).map(|at| node(&format!("part-{at}"), "run", 1)));
    fan.edges = (1..=3).map(|to| edge(0, to, EdgeKind::Success)).collect();
    let drawing = svg(&fan, Theme::Auto);
    let left = |id: &str| {
        let end = drawing.find(&format!(">{id}</text>")).expect("drawn");
        let start = drawing[..end].rfind("x=\"").expect("placed") + 3;
        let text = &drawing[start..start + drawing[start..].find('"').expect("quote")];
        text.parse::<f64>().expect("a number")
    };
    assert!(left("part-0") < left("part-1") && left("part-1") < left("part-2"));
}

#[test]
fn dot_quotes_labels_and_frames_phases() {
    let mut picture = release();
    picture.groups[0] = "say \"hi\" \\N".into();
    let text = dot(&picture);
    assert!(text.contains("label=\"say \\\"hi\\\" \\\\N\""));
    assert_eq!(text.matches("subgraph cluster_").count(), 2);
    assert_eq!(text.matches(" -> ").count(), 6);
    assert!(text.contains("style=dashed") && text.contains("style=dotted"));
    assert_eq!(text.matches('{').count(), text.matches('}').count());
}

#[test]
fn mermaid_uses_safe_ids_and_coded_labels() {
    let mut picture = release();
    picture.nodes[0].id = "end".into();
    picture.edges[0].label = Some("a|b \"c\" ]".into());
    let text = mermaid(&picture);
    assert!(text.contains("n0[\"end<br/><small>http</small>\"]"));
    assert!(text.contains("n0 -->|\"a#124;b #34;c#34; #93;\"| n1"));
    assert!(text.contains("n2{{\"confirm"));
    assert!(text.contains("n3 -.->|\"failure\"| n4") && text.contains("n3 ==>|\"always\"| n5"));
    assert_eq!(text.matches("\n  end\n").count(), 2);
}

#[test]
fn text_shows_every_step_and_names_special_edges() {
    let text = ascii(&release());
    for word in ["fetch", "build", "confirm", "ship", "alarm", "cleanup", "failure", "always"] {
        assert!(text.contains(word), "{word} in\n{text}");
    }
    assert!(text.lines().all(|line| line.trim_end() == line));
    assert!(ascii(&Picture::default()).contains("no steps"));
}

#[test]
fn wide_text_is_turned() {
    let mut fan = chain(1);
    fan.nodes.extend((0..20).map(|at| node(&format!("some-longer-part-{at}"), "run", 1)));
    fan.edges = (1..=20).map(|to| edge(0, to, EdgeKind::Success)).collect();
    let widest = ascii(&fan).lines().map(|line| line.chars().count()).max();
    assert!(widest < Some(120), "{widest:?}");
}
