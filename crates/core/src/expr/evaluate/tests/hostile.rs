use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::super::{RESULT_BYTES_MAX, text, value};
use super::world;
use crate::expr::allowed::{FILTERS, TESTS};

/// Runs something that must end within a second of this thread's own time, so that a busy machine does not count.
#[expect(clippy::disallowed_methods, reason = "the test is about time")]
fn soon<T>(what: &str, run: impl FnOnce() -> T) -> T {
    let (start, on_processor) = (Instant::now(), on_processor());
    let result = run();
    let took = match (on_processor, self::on_processor()) {
        (Some(before), Some(after)) => after.saturating_sub(before),
        _ => start.elapsed(),
    };
    assert!(took < Duration::from_secs(1), "{what} took {took:?}");
    result
}

/// How long this thread has run on a processor, where the system tells.
#[expect(clippy::disallowed_methods, reason = "the system tells it in a file")]
fn on_processor() -> Option<Duration> {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    times.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

/// Expressions that ask for far too much, each in its own way.
const HOSTILE: [&str; 66] = [
    "range(1000000000)",
    "range(9223372036854775807, -9223372036854775808, -1)",
    "range(0, 5, -9223372036854775808)",
    "range(9223372036854775807)",
    "'x' * 10 ** 9",
    "'x' * 10 ** 8",
    "10 ** 8 * 'x'",
    "['a'] * 10 ** 8",
    "(1, 2) * 10 ** 8",
    "[['a'] * 1000] * 1000 * 1000",
    "2 ** 10 ** 9",
    "2.5 ** 10 ** 9",
    "(0 - 2 ** 126 * 2) // -1",
    "(0 - 2 ** 126 - 2 ** 126) is divisibleby(-1)",
    "1 is divisibleby 0",
    "1 is divisibleby 0.0",
    "(0 - 2 ** 126 - 2 ** 126) | abs",
    "-(0 - 2 ** 126 - 2 ** 126)",
    "'%1000000000d' | format(1)",
    "'%*d' | format(1000000000, 1)",
    "'%.1000000000f' | format(1.5)",
    "'%.100000f' | format(1e300)",
    "('%(a)s' * 100000) | format(a=long)",
    "('%(a)f' * 200000) | format(a=1e300)",
    "'%99999999999999999999999d' | format(1)",
    "'a' | indent(10 ** 9)",
    "'a' | indent(width=10 ** 9, first=true)",
    "('\\n' * 100000) | indent(100000, true, true)",
    "[1] | batch(10 ** 9, 0)",
    "[1] | slice(10 ** 9)",
    "[1] | batch(18446744073709551615, 0)",
    "long | replace('', 'x' * 100000)",
    "long | replace('x', long)",
    "many | join(long)",
    "([long] * 3) | join(long)",
    "many | map(attribute='x') | map('default', long) | list",
    "many | map('replace', '1', long) | list",
    "([[1]] * 50000) | map('batch', 10 ** 6, 1) | list",
    "many | map('string') | map('indent', 10 ** 6, true) | list",
    "many | select('in', many) | list",
    "many | reject('in', many | map('string') | list) | list",
    "many | map('string') | sum(start='')",
    "[many] | sum(start=[])",
    "long | list | list | list",
    "long | split('') | sort | unique",
    "long | batch(1)",
    "long | trim('y' * 100000 ~ 'x')",
    "many | sort | sort | sort",
    "many | zip(many) | zip(many) | zip(many)",
    "many | chain(many) | chain(many) | chain(many) | sort",
    "deep | tojson(indent=1000000000)",
    "([deep] * 10000) | tojson(indent=16)",
    "[long, long, long] | tojson | tojson | tojson",
    "long ~ long ~ long ~ long ~ long ~ long ~ long ~ long ~ long ~ long ~ long ~ long ~ long ~ long ~ long",
    "'abc'[::-9223372036854775808]",
    "'abc'[-9223372036854775808:9223372036854775807]",
    "[1, 2, 3][0:2:-1]",
    "many[9223372036854775807] is defined",
    "1e300 | round(-2147483648)",
    "1.5 | round(2147483647) | int",
    "many | sort(attribute='a,' * 10000)",
    "([{'a': 'x' * 1000}] * 900) | sort(attribute='a,a,a,a,a,a,a,a,a,a,a,a,a,a,a')",
    "([{'a': 1}] * 50000) | map(attribute='a' ~ '.a' * 100000, default=1)",
    "([{'a': 1}] * 50000) | selectattr('a' ~ '.a' * 100000)",
    "([{'a': 1}] * 90000) | map('tojson') | list",
    "('\\u0001' * 7000000) | tojson",
];

#[test]
fn hostile_expressions_end_soon() {
    // R-EXPR-1
    let names = world();
    for source in HOSTILE {
        if let Ok(text) = soon(source, || text(&format!("{{{{ {source} }}}}"), &names)) {
            assert!(text.len() <= RESULT_BYTES_MAX, "{source}");
        }
    }
}

#[test]
fn long_expressions_end_soon() {
    // R-EXPR-1
    let names = world();
    for (open, middle, close) in [
        ("(", "1", ")"),
        ("[", "1", "]"),
        ("{'a':", "1", "}"),
        ("not ", "1", ""),
        ("- ", "1", ""),
        ("", "1", " + 1"),
        ("", "'x'", " ~ 'x'"),
        ("", "[1]", " + [1]"),
        ("", "1", " | abs"),
        ("", "params", ".a"),
        ("", "(1)", ".a"),
        ("", "(items)", "[0]"),
        ("", "deep", "[0]"),
        ("", "[1]", "[:]"),
        ("1 if 0 else ", "1", ""),
        ("", "deep", " | batch(1)"),
        ("", "many", " | reverse"),
        ("", "[1]", " | chain([1])"),
        ("", "'ab'", " * 2"),
        ("", "1", " < 2"),
        ("", "[1]", " * 2"),
    ] {
        for times in [30, 70, 125, 245, 495, 600] {
            let source = format!("{}{middle}{}", open.repeat(times), close.repeat(times));
            let _result = soon(&format!("{open}{middle}{close} {times} times"), || value(&source, &names));
        }
    }
    let long = value(&"1 + ".repeat(300), &names).unwrap_err().message;
    assert!(long.contains("more than 500 parts"), "{long}");
    assert!(long.len() < 200, "{long}");
}

/// Expressions from a grammar that knows every operator, filter, test and function.
fn expression() -> impl Strategy<Value = String> {
    let filters = proptest::sample::select(FILTERS.to_vec());
    let tests = proptest::sample::select(TESTS.to_vec());
    let operators =
        vec!["+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", "<=", ">", ">=", "and", "or", "in", "not in"];
    let leaves = vec![
        "0",
        "1",
        "-1",
        "2.5",
        "1e308",
        "9223372036854775807",
        "-9223372036854775808",
        "18446744073709551615",
        "''",
        "'a b'",
        "'%s %d'",
        "'é\\n\\n'",
        "true",
        "none",
        "[]",
        "{}",
        "params",
        "params.n",
        "params.gone",
        "items",
        "deep",
        "big",
        "nodes.a.output",
        "many",
        "items[0]",
    ];
    proptest::sample::select(leaves).prop_map(str::to_owned).prop_recursive(5, 24, 3, move |inner| {
        let (a, b, c) = (inner.clone(), inner.clone(), inner);
        let arguments = proptest::collection::vec(b.clone(), 0..3).prop_map(|arguments| arguments.join(", "));
        let operators = proptest::sample::select(operators.clone());
        prop_oneof![
            (a.clone(), operators, b.clone()).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            (a.clone(), filters.clone(), arguments.clone())
                .prop_map(|(a, name, more)| format!("({a} | {name}({more}))")),
            (a.clone(), tests.clone(), arguments.clone())
                .prop_map(|(a, name, more)| format!("({a} is {name}({more}))")),
            (a.clone(), filters.clone(), b.clone())
                .prop_map(|(a, name, b)| format!("([{a}, {b}] | map('{name}', {b}))")),
            (a.clone(), tests.clone(), b.clone()).prop_map(|(a, name, b)| format!("({a} | select('{name}', {b}))")),
            arguments.prop_map(|more| format!("range({more})")),
            (a.clone(), b.clone(), c.clone()).prop_map(|(a, b, c)| format!("({a} if {b} else {c})")),
            (a.clone(), b.clone(), c.clone()).prop_map(|(a, b, c)| format!("({a})[{b}:{c}:-1]")),
            (a.clone(), b.clone()).prop_map(|(a, b)| format!("({a})[{b}]")),
            (a.clone(), b.clone()).prop_map(|(a, b)| format!("[{a}, {b}]")),
            (a, b).prop_map(|(a, b)| format!("{{{a}: {b}}}")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn no_expression_aborts(source in expression()) {
        // R-EXPR-1
        let names = world();
        let first = soon(&source, || value(&source, &names));
        prop_assert_eq!(first, value(&source, &names));
    }
}
