//! What the loading tests share.

use sprag_core::definition::Definition;
use sprag_core::diagnostic::{Diagnostic, LineIndex};
use sprag_core::limits::Limits;
use sprag_core::load::load;

/// The definition of a file that must be fine.
pub fn valid(text: &str) -> Definition {
    match load(text, &Limits::default()) {
        Ok(loaded) => loaded.definition,
        Err(problems) => panic!("{text}\nshould be valid, but: {}", brief(text, &problems).join("\n")),
    }
}

/// Warnings of a file that must be fine.
pub fn warnings(text: &str) -> Vec<String> {
    match load(text, &Limits::default()) {
        Ok(loaded) => brief(text, &loaded.warnings),
        Err(problems) => panic!("{text}\nshould be valid, but: {}", brief(text, &problems).join("\n")),
    }
}

/// The problems of a file that must have some, as `line:column CODE`.
pub fn problems(text: &str) -> Vec<String> {
    brief(text, &diagnostics(text))
}

/// The problems of a file that must have some.
pub fn diagnostics(text: &str) -> Vec<Diagnostic> {
    match load(text, &Limits::default()) {
        Ok(_) => panic!("{text}\nshould have problems"),
        Err(problems) => problems,
    }
}

fn brief(text: &str, problems: &[Diagnostic]) -> Vec<String> {
    let index = LineIndex::new(text);
    problems
        .iter()
        .map(|problem| {
            let at = index.position(problem.span.start);
            format!("{}:{} {}", at.line, at.column, problem.code)
        })
        .collect()
}

/// The codes of the problems of a workflow whose nodes are given, one node a line of flow YAML.
pub fn codes_of_nodes(nodes: &str) -> Vec<String> {
    let text = in_workflow(nodes);
    match load(&text, &Limits::default()) {
        Ok(_) => Vec::new(),
        Err(problems) => problems.iter().map(|problem| problem.code.to_string()).collect(),
    }
}

/// A workflow around nodes.
pub fn in_workflow(nodes: &str) -> String {
    let mut text =
        String::from("workflow: w\nparams: { p: { type: string, default: x } }\nsecrets: { S: { env: S } }\nnodes:\n");
    for line in nodes.lines() {
        text.push_str("  ");
        text.push_str(line);
        text.push('\n');
    }
    text
}
