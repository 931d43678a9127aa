//! Text from a program, made fit for a line that people read.

use std::borrow::Cow;

/// How long a message may be.
const MESSAGE_CHARS_MAX: usize = 2_000;

/// The last line that says something, or nothing.
pub fn last_line(bytes: &[u8]) -> Option<String> {
    bytes.rsplit(|byte| *byte == b'\n').map(|line| plain(&String::from_utf8_lossy(line))).find(|line| !line.is_empty())
}

/// A text without what would move the cursor or colour the screen, and not longer than a message may be.
pub fn message(text: &str) -> String {
    text.lines().map(plain).collect::<Vec<_>>().join("\n").trim().chars().take(MESSAGE_CHARS_MAX).collect()
}

/// One line without control characters and escape sequences.
fn plain(line: &str) -> String {
    // Of a line that was drawn over itself, a progress bar for one, people saw only the end.
    let line = line.trim_end().rsplit('\r').next().unwrap_or(line);
    let line = without_sequences(line);
    let kept =
        line.chars().map(|letter| if letter == '\t' { ' ' } else { letter }).filter(|letter| !letter.is_control());
    kept.collect::<String>().trim().chars().take(MESSAGE_CHARS_MAX).collect()
}

/// Removes `ESC [ … letter`: without the escape the rest of it would look like text.
fn without_sequences(line: &str) -> Cow<'_, str> {
    if !line.contains("\u{1b}[") {
        return Cow::Borrowed(line);
    }
    let mut pieces = line.split("\u{1b}[");
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        // Parameters are digits and punctuation; one byte from `@` to `~` ends the sequence.
        let end = piece.find(|letter: char| matches!(letter, '@'..='~'));
        text.push_str(end.map_or("", |end| &piece[end + 1..]));
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::{last_line, message};

    #[test]
    fn the_last_line_that_says_something_counts() {
        // R-CMD-2
        for (bytes, line) in [
            (&b""[..], None),
            (b"\n \n\t\n\x1b[0m\n", None),
            (b"first\nsecond\n\n", Some("second")),
            (b"first\nsecond", Some("second")),
            (b"\x1b[1;31merror:\x1b[0m no\tdisk\x07\r\n", Some("error: no disk")),
            (b"10 %\r20 %\rfailed\n", Some("failed")),
            (b"broken \xff\n", Some("broken \u{fffd}")),
        ] {
            assert_eq!(last_line(bytes).as_deref(), line, "{bytes:?}");
        }
        let long = "é".repeat(3_000);
        assert_eq!(last_line(long.as_bytes()).unwrap().chars().count(), 2_000);
    }

    #[test]
    fn messages_keep_their_lines() {
        assert_eq!(message(" a\x1b[2J\nb\x00 \n"), "a\nb");
        assert_eq!(message(&"x".repeat(3_000)).len(), 2_000);
    }
}
