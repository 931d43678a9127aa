//! How long files are and what they are called.

use crate::source::{has_word, is_test_path};
use crate::{Code, Finding, Tree};

const LINES_MAX: usize = 400;
const TEST_LINES_MAX: usize = 600;

/// Names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 7] = ["common", "helper", "helpers", "imp", "misc", "util", "utils"];

/// Files stay short enough to be read in one go.
pub fn length(tree: &Tree, _: &[Code]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust() {
        let limit = if is_test_path(&file.path) { TEST_LINES_MAX } else { LINES_MAX };
        let lines = file.text.lines().count();
        if lines > limit {
            let what = format!("{lines} lines, {limit} are allowed; split the file by concern");
            findings.push(Finding::new(&file.path, limit + 1, what));
        }
    }
    findings
}

/// A module is named after the thing it is about.
pub fn names(tree: &Tree, _: &[Code]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust() {
        let mut parts = file.path.trim_end_matches(".rs").split('/');
        if let Some(name) = parts.find(|part| EMPTY_NAMES.contains(part)) {
            let what = format!("`{name}` says nothing; name the module after the thing it is about");
            findings.push(Finding::new(&file.path, 1, what));
        }
        for (line, text) in file.numbered_rust() {
            if let Some(name) = EMPTY_NAMES.iter().find(|name| has_word(&text.code, &format!("mod {name}"))) {
                let what = format!("`mod {name}` says nothing; name the module after the thing it is about");
                findings.push(Finding::new(&file.path, line, what));
            }
        }
    }
    findings
}

/// `mod.rs` is a table of contents.
pub fn mod_files(tree: &Tree, _: &[Code]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust().filter(|file| file.name() == "mod.rs") {
        for (line, text) in file.numbered_rust() {
            // A name must follow: `fn(…)` is a type, and naming a type is no logic.
            if has_word(&text.code, "fn") && text.code.contains("fn ") {
                let what = "a function in `mod.rs`, which only declares, documents and re-exports; move it to a file \
                            named after what it does";
                findings.push(Finding::new(&file.path, line, what));
            }
        }
    }
    findings
}
