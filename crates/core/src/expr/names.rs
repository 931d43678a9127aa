//! Which names an expression reads, from its syntax tree, so that they can be checked before anything runs.

use std::ops::Range;

use minijinja::machinery::ast::{CallArg, Expr};
use minijinja::machinery::{Span, parse_expr, tokenize};
use minijinja::syntax::SyntaxConfig;

use super::allowed::{FILTERS, FUNCTIONS, TESTS};
use crate::suggest;

/// A mistake inside a text: where, what, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The byte range in the text.
    pub range: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
    /// Whether the text is well formed and only names something that does not exist.
    pub unknown_name: bool,
}

impl Fault {
    pub(super) fn new(range: Range<usize>, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { range, message: message.into(), help: Some(help.into()), unknown_name: false }
    }

    /// The same fault in a text that holds this one at `offset`.
    #[must_use]
    pub fn moved(mut self, offset: usize) -> Self {
        self.range = self.range.start + offset..self.range.end + offset;
        self
    }
}

/// A name that an expression reads, with the attributes behind it as far as they are fixed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// `nodes.fetch.output` or `nodes['fetch'].output` as `["nodes", "fetch", "output"]`.
    pub path: Vec<String>,
    /// Whether something computed follows: `params[x]`.
    pub computed: bool,
    /// The byte range in the expression.
    pub range: Range<usize>,
}

/// How many tokens an expression may have. Parser, tree and walk are recursive in them, and no person writes as many.
const TOKENS: usize = 500;

/// Parses an expression and lists the names it reads; filters, tests and functions are checked on the way.
pub fn references(source: &str) -> Result<Vec<Reference>, Fault> {
    parsed(source).map(|(_, references)| references)
}

/// The tree of an expression and the names it reads: the way to evaluation leads through the checks of load time.
pub(super) fn parsed(source: &str) -> Result<(Expr<'_>, Vec<Reference>), Fault> {
    let tree = parse(source).map_err(|unparsed| match unparsed {
        Unparsed::TooLong => {
            let help = "split it over several nodes, or compute it in a command";
            Fault::new(0..source.len(), format!("this expression has more than {TOKENS} parts"), help)
        }
        Unparsed::Wrong(error) => syntax_fault(source, &error),
    })?;
    let mut walk = Walk { source, found: Vec::new() };
    walk.expr(&tree)?;
    let found = walk.found;
    Ok((tree, found))
}

fn syntax_fault(source: &str, error: &minijinja::Error) -> Fault {
    let range = error.range().unwrap_or(0..source.len());
    let detail = error.detail().unwrap_or("it cannot be parsed");
    let help = "an expression is like `params.count > 3 and output.ok`; text needs quotes";
    Fault::new(clamp(range, source), format!("syntax error in expression: {detail}"), help)
}

enum Unparsed {
    TooLong,
    Wrong(minijinja::Error),
}

/// Parses an expression of bounded size.
fn parse(source: &str) -> Result<Expr<'_>, Unparsed> {
    // The parser forgets an error of the tokenizer behind a string literal (`'a' ¢` passes), so tokens come first.
    for (at, token) in tokenize(source, true, SyntaxConfig::default()).enumerate() {
        if at >= TOKENS {
            return Err(Unparsed::TooLong);
        }
        token.map_err(Unparsed::Wrong)?;
    }
    parse_expr(source).map_err(Unparsed::Wrong)
}

/// Whether the outermost filter of an expression is `unquoted`, which opts a value out of quoting (`R-EXPR-2`).
pub(super) fn is_unquoted(source: &str) -> bool {
    // Nearly no expression names the filter, and parsing is the dear part.
    source.contains("unquoted") && matches!(parse(source), Ok(Expr::Filter(filter)) if filter.name == "unquoted")
}

fn clamp(range: Range<usize>, source: &str) -> Range<usize> {
    let start = range.start.min(source.len());
    start..range.end.clamp(start, source.len())
}

