//! Splits text into plain stretches and `{{ … }}` expressions.

use super::names::Fault;

/// A stretch of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'text> {
    /// Text as it is.
    Text(&'text str),
    /// The source of an expression and its byte offset in the template.
    Expr {
        /// What stands between the braces.
        source: &'text str,
        /// Where it starts.
        offset: usize,
    },
}

/// Words that start a Jinja statement. Only these are refused: `printf '{%s}'` is ordinary shell.
const STATEMENTS: [&str; 14] = [
    "if", "elif", "else", "endif", "for", "endfor", "set", "macro", "block", "include", "extends", "import", "raw",
    "with",
];

/// Splits a template. `{{` opens an expression, `}}` outside strings and brackets closes it.
pub fn split(text: &str) -> Result<Vec<Piece<'_>>, Fault> {
    let mut pieces = Vec::new();
    let mut rest = 0;
    while let Some(found) = text[rest..].find("{{") {
        let open = rest + found;
        refuse_statements(text, rest..open)?;
        if open > rest {
            pieces.push(Piece::Text(&text[rest..open]));
        }
        let start = open + 2;
        let Some(length) = end_of_expression(&text[start..]) else {
            return Err(Fault::new(open..text.len(), "this `{{` has no `}}`", LITERAL_HELP));
        };
        let source = &text[start..start + length];
        if source.starts_with(['-', '+']) || source.ends_with(['-', '+']) {
            let help = "write `{{ … }}`; trim the text around it by hand";
            return Err(Fault::new(open..start + length + 2, "`{{-` and `-}}` do not trim here", help));
        }
        if source.trim().is_empty() {
            return Err(Fault::new(open..start + length + 2, "this `{{ }}` is empty", LITERAL_HELP));
        }
        pieces.push(Piece::Expr { source, offset: start });
        rest = start + length + 2;
    }
    refuse_statements(text, rest..text.len())?;
    if rest < text.len() {
        pieces.push(Piece::Text(&text[rest..]));
    }
    Ok(pieces)
}

const LITERAL_HELP: &str = "to write two braces as they are, write `{{ '{{' }}`";

/// The byte length of the expression at the start of `text`, up to its `}}`.
fn end_of_expression(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0_u32;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            quote @ (b'\'' | b'"') => {
                at += 1;
                while *bytes.get(at)? != quote {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'{' | b'[' | b'(' => depth += 1,
            b'}' if depth == 0 && bytes.get(at + 1) == Some(&b'}') => return Some(at),
            b'}' | b']' | b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    None
}

fn refuse_statements(text: &str, range: std::ops::Range<usize>) -> Result<(), Fault> {
    let stretch = &text[range.clone()];
    for (found, _) in stretch.match_indices("{%") {
        let after = stretch[found + 2..].trim_start_matches('-').trim_start();
        let word = after.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
        if STATEMENTS.contains(&word) && after.contains("%}") {
            let start = range.start + found;
            let help = "use an expression such as `{{ a if b else c }}`, or `{{ list | join(', ') }}`";
            return Err(Fault::new(start..start + 2, format!("`{{% {word} %}}` statements do not exist here"), help));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Piece, split};

    #[test]
    fn text_and_expressions_are_told_apart() {
        // R-EXPR-1
        assert_eq!(split("plain ${x#y} $((1+2)) {a}"), Ok(vec![Piece::Text("plain ${x#y} $((1+2)) {a}")]));
        assert_eq!(
            split("a{{ x }}b{{ {'k': '}}'}['k'] }}"),
            Ok(vec![
                Piece::Text("a"),
                Piece::Expr { source: " x ", offset: 3 },
                Piece::Text("b"),
                Piece::Expr { source: " {'k': '}}'}['k'] ", offset: 11 },
            ])
        );
        assert_eq!(split("{{ '{{' }}").map(|pieces| pieces.len()), Ok(1));
        assert!(split("printf '{%s}'").is_ok());
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        for bad in ["{{ x", "{{ 'x }}", "{{}}", "{{  }}", "{{- x }}", "{{ x -}}", "{% if x %}y{% endif %}", "{{ \"\\"] {
            assert!(split(bad).is_err(), "{bad}");
        }
    }
}
