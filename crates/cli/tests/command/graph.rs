//! `sprag graph`.

use std::process::{Command, Stdio};

use super::space::{BAD, GOOD, Space, repository};

#[test]
fn every_format_draws_every_example() {
    let space = Space::new();
    let examples = repository().join("examples");
    for entry in std::fs::read_dir(&examples).unwrap() {
        let path = entry.unwrap().path();
        let file = path.to_str().unwrap();
        for (format, start) in [("svg", "<svg"), ("dot", "digraph"), ("mermaid", "flowchart"), ("ascii", "")] {
            let ran = space.run(&["graph", file, "--format", format]);
            assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{file} as {format}");
            assert!(ran.out.starts_with(start) && ran.out.ends_with('\n'), "{file} as {format}: {}", ran.out);
        }
    }
}

/// The SVG is one that other programs draw.
#[test]
fn svg_can_be_rendered() {
    let space = Space::new();
    let file = repository().join("examples/release.yaml");
    for theme in ["auto", "light", "dark"] {
        let output = space.path(&format!("{theme}.svg"));
        let ran = space.run(&[
            "graph",
            file.to_str().unwrap(),
            "--format",
            "svg",
            "--theme",
            theme,
            "-o",
            output.to_str().unwrap(),
        ]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{}", ran.err);
        let png = space.path("out.png");
        let drawn = Command::new("rsvg-convert").arg(&output).arg("-o").arg(&png).status().unwrap();
        assert!(drawn.success());
        assert!(std::fs::metadata(png).unwrap().len() > 5_000);
    }
}

#[test]
fn an_invalid_file_is_explained_and_not_drawn() {
    let space = Space::new().with("sprag.yaml", BAD);
    space.run(&["graph", "--format", "svg"]).is_refusal("UNKNOWN_KEY");
    assert_eq!(space.run(&["graph", "--json"]).json()["error"]["code"], "UNKNOWN_KEY");
}

#[test]
fn a_picture_that_cannot_be_written_is_an_error() {
    let space = Space::new().with("sprag.yaml", GOOD);
    let ran = space.run(&["graph", "-o", "no/such/folder/x.txt"]);
    ran.is_refusal("OUTPUT_FAILED");
}

/// A reader that goes away is no reason to complain.
#[test]
fn a_closed_pipe_is_quiet() {
    let space = Space::new();
    let mut child = space.command().arg("schema").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(output.status.code(), Some(0));
}

/// R-CLI-2: with `--json`, standard output is JSON, whatever else the command does.
#[test]
fn json_is_json_everywhere() {
    let space = Space::new().with("sprag.yaml", GOOD);
    assert_eq!(space.run(&["graph", "--json", "-o", "out.svg"]).json()["written"], "out.svg");
    assert!(
        std::fs::read_to_string(space.path("out.svg")).unwrap().starts_with("<svg"),
        "the ending says what is drawn"
    );
    assert_eq!(space.run(&["completions", "--json", "bash"]).json()["shell"], "bash");
    assert!(space.run(&["schema", "--json"]).json().is_object());
}