struct Walk<'source> {
    source: &'source str,
    found: Vec<Reference>,
}

impl Walk<'_> {
    fn expr(&mut self, expr: &Expr<'_>) -> Result<(), Fault> {
        if let Some(path) = fixed_path(expr) {
            self.name(path, false, expr.span());
            return Ok(());
        }
        match expr {
            Expr::Const(_) | Expr::Var(_) => Ok(()),
            Expr::GetAttr(get) => self.expr(&get.expr),
            Expr::GetItem(get) => {
                self.expr(&get.subscript_expr)?;
                let Some(path) = fixed_path(&get.expr) else { return self.expr(&get.expr) };
                self.name(path, true, get.span());
                Ok(())
            }
            Expr::Slice(slice) => {
                self.expr(&slice.expr)?;
                [&slice.start, &slice.stop, &slice.step].into_iter().flatten().try_for_each(|part| self.expr(part))
            }
            Expr::UnaryOp(op) => self.expr(&op.expr),
            Expr::BinOp(op) => {
                self.expr(&op.left)?;
                self.expr(&op.right)
            }
            Expr::Compare(compare) => {
                self.expr(&compare.expr)?;
                compare.ops.iter().try_for_each(|op| self.expr(&op.expr))
            }
            Expr::IfExpr(choice) => {
                self.expr(&choice.test_expr)?;
                self.expr(&choice.true_expr)?;
                choice.false_expr.iter().try_for_each(|part| self.expr(part))
            }
            Expr::Filter(filter) => {
                self.known("filter", filter.name, filter.span(), &FILTERS)?;
                filter.expr.iter().try_for_each(|part| self.expr(part))?;
                self.arguments(&filter.args)
            }
            Expr::Test(test) => {
                self.known("test", test.name, test.span(), &TESTS)?;
                self.expr(&test.expr)?;
                self.arguments(&test.args)
            }
            Expr::Call(call) => {
                let Expr::Var(function) = &call.expr else {
                    let range = clamp(call.span().start_offset as usize..call.span().end_offset as usize, self.source);
                    return Err(Fault::new(
                        range,
                        "values have no methods",
                        "use a filter, such as `params.name | upper`",
                    ));
                };
                let name = function.id;
                self.known("function", name, call.span(), &FUNCTIONS)?;
                self.arguments(&call.args)
            }
            Expr::List(list) => list.items.iter().try_for_each(|item| self.expr(item)),
            Expr::Tuple(tuple) => tuple.items.iter().try_for_each(|item| self.expr(item)),
            Expr::Map(map) => map.keys.iter().chain(&map.values).try_for_each(|item| self.expr(item)),
        }
    }

    fn arguments(&mut self, arguments: &[CallArg<'_>]) -> Result<(), Fault> {
        arguments.iter().try_for_each(|argument| match argument {
            CallArg::Pos(expr) | CallArg::Kwarg(_, expr) | CallArg::PosSplat(expr) | CallArg::KwargSplat(expr) => {
                self.expr(expr)
            }
        })
    }

    fn name(&mut self, path: Vec<String>, computed: bool, span: Span) {
        let end = clamp(span.start_offset as usize..span.end_offset as usize, self.source).end;
        let start = self.start_of(&path, end);
        self.found.push(Reference { path, computed, range: start..end });
    }

    /// The parser's span of an attribute covers only its last part; the root is the nearest one before it.
    fn start_of(&self, path: &[String], end: usize) -> usize {
        let root = path.first().map_or("", String::as_str);
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let bytes = self.source.as_bytes();
        self.source[..end]
            .rmatch_indices(root)
            .map(|(at, _)| at)
            .find(|at| {
                let before = at.checked_sub(1).is_none_or(|before| !is_word(bytes[before]) && bytes[before] != b'.');
                before && bytes.get(at + root.len()).is_none_or(|after| !is_word(*after))
            })
            .unwrap_or(0)
    }

    fn known(&self, what: &str, name: &str, span: Span, known: &[&str]) -> Result<(), Fault> {
        if known.contains(&name) {
            return Ok(());
        }
        let range = clamp(span.start_offset as usize..span.end_offset as usize, self.source);
        let help = suggest::did_you_mean(name, known.iter().copied())
            .unwrap_or_else(|| format!("the {what}s are {}", suggest::listed(known.iter().copied())));
        Err(Fault { unknown_name: true, ..Fault::new(range, format!("there is no {what} `{name}`"), help) })
    }
}

