//! The project does not know on whose machine it is.

use crate::{Code, Finding, Tree};

/// Where people's own folders are; a name and a slash follow.
const HOMES: [&str; 2] = [concat!("/ho", "me/"), concat!("/Us", "ers/")];

const SUPERUSER_HOME: &str = concat!("/ro", "ot/");

/// No text file mentions a folder of one particular machine.
pub fn machine_paths(tree: &Tree, _: &[Code]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &tree.files {
        for (line, text) in file.numbered() {
            if let Some(path) = machine_path(text) {
                let what = format!("`{path}` exists on one machine only; write a relative path or a placeholder");
                findings.push(Finding::new(&file.path, line, what));
            }
        }
    }
    findings
}

fn machine_path(line: &str) -> Option<String> {
    let superuser = || starts(line, SUPERUSER_HOME).next().map(|_| SUPERUSER_HOME.to_owned());
    let mut people = HOMES.iter().flat_map(|home| starts(line, home).filter_map(move |rest| person(home, rest)));
    people.next().or_else(superuser)
}

/// What follows each place where an absolute path starts with `folder`.
fn starts<'a>(line: &'a str, folder: &'a str) -> impl Iterator<Item = &'a str> {
    line.match_indices(folder).filter_map(move |(start, _)| {
        let before = line[..start].chars().next_back();
        let longer = before.is_some_and(|letter| letter.is_alphanumeric() || "_-.}>/".contains(letter));
        (!longer).then(|| &line[start + folder.len()..])
    })
}

fn person(home: &str, rest: &str) -> Option<String> {
    let (name, _) = rest.split_once('/')?;
    let plain = !name.is_empty()
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-' || letter == '.');
    plain.then(|| format!("{home}{name}/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_absolute_paths_of_a_machine_count() {
        let superuser = format!("at {SUPERUSER_HOME}work");
        let person = format!("in {}somebody/work", HOMES[0]);
        assert!(machine_path(&superuser).is_some());
        assert!(machine_path(&person).is_some());
        for fine in [format!("project{SUPERUSER_HOME}x"), format!("{}<name>/x", HOMES[0]), HOMES[0].to_owned()] {
            assert_eq!(machine_path(&fine), None, "{fine}");
        }
    }
}
