//! Just enough of Rust's grammar to tell code, comments, strings and test code apart.

/// One line of a Rust file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The code, with comments and the content of string and character literals left out.
    pub code: String,
    /// The text of comments, doc comments included.
    pub comment: String,
    /// Whether the line is test code.
    pub test: bool,
}

/// Whether the whole file is test code, judged by its path.
pub fn is_test_path(path: &str) -> bool {
    let mut parts: Vec<&str> = path.split('/').collect();
    let name = parts.pop();
    name == Some("tests.rs") || parts.iter().any(|part| ["tests", "bench", "benches", "fuzz", "sim"].contains(part))
}

/// Splits a Rust file into lines and marks its test code.
pub fn split(path: &str, text: &str) -> Vec<Line> {
    let mut lines = Scanner::default().scan(text);
    if is_test_path(path) || lines.iter().any(|line| line.code.starts_with("#![cfg(test)]")) {
        for line in &mut lines {
            line.test = true;
        }
    } else {
        mark_test_items(&mut lines);
    }
    lines
}

/// Whether `text` contains `word` as a word of its own, not as a part of a longer name.
pub fn has_word(text: &str, word: &str) -> bool {
    let part_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let first_joins = word.chars().next().is_some_and(part_of_name);
    let last_joins = word.chars().next_back().is_some_and(part_of_name);
    text.match_indices(word).any(|(start, _)| {
        let before = text[..start].chars().next_back();
        let after = text[start + word.len()..].chars().next();
        !(first_joins && before.is_some_and(part_of_name) || last_joins && after.is_some_and(part_of_name))
    })
}

/// Marks every item under `#[cfg(test)]`, from the attribute to the brace or semicolon that ends the item.
fn mark_test_items(lines: &mut [Line]) {
    let mut depth = 0_usize;
    let mut inside = false;
    for line in lines {
        let code = line.code.trim_start();
        if !inside && (code.starts_with("#[cfg(test)]") || code.starts_with("#[cfg(all(test")) {
            (inside, depth) = (true, 0);
        }
        line.test = inside;
        if !inside {
            continue;
        }
        for letter in code.chars() {
            match letter {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' => depth = depth.saturating_sub(1),
                '}' => {
                    depth = depth.saturating_sub(1);
                    inside &= depth > 0;
                }
                ';' => inside &= depth > 0,
                _ => {}
            }
        }
    }
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Code,
    LineComment,
    /// Block comments nest; the number is the depth.
    BlockComment(usize),
    Text,
    /// A raw string ends with a quote and this many hashes.
    RawText(usize),
}

#[derive(Default)]
struct Scanner {
    state: State,
    line: Line,
    lines: Vec<Line>,
}

impl Scanner {
    fn scan(mut self, text: &str) -> Vec<Line> {
        let letters: Vec<char> = text.chars().collect();
        let mut at = 0;
        while let Some(&letter) = letters.get(at) {
            if letter == '\n' {
                if self.state == State::LineComment {
                    self.state = State::Code;
                }
                self.lines.push(std::mem::take(&mut self.line));
                at += 1;
            } else {
                at += self.step(letter, &letters[at..]);
            }
        }
        if self.line != Line::default() {
            self.lines.push(self.line);
        }
        self.lines
    }

    /// Consumes what starts with `letter`, which is `rest[0]`, and says how many letters that was.
    fn step(&mut self, letter: char, rest: &[char]) -> usize {
        match self.state {
            State::Code => return self.step_in_code(letter, rest),
            State::LineComment => self.line.comment.push(letter),
            State::BlockComment(depth) => {
                if rest.starts_with(&['*', '/']) {
                    self.state = if depth == 1 { State::Code } else { State::BlockComment(depth - 1) };
                    return 2;
                }
                if rest.starts_with(&['/', '*']) {
                    self.state = State::BlockComment(depth + 1);
                    return 2;
                }
                self.line.comment.push(letter);
            }
            State::Text => match letter {
                // An escaped end of line still ends the line.
                '\\' if rest.get(1) != Some(&'\n') => return 2,
                '"' => self.close_text(),
                _ => {}
            },
            State::RawText(hashes) => {
                if letter == '"' && rest[1..].iter().take_while(|next| **next == '#').count() >= hashes {
                    self.close_text();
                    return 1 + hashes;
                }
            }
        }
        1
    }

