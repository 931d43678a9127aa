//! The project's error codes, read from the one table that defines them.

use crate::{Finding, Tree};

/// Where the table of error codes lives.
pub const CODES_FILE: &str = "crates/core/src/codes.rs";

/// One error code and the line that defines it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    /// The code, for example `UNKNOWN_KEY`.
    pub name: String,
    /// Its line in [`CODES_FILE`].
    pub line: usize,
}

/// Reads the error codes of a tree. A tree without [`CODES_FILE`] has none.
///
/// # Errors
///
/// A line that starts like a code but does not have the form `NAME = <exit code>, <http status>, "summary";`.
pub fn read_codes(tree: &Tree) -> Result<Vec<Code>, Vec<Finding>> {
    let Some(file) = tree.files.iter().find(|file| file.path == CODES_FILE) else {
        return Ok(Vec::new());
    };
    let mut codes = Vec::new();
    let mut findings = Vec::new();
    for (line, text) in file.numbered() {
        let Some((name, rest)) = starts_like_a_code(text) else { continue };
        if is_definition(rest) {
            codes.push(Code { name: name.to_owned(), line });
        } else {
            let what = format!(
                "the definition of `{name}` cannot be read; write `{name} = <exit code>, <http status>, \"summary\";`"
            );
            findings.push(Finding::new(CODES_FILE, line, what));
        }
    }
    if findings.is_empty() { Ok(codes) } else { Err(findings) }
}

/// Splits `    NAME = rest`; a line of any other shape is not about a code.
fn starts_like_a_code(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.trim().split_once(" = ")?;
    let mut letters = name.chars();
    let upper = letters.next().is_some_and(|first| first.is_ascii_uppercase())
        && letters.all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_');
    upper.then_some((name, rest))
}

fn is_definition(rest: &str) -> bool {
    let mut parts = rest.splitn(3, ", ");
    let exit = parts.next().is_some_and(|part| part.parse::<u8>().is_ok());
    let http = parts.next().is_some_and(|part| part.len() == 3 && part.parse::<u16>().is_ok());
    let summary = parts
        .next()
        .and_then(|part| part.strip_prefix('"')?.strip_suffix("\";"))
        .is_some_and(|summary| !summary.is_empty());
    exit && http && summary
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_has_exit_code_status_and_summary() {
        for (rest, expected) in [
            ("2, 422, \"a key is unknown\";", true),
            ("2, 422, \"one, two\";", true),
            ("2, 422, \"\";", false),
            ("2, 422;", false),
            ("2, 42, \"short status\";", false),
            ("256, 422, \"exit code too large\";", false),
            ("2, 422, \"no semicolon\"", false),
        ] {
            assert_eq!(is_definition(rest), expected, "{rest}");
        }
    }

    #[test]
    fn only_upper_case_names_at_the_start_of_a_line_are_codes() {
        assert_eq!(starts_like_a_code("    UNKNOWN_KEY = 2"), Some(("UNKNOWN_KEY", "2")));
        assert_eq!(starts_like_a_code("let code = 2"), None);
        assert_eq!(starts_like_a_code("/// UNKNOWN_KEY = 2"), None);
        assert_eq!(starts_like_a_code("const UNKNOWN_KEY: u8 = 2;"), None);
    }
}
