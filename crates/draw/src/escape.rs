//! Escaping of text that users wrote, for each format that is not plain text.

/// For XML text and quoted attributes. Characters XML cannot hold become U+FFFD.
pub(crate) fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// For a double-quoted Graphviz string. A backslash is doubled, or it would start `\N` and the
/// like; line breaks become spaces.
pub(crate) fn dot(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            // Graphviz decodes HTML entities even in plain labels.
            '&' => out.push_str("&amp;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// For a double-quoted Mermaid label, which knows only entity codes such as `#35;`.
///
/// Everything that Markdown or HTML could read is coded too, because labels may be rendered
/// with either.
pub(crate) fn mermaid(text: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '#' | '&' | '<' | '>' | '`' | '*' | '_' | '\\' | '[' | ']' | '{' | '}' | '|' | ';' | '%' => {
                let _ = write!(out, "#{};", u32::from(c));
            }
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_format_disarms_its_own_syntax() {
        assert_eq!(xml("<a href=\"x\">&'\u{1}"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;\u{fffd}");
        assert_eq!(dot("say \"hi\" \\N\n"), "say \\\"hi\\\" \\\\N ");
        assert_eq!(mermaid("a[\"b\"]"), "a#91;#34;b#34;#93;");
    }
}