    fn step_in_code(&mut self, letter: char, rest: &[char]) -> usize {
        if rest.starts_with(&['/', '/']) {
            self.state = State::LineComment;
            return 2;
        }
        if rest.starts_with(&['/', '*']) {
            self.state = State::BlockComment(1);
            return 2;
        }
        if letter == 'r' && self.may_start_raw_text() {
            let hashes = rest[1..].iter().take_while(|next| **next == '#').count();
            if rest.get(1 + hashes) == Some(&'"') {
                self.line.code.push_str("r\"");
                self.state = State::RawText(hashes);
                return 2 + hashes;
            }
        }
        if letter == '\'' {
            return self.step_over_quote(rest);
        }
        if letter == '"' {
            self.state = State::Text;
        }
        self.line.code.push(letter);
        1
    }

    /// A quote starts a character literal or a lifetime.
    fn step_over_quote(&mut self, rest: &[char]) -> usize {
        let literal = if rest.get(1) == Some(&'\\') {
            // The letter after the backslash may itself be a quote.
            rest.iter().skip(3).position(|next| *next == '\'').map(|found| found + 4)
        } else if rest.get(2) == Some(&'\'') {
            Some(3)
        } else {
            None
        };
        self.line.code.push_str(if literal.is_some() { "''" } else { "'" });
        literal.unwrap_or(1)
    }

    /// The `r` of `r"`, `br"` or `cr"`, not the end of a longer name.
    fn may_start_raw_text(&self) -> bool {
        let mut before = self.line.code.chars().rev();
        let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
        match before.next() {
            Some('b' | 'c') => !before.next().is_some_and(is_name),
            other => !other.is_some_and(is_name),
        }
    }

    fn close_text(&mut self) {
        self.line.code.push('"');
        self.state = State::Code;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code_of(text: &str) -> Vec<String> {
        split("src/lib.rs", text).into_iter().map(|line| line.code).collect()
    }

    #[test]
    fn comments_and_literals_are_not_code() {
        for (text, code) in [
            ("a // b", "a "),
            ("a /* b /* c */ d */ e", "a  e"),
            (r#"a("b \" c") d"#, r#"a("") d"#),
            (r##"a(r#"b " c"#) d"##, r#"a(r"") d"#),
            (r#"a(br"b\") d"#, r#"a(br"") d"#),
            (r#"bar"b" c"#, r#"bar"" c"#),
            ("fn f<'a>(x: &'a str)", "fn f<'a>(x: &'a str)"),
            (r#"['"', '\'', '\u{1F600}', b'"'] x"#, "['', '', '', b''] x"),
            ("r#fn // x", "r#fn "),
        ] {
            assert_eq!(code_of(text), [code], "{text}");
        }
    }

    #[test]
    fn literals_may_span_lines() {
        assert_eq!(code_of("a(\"b\nc\\\nd\") e"), ["a(\"", "", "\") e"]);
    }

    #[test]
    fn test_code_ends_with_its_item() {
        let text =
            "fn a() {}\n#[cfg(test)]\nmod tests;\nfn b() {}\n#[cfg(test)]\nmod c {\n    fn d() {}\n}\nfn e() {}\n";
        let marks: Vec<bool> = split("src/lib.rs", text).iter().map(|line| line.test).collect();
        assert_eq!(marks, [false, true, true, false, true, true, true, true, false]);
    }

    #[test]
    fn test_files_are_known_by_their_path() {
        for (path, expected) in [
            ("crates/core/tests/runs.rs", true),
            ("crates/core/src/run/tests.rs", true),
            ("crates/core/benches/fold.rs", true),
            ("bench/src/rows.rs", true),
            ("crates/sim/src/world.rs", true),
            ("fuzz/fuzz_targets/load.rs", true),
            ("crates/core/src/tests_of_time.rs", false),
        ] {
            assert_eq!(is_test_path(path), expected, "{path}");
        }
    }

    #[test]
    fn a_word_is_not_a_part_of_a_longer_name() {
        assert!(has_word("std::thread::sleep(x)", "thread::sleep"));
        assert!(!has_word("my_thread::sleep(x)", "thread::sleep"));
        assert!(!has_word("thread::sleep_until(x)", "thread::sleep"));
        assert!(has_word("a.b()", ".b()"));
    }
}
