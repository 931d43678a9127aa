//! How long it takes to load a workflow file, cold and from its compiled form (`R-FILE-4`).
//!
//! `cargo bench -p sprag-engine --bench load` prints one row per size; times are the best of several rounds, so that
//! a busy machine shows less. The last column says whether the time per node stays flat.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints, and stops when it cannot run")]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use sprag_core::definition::Definition;
use sprag_core::file::Workflow;
use sprag_core::limits::Limits;
use sprag_core::load::load;
use sprag_core::yaml::{self, Reader, typed};
use sprag_engine::{Project, ops};

fn main() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".sprag")).unwrap();
    let project = Project::find(folder.path()).unwrap();
    for (shape, write) in
        [("plain: a command and a dependency", plain as fn(u32) -> String), ("rich: five keys and a template", rich)]
    {
        println!("\n{shape}");
        println!(
            "{:>7} {:>8} | {:>8} {:>8} {:>9} | {:>9} {:>9} | {:>8}",
            "nodes", "bytes", "tree", "typed", "cold", "decode", "warm", "µs/node"
        );
        for nodes in [1_000, 2_500, 5_000, 10_000, 20_000, 40_000] {
            row(&project, nodes, &write(nodes));
        }
    }
}

fn row(project: &Project, nodes: u32, text: &str) {
    let path = project.root().join("bench.yaml");
    std::fs::write(&path, text).unwrap();
    let limits = Limits::default();
    let tree = best(|| yaml::read(text, limits.tree).unwrap().0.root());
    let (parsed, _) = yaml::read(text, limits.tree).unwrap();
    let reader = Reader::new(&parsed);
    let model = best(|| typed::<Workflow>(&reader, parsed.root()).unwrap());
    let cold = best(|| load(text, &limits).unwrap());
    let bytes = load(text, &limits).unwrap().definition.to_bytes().unwrap();
    let decode = best(|| Definition::from_bytes(&bytes).unwrap());
    assert!(ops::open(project, &path).definition.is_some());
    let warm = best(|| ops::open(project, &path).definition.unwrap());
    println!(
        "{nodes:>7} {:>8} | {:>8} {:>8} {:>9} | {:>9} {:>9} | {:>8.2}",
        text.len(),
        ms(tree),
        ms(model),
        ms(cold),
        ms(decode),
        ms(warm),
        cold.as_secs_f64() * 1e6 / f64::from(nodes),
    );
}

fn best<T>(mut act: impl FnMut() -> T) -> Duration {
    (0..7)
        .map(|_| {
            let start = Instant::now();
            let made = act();
            let time = start.elapsed();
            drop(made);
            time
        })
        .min()
        .unwrap()
}

fn ms(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

/// A layered graph of commands.
fn plain(nodes: u32) -> String {
    let mut text = String::from("workflow: bench\nnodes:\n");
    for node in 0..nodes {
        let _ = writeln!(text, "  node-{node:06}:\n    run: ./work.sh --item {node}");
        if node >= 100 {
            let _ = writeln!(text, "    needs: [node-{:06}]", node - 100);
        }
    }
    text
}

/// The same with the keys that careful people use.
fn rich(nodes: u32) -> String {
    let mut text = String::from("workflow: bench\nparams: { target: { type: string, default: x } }\nnodes:\n");
    for node in 0..nodes {
        let _ = writeln!(text, "  node-{node:06}:");
        if node >= 100 {
            let _ = writeln!(text, "    needs: [node-{:06}, node-{:06}]", node - 100, (node * 7) % (node - 99));
        }
        let _ = writeln!(text, "    run: ./work.sh --item {node} {{{{ params.target }}}}");
        let _ = writeln!(text, "    timeout: 30s\n    retry: {{ max_attempts: 3, initial_delay: 1s }}");
        let _ = writeln!(text, "    env: {{ MODE: fast, INDEX: \"{node}\" }}");
    }
    text
}
