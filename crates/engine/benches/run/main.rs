//! What a run itself costs: nodes that do nothing, driven over the journal in memory.
//!
//! `cargo bench -p sprag-engine --bench run` prints one row per shape and size. Each case has a process of its own; times
//! are those on the processor, the best of several rounds, so that a busy machine shows less. `--plot PATH` draws the time
//! per node, `--table PATH` puts the rows into a Markdown page between its `run-cost` marks.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a bench prints, and stops when it cannot run"
)]

mod measure;
mod plot;
mod shapes;

use measure::Cost;
use shapes::Shape;

const SIZES: [u32; 4] = [1_000, 10_000, 100_000, 1_000_000];

/// The size that others are compared with: large enough to be steady, small enough for the caches.
const REFERENCE: u32 = 10_000;

const MARKS: [&str; 2] = ["<!-- run-cost -->\n", "<!-- /run-cost -->"];

const COLUMNS: [&str; 10] = [
    "shape",
    "nodes",
    "seconds",
    "ns/node",
    "to 10,000",
    "nodes/s",
    "fold ns/node",
    "commits",
    "entries/node",
    "peak MiB",
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let after = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        Some(arguments.get(at + 1..).unwrap_or_default())
    };
    if let Some([shape, nodes]) = after(measure::ONE_CASE) {
        println!("{}", measure::one_case(shape, nodes.parse().unwrap()));
        return;
    }
    let mut costs = Vec::new();
    print_row(&COLUMNS.map(str::to_owned));
    for shape in Shape::ALL {
        for nodes in SIZES {
            costs.push(measure::in_child(shape, nodes));
            print_row(&cells(&costs, costs.len() - 1));
        }
    }
    if let Some([path, ..]) = after("--plot") {
        std::fs::write(path, plot::svg(&costs)).unwrap();
    }
    if let Some([path, ..]) = after("--table") {
        replace_table(path, &costs);
    }
}

fn cells(costs: &[Cost], at: usize) -> [String; 10] {
    let cost = &costs[at];
    let reference = costs.iter().find(|other| other.shape == cost.shape && other.nodes == REFERENCE);
    let ratio = reference.map(|reference| cost.ns_per_node() / reference.ns_per_node());
    let per_second = f64::from(cost.nodes) / cost.run.as_secs_f64();
    [
        cost.shape.name().to_owned(),
        grouped(&cost.nodes.to_string()),
        format!("{:.3}", cost.run.as_secs_f64()),
        format!("{:.0}", cost.ns_per_node()),
        ratio.map(|ratio| format!("{ratio:.2}")).unwrap_or_default(),
        grouped(&format!("{per_second:.0}")),
        format!("{:.0}", cost.fold_ns_per_node()),
        grouped(&cost.commits.to_string()),
        format!("{:.2}", f64::from(u32::try_from(cost.entries).unwrap()) / f64::from(cost.nodes)),
        grouped(&(cost.peak_kib / 1024).to_string()),
    ]
}

fn print_row(cells: &[String; 10]) {
    let [shape, rest @ ..] = cells;
    let rest: Vec<_> = rest.iter().map(|cell| format!("{cell:>14}")).collect();
    println!("{shape:<16}{}", rest.concat());
}

/// Digits in groups of three.
fn grouped(digits: &str) -> String {
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn replace_table(path: &str, costs: &[Cost]) {
    let page = std::fs::read_to_string(path).unwrap();
    let Some((before, rest)) = page.split_once(MARKS[0]) else { panic!("{path} has no `{}`", MARKS[0].trim()) };
    let Some((_, after)) = rest.split_once(MARKS[1]) else { panic!("{path} has no `{}`", MARKS[1]) };
    let row = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut table = row(&COLUMNS.map(str::to_owned));
    table.push_str(&row(&std::array::from_fn::<_, 10, _>(|at| if at == 0 { "---".into() } else { "---:".into() })));
    for at in 0..costs.len() {
        table.push_str(&row(&cells(costs, at)));
    }
    std::fs::write(path, [before, MARKS[0], &table, MARKS[1], after].concat()).unwrap();
}
