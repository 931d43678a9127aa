//! Words and calls that have no place in the sources.

use crate::source::has_word;
use crate::{Code, Finding, Tree};

/// A word, and what to do instead.
type Advice = (&'static str, &'static str);

const UNFINISHED: [Advice; 4] = [
    ("todo!(", "finish it, or leave it out"),
    ("unimplemented!(", "finish it, or leave it out"),
    ("dbg!(", "remove it, or trace the value"),
    ("#[ignore", "make the test run, or delete it"),
];

/// These are looked for in comments as well.
const MARKS: [Advice; 2] = [
    (concat!("FIX", "ME"), "fix it, or open an issue and say in the comment what holds today"),
    (concat!("XX", "X"), "say what is meant"),
];

const ABORTING: [Advice; 2] = [
    (".unwrap()", "return an error, or use `expect` with the invariant that rules it out"),
    ("panic!(", "return an error, or use `unreachable!` with the invariant that rules it out"),
];

const SLEEPING: [Advice; 2] = [
    ("thread::sleep", "wait for a signal, never for a duration"),
    ("time::sleep", "wait for a signal, never for a duration"),
];

/// Nothing unfinished is kept.
pub fn forbidden(tree: &Tree, _: &[Code]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust() {
        for (line, text) in file.numbered_rust() {
            let in_code = UNFINISHED.iter().chain(&MARKS).filter(|(word, _)| has_word(&text.code, word));
            let in_comment = MARKS.iter().filter(|(word, _)| has_word(&text.comment, word));
            findings.extend(in_code.chain(in_comment).map(|advice| finding(&file.path, line, *advice)));
        }
    }
    findings
}

/// Outside tests an expected failure is a value.
pub fn aborting(tree: &Tree, _: &[Code]) -> Vec<Finding> {
    calls(tree, &ABORTING, false)
}

/// Tests wait for a signal.
pub fn sleeping(tree: &Tree, _: &[Code]) -> Vec<Finding> {
    calls(tree, &SLEEPING, true)
}

/// Finds calls in test code, or in all other code.
fn calls(tree: &Tree, words: &[Advice], in_tests: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust() {
        for (line, text) in file.numbered_rust().filter(|(_, text)| text.test == in_tests) {
            let found = words.iter().filter(|(word, _)| has_word(&text.code, word));
            findings.extend(found.map(|advice| finding(&file.path, line, *advice)));
        }
    }
    findings
}

fn finding(path: &str, line: usize, (word, advice): Advice) -> Finding {
    // An opening bracket is part of the pattern, but would look unfinished in the message.
    Finding::new(path, line, format!("`{}`; {advice}", word.trim_end_matches('(').trim_start_matches("#[")))
}