/// The path of a chain of attributes and constant subscripts that starts at a name.
fn fixed_path(expr: &Expr<'_>) -> Option<Vec<String>> {
    let mut path = Vec::new();
    let mut at = expr;
    loop {
        match at {
            Expr::Var(var) => {
                path.push(var.id.to_owned());
                path.reverse();
                return Some(path);
            }
            Expr::GetAttr(get) => {
                path.push(get.name.to_owned());
                at = &get.expr;
            }
            Expr::GetItem(get) => {
                let Expr::Const(key) = &get.subscript_expr else { return None };
                path.push(key.value.as_str().map_or_else(|| key.value.to_string(), str::to_owned));
                at = &get.expr;
            }
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::references;

    fn paths(source: &str) -> Vec<String> {
        let mut paths: Vec<_> = references(source)
            .unwrap()
            .into_iter()
            .map(|reference| reference.path.join("/") + if reference.computed { "/?" } else { "" })
            .collect();
        paths.sort();
        paths
    }

    #[test]
    fn names_are_found_in_every_corner() {
        // R-EXPR-1
        for (source, expected) in [
            ("params.x", vec!["params/x"]),
            ("nodes['my-node'].output.rows[0]", vec!["nodes/my-node/output/rows/0"]),
            (
                "nodes.a.output > 3 and not error.code in ['X', params.y]",
                vec!["error/code", "nodes/a/output", "params/y"],
            ),
            ("a if b else c", vec!["a", "b", "c"]),
            ("x | default(params.z) | join(', ')", vec!["params/z", "x"]),
            ("params[which].k", vec!["params/?", "which"]),
            ("{'k': item, params.key: [index]}", vec!["index", "item", "params/key"]),
            ("range(params.n) | list", vec!["params/n"]),
            ("context.a is defined", vec!["context/a"]),
            ("items[1:index]", vec!["index", "items"]),
            ("1 < item < params.max", vec!["item", "params/max"]),
            ("'text' ~ 3", vec![]),
        ] {
            assert_eq!(paths(source), expected, "{source}");
        }
    }

    #[test]
    fn ranges_cover_the_whole_name() {
        let found = references("1 + nodes.fetch.output.rows").unwrap();
        assert_eq!(&"1 + nodes.fetch.output.rows"[found[0].range.clone()], "nodes.fetch.output.rows");
    }

    #[test]
    fn what_does_not_exist_is_refused() {
        for (source, part) in [
            ("a |", "syntax error"),
            ("a b", "syntax error"),
            ("'a' ¢", "syntax error"),
            ("'a' 'b' $", "syntax error"),
            ("x | uper", "no filter `uper`"),
            ("x is defind", "no test `defind`"),
            ("debug()", "no function `debug`"),
            ("x.read('/etc/passwd')", "no methods"),
            ("nope.range(3)", "no methods"),
        ] {
            let fault = references(source).unwrap_err();
            assert!(fault.message.contains(part), "{source}: {}", fault.message);
        }
        assert!(references(&"(".repeat(10_000)).is_err());
        for part in ["not ", "- ", "1 if 1 else ", "1 + ", "a."] {
            let long = format!("{}x", part.repeat(100_000));
            assert!(references(&long).unwrap_err().message.contains("parts"), "{part}");
        }
        assert!(references(&format!("x{}", " | abs".repeat(100_000))).is_err());
        assert!(references(&["a"; 70].join(" or ")).is_ok());
    }
}
