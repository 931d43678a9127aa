//! Links between files of the project lead somewhere.

use crate::{Code, Finding, Tree};

/// What stands before the target of a link, and what after it.
const FORMS: [(&str, char); 4] = [("](", ')'), ("src=\"", '"'), ("srcset=\"", '"'), ("href=\"", '"')];

/// Every relative link in a Markdown file points to a file or folder of the tree.
pub fn links(tree: &Tree, _: &[Code]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.markdown() {
        let mut fence: Option<&str> = None;
        for (line, text) in file.numbered() {
            let mark = ["```", "~~~"].into_iter().find(|mark| text.trim_start().starts_with(mark));
            match (fence, mark) {
                (None, Some(mark)) => fence = Some(mark),
                (Some(open), Some(mark)) if open == mark => fence = None,
                (Some(_), _) => {}
                (None, None) => {
                    let prose = without_code(text);
                    for target in targets(&prose).filter(|target| !leads_somewhere(tree, &file.path, target)) {
                        let what = format!("the link `{target}` leads nowhere; correct it, or add the file");
                        findings.push(Finding::new(&file.path, line, what));
                    }
                }
            }
        }
    }
    findings
}

/// A line without its `code` spans.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("``")
}

fn targets(line: &str) -> impl Iterator<Item = &str> {
    let inline = FORMS.iter().flat_map(move |(before, after)| {
        line.match_indices(before).filter_map(move |(start, _)| line[start + before.len()..].split(*after).next())
    });
    let definition = line.strip_prefix('[').and_then(|rest| rest.split_once("]: ")).map(|(_, target)| target);
    // A title may follow the target, and angle brackets may surround it.
    inline.chain(definition).map(|target| {
        let target = target.trim();
        target.split(' ').next().unwrap_or(target).trim_matches(['<', '>'])
    })
}

fn leads_somewhere(tree: &Tree, from: &str, target: &str) -> bool {
    let path = target.split(['#', '?']).next().unwrap_or(target);
    let elsewhere = target.contains("://") || target.starts_with("mailto:") || target.starts_with("data:");
    if elsewhere || path.is_empty() {
        return !target.is_empty();
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            ".." if parts.pop().is_none() => return false,
            "" | "." | ".." => {}
            name => parts.push(name),
        }
    }
    !path.starts_with('/') && tree.has(&parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_of_links_are_read() {
        for (line, expected) in [
            ("see [a](b.md) and ![c](d.svg \"title\")", vec!["b.md", "d.svg"]),
            ("[a]: <b.md>", vec!["b.md"]),
            ("<img src=\"a.svg\" alt=\"\">", vec!["a.svg"]),
            ("no link (here)", vec![]),
        ] {
            assert_eq!(targets(line).collect::<Vec<_>>(), expected, "{line}");
        }
    }

    #[test]
    fn code_is_not_read_for_links() {
        assert_eq!(targets(&without_code("`[a](b.md)` and [c](d.md)")).collect::<Vec<_>>(), ["d.md"]);
    }
}
