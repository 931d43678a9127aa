//! Measures sprag beside the limits of the machine, all in one run, so that the ratios mean something on any machine.
//!
//! `sprag-bench SPRAG [--rounds N] [--plot FILE.svg] [--table FILE.md] [ROW…]`. Rows: chain, fan, many, commands, kill,
//! start, growth.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a measuring program"
)]

mod growth;
mod library;
mod limits;
mod plot;
mod program;
mod rows;
mod workflows;

use std::path::PathBuf;

use rows::Row;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next().unwrap_or_default();
    // A case that is measured by what its process needed runs in a process of its own.
    if first == growth::CHILD {
        let nodes = arguments.next().and_then(|nodes| nodes.parse().ok());
        return growth::one_case(nodes.expect("a number of nodes"));
    }
    if first.is_empty() || first.starts_with('-') {
        eprintln!("usage: sprag-bench SPRAG [--rounds N] [--plot FILE.svg] [--table FILE.md] [ROW…]");
        std::process::exit(2);
    }
    let (mut rounds, mut plot, mut table, mut wanted) = (5, None, None, Vec::new());
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--rounds" => rounds = arguments.next().and_then(|n| n.parse().ok()).expect("a number of rounds"),
            "--plot" => plot = arguments.next().map(PathBuf::from),
            "--table" => table = arguments.next().map(PathBuf::from),
            _ => wanted.push(argument),
        }
    }
    let program = std::path::absolute(first).unwrap();
    let rows = rows::measure(&program, rounds, &wanted);
    let text = markdown(&rows);
    println!("{text}");
    if let Some(path) = plot {
        std::fs::write(path, plot::svg(&rows)).unwrap();
    }
    if let Some(path) = table {
        write_between(&path, "<!-- peers -->", "<!-- /peers -->", &text);
    }
    if rows.iter().any(|row| !row.holds()) {
        eprintln!("some figures are not reached");
        std::process::exit(1);
    }
}

fn markdown(rows: &[Row]) -> String {
    let mut lines = vec![
        "| work | sprag | limit in the same run | ratio | must reach | |".to_owned(),
        "| --- | ---: | --- | ---: | --- | --- |".to_owned(),
    ];
    for row in rows {
        let verdict = if row.holds() { "reached" } else { "**missed**" };
        let ratio = row.ratio().map_or_else(String::new, |ratio| format!("{ratio:.2}"));
        lines.push(format!("| {} | {} | {} | {ratio} | {} | {verdict} |", row.work, row.figure(), row.limit, row.must));
    }
    lines.join("\n")
}

/// Replaces what stands between two marks of a file.
fn write_between(path: &std::path::Path, begin: &str, end: &str, text: &str) {
    let whole = std::fs::read_to_string(path).unwrap();
    let (Some(from), Some(to)) = (whole.find(begin), whole.find(end)) else { panic!("no marks in {}", path.display()) };
    std::fs::write(path, format!("{}{begin}\n{text}\n{}", &whole[..from], &whole[to..])).unwrap();
}
