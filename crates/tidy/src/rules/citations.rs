//! Rules of the contract that are cited must exist.

use std::collections::BTreeSet;

use crate::{Code, Finding, Tree};

const CONTRACT: &str = "docs/spec.md";

/// Every `R-…` id in Rust files and Markdown pages is defined in the contract.
pub fn citations(tree: &Tree, _: &[Code]) -> Vec<Finding> {
    let contract = tree.files.iter().find(|file| file.path == CONTRACT);
    let defined: BTreeSet<&str> = contract.iter().flat_map(|file| file.text.lines()).filter_map(defined_by).collect();
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| file.is_rust() || file.is_markdown()) {
        for (line, text) in file.numbered() {
            for id in ids(text).filter(|id| !defined.contains(id)) {
                let what = format!("`{id}` is not in {CONTRACT}; correct the id, or add the rule there first");
                findings.push(Finding::new(&file.path, line, what));
            }
        }
    }
    findings
}

/// The id a line of the contract defines: `- **R-…-1** …`.
fn defined_by(line: &str) -> Option<&str> {
    let (id, _) = line.strip_prefix("- **")?.split_once("**")?;
    (ids(id).next() == Some(id)).then_some(id)
}

/// The ids in a line, `R-`, capital letters, `-`, digits, each as a word of its own.
fn ids(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("R-").filter_map(|(start, _)| {
        let before = line[..start].chars().next_back();
        if before.is_some_and(|letter| letter.is_alphanumeric() || letter == '-' || letter == '_') {
            return None;
        }
        let rest = &line[start + 2..];
        let (letters, rest) = rest.split_at(rest.find(|letter: char| !letter.is_ascii_uppercase())?);
        let rest = rest.strip_prefix('-').filter(|_| !letters.is_empty())?;
        let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        (digits > 0).then(|| &line[start..start + 2 + letters.len() + 1 + digits])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_as_words() {
        let text = ["(`R", "-AB-1`, R", "-CD-22) ERR", "-EF-3 R", "-gh-4 R", "-IJ- R", "-KL"].concat();
        let expected = [["R", "-AB-1"].concat(), ["R", "-CD-22"].concat()];
        assert_eq!(ids(&text).collect::<Vec<_>>(), expected);
    }
}
