//! "Did you mean": the known name nearest to what was written.

/// The name in `known` that `written` most likely meant, if any is near enough to be worth saying.
///
/// Ties go to the first in the order given. A long list of names is searched whole: this runs once per mistake.
pub fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = written.to_lowercase();
    // Two slips in a word of six letters, one in a short word; more than that is another word.
    let allowed = match folded.chars().count() {
        0 => return None,
        1 | 2 => 0,
        3 => 1,
        4..=7 => 2,
        _ => 3,
    };
    let mut best: Option<(usize, &str)> = None;
    for name in known {
        let distance = if same_words(written, name) {
            0
        } else if folded.len() >= 4 && name.to_lowercase().starts_with(&folded) {
            // The beginning of a name is as good as a slip.
            allowed
        } else if name.len().abs_diff(folded.len()) > allowed + 2 {
            continue;
        } else {
            strsim::damerau_levenshtein(&folded, &name.to_lowercase())
        };
        if distance <= allowed && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, name));
        }
    }
    best.map(|(_, name)| name)
}

/// Whether two names differ only in case and in how their words are joined (`maxAttempts`, `max-attempts`).
fn same_words(left: &str, right: &str) -> bool {
    fn letters(name: &str) -> impl Iterator<Item = char> + '_ {
        name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase)
    }
    letters(left).eq(letters(right))
}

/// `did you mean `x`?`, or nothing.
pub fn did_you_mean<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(written, known).map(|name| format!("did you mean `{name}`?"))
}

/// The names as a readable list, shortened when there are many.
pub fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 12;
    let names: Vec<_> = names.into_iter().collect();
    let text = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN { format!("{text} and {} more", names.len() - SHOWN) } else { text }
}

#[cfg(test)]
mod tests {
    use super::{listed, nearest};

    #[test]
    fn finds_slips_and_other_spellings() {
        let known = ["timeout", "retry", "max_attempts", "needs", "run"];
        for (written, expected) in [
            ("timeuot", Some("timeout")),
            ("Timeout", Some("timeout")),
            ("maxAttempts", Some("max_attempts")),
            ("max-attempts", Some("max_attempts")),
            ("need", Some("needs")),
            ("rnu", Some("run")),
            ("time", Some("timeout")),
            ("x", None),
            ("banana", None),
            ("", None),
        ] {
            assert_eq!(nearest(written, known), expected, "{written}");
        }
    }

    #[test]
    fn a_long_list_is_shortened() {
        let names: Vec<String> = (0..20).map(|n| format!("n{n}")).collect();
        assert!(listed(names.iter().map(String::as_str)).ends_with("and 8 more"));
    }
}
