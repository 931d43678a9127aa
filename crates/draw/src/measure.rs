//! Text widths without a font.
//!
//! The reader's system font is unknown, so widths are those of a wide one: a label may leave a
//! little air in its box, it never leaves the box.

/// Estimated width of `text` in pixels at `size`.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(advance).sum::<f64>() * size
}

/// Shortens `text` in the middle to at most `limit` pixels; both ends of an id tell something.
pub(crate) fn fit(text: &str, size: f64, limit: f64) -> String {
    let clean = one_line(text);
    if width(&clean, size) <= limit {
        return clean;
    }
    let chars: Vec<char> = clean.chars().collect();
    let budget = limit - advance('…') * size;
    let (mut head, mut tail, mut used) = (0, chars.len(), 0.0);
    // Head and tail grow in turn until the next character would not fit.
    while head < tail {
        let from_head = head <= chars.len() - tail;
        let next = if from_head { chars[head] } else { chars[tail - 1] };
        used += advance(next) * size;
        if used > budget {
            break;
        }
        if from_head {
            head += 1;
        } else {
            tail -= 1;
        }
    }
    let mut short: String = chars[..head].iter().collect();
    short.push('…');
    short.extend(&chars[tail..]);
    short
}

/// Shortens to a number of characters, for formats that count columns.
pub(crate) fn fit_columns(text: &str, columns: usize) -> String {
    let clean = one_line(text);
    let chars: Vec<char> = clean.chars().collect();
    if chars.len() <= columns {
        return clean;
    }
    let tail = columns.saturating_sub(1) / 2;
    let head = columns.saturating_sub(1) - tail;
    let mut short: String = chars[..head].iter().collect();
    short.push('…');
    short.extend(&chars[chars.len() - tail..]);
    short
}

/// Control characters (a newline in a condition, say) become spaces: labels have one line.
pub(crate) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Advance in em, rounded up from common interface fonts at semibold weight.
fn advance(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.37,
        'f' | 't' | 'r' | ' ' | '(' | ')' | '[' | ']' | '/' | '\\' | '-' | '"' | '*' | '·' => 0.45,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => 1.0,
        'A'..='Z' | '0'..='9' | '_' | '&' | '+' | '=' | '<' | '>' | '#' | '~' | '×' => 0.74,
        'a'..='z' | '$' | '?' | '`' | '{' | '}' | '^' => 0.66,
        // Combining marks and joiners are counted as if they stood alone: safe, and rare.
        c if c.is_ascii() => 0.7,
        c if (c as u32) < 0x1100 => 0.8,
        _ => 1.15,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_label_is_kept() {
        assert_eq!(fit("build", 13.0, 200.0), "build");
    }

    #[test]
    fn a_long_label_keeps_both_ends_and_fits() {
        let id = format!("start-{}-finish", "x".repeat(110));
        let short = fit(&id, 13.0, 180.0);
        assert!(short.starts_with("start") && short.ends_with("finish") && short.contains('…'));
        assert!(width(&short, 13.0) <= 180.0);
    }

    #[test]
    fn wide_scripts_fit_too() {
        let short = fit(&"工作流程".repeat(20), 13.0, 120.0);
        assert!(width(&short, 13.0) <= 120.0 && short.chars().count() > 3);
    }

    #[test]
    fn columns_are_counted_in_characters() {
        assert_eq!(fit_columns("abcdefghij", 5), "ab…ij");
        assert_eq!(fit_columns("a\nb", 5), "a b");
        assert_eq!(fit_columns("abc", 0), "…");
    }
}
