//! `R-EXPR-2` and S-47: metacharacter payloads in every accepted position, compared byte for byte in every shell.
//!
//! One script holds a position once for each payload, so a shell runs once per position. A payload that broke out
//! would change the output of the rest, or leave the canary behind.

use std::fmt::Write as _;
use std::thread;

use super::support::payloads::payloads;
use super::support::{Directory, pieces, run, shells};
use sprag_core::shell::{Piece, Reason, compile};

/// A position and what it prints, each argument followed by NUL.
#[rustfmt::skip]
const POSITIONS: &[(&str, &[&str])] = &[
    ("printf '%s\\0' {{x}}", &["{{x}}"]),
    ("printf '%s\\0' a{{x}}", &["a{{x}}"]),
    ("printf '%s\\0' {{x}}b", &["{{x}}b"]),
    ("printf '%s\\0' a{{x}}b{{x}}", &["a{{x}}b{{x}}"]),
    ("printf '%s\\0' {{x}}{{x}} {{x}}", &["{{x}}{{x}}", "{{x}}"]),
    ("printf '%s\\0' 'a'{{x}}\"b\"\\c", &["a{{x}}bc"]),
    ("v={{x}}; printf '%s\\0' \"$v\"", &["{{x}}"]),
    ("v=a:{{x}}:b; printf '%s\\0' \"$v\"", &["a:{{x}}:b"]),
    ("v=\"{{x}}\" w={{x}} sh -c 'printf \"%s\\0\" \"$v\" \"$w\"'", &["{{x}}", "{{x}}"]),
    ("export v={{x}}; printf '%s\\0' \"$v\"", &["{{x}}"]),
    ("f() { local v={{x}}; printf '%s\\0' \"$v\"; }; f", &["{{x}}"]),
    ("printf '%s\\0' \"{{x}}\"", &["{{x}}"]),
    ("printf '%s\\0' \"a '{{x}}' \\\"b\\\"\"", &["a '{{x}}' \"b\""]),
    ("printf '%s\\0' \"$(printf '%s.' {{x}})\"", &["{{x}}."]),
    ("printf '%s\\0' \"a$(printf '%s.' \"b{{x}}\")\"", &["ab{{x}}."]),
    ("v=$(printf '%s.' {{x}}); printf '%s\\0' \"$v\"", &["{{x}}."]),
    ("printf '%s\\0' \"$(printf '%s.' \"$(printf '%s,' {{x}} \"{{x}}\")\")\"", &["{{x}},{{x}},."]),
    ("printf '%s\\0' \"$(case a in a) printf '%s.' {{x}};; b) :;; esac)\" {{x}}", &["{{x}}.", "{{x}}"]),
    ("cat <<EOF\n{{x}}.\nEOF\nprintf '\\0'", &["{{x}}.\n"]),
    ("cat <<-EOF\n\t{{x}}.\n\tEOF\nprintf '\\0'", &["{{x}}.\n"]),
    ("cat <<EOF\n\"{{x}}\" '{{x}}' \\$x\nEOF\nprintf '\\0'", &["\"{{x}}\" '{{x}}' $x\n"]),
    ("cat <<EOF\n$(printf '%s.' {{x}}) \"$(printf '%s.' \"{{x}}\")\"\nEOF\nprintf '\\0'", &["{{x}}. \"{{x}}.\"\n"]),
    ("printf '%s\\0' \"$(cat <<EOF\n{{x}}.\nEOF\n)\"", &["{{x}}."]),
    ("cat <<A - <<'B' | cat\nb\nA\n'c\nB\nprintf '%s\\0' {{x}}", &["'c\n{{x}}"]),
    ("printf '%s\\0' {{x}} 2>/dev/null", &["{{x}}"]),
    ("2>/dev/null printf '%s\\0' {{x}} >&1", &["{{x}}"]),
    ("printf '%s\\0' {{x}} | cat", &["{{x}}"]),
    ("for i in a {{x}} \"{{x}}\" b; do printf '%s\\0' \"$i\"; done", &["a", "{{x}}", "{{x}}", "b"]),
    ("case {{x}} in *) printf '%s\\0' {{x}};; esac", &["{{x}}"]),
    ("case {{x}} in \"{{x}}\") printf '%s\\0' yes;; *) printf '%s\\0' no;; esac", &["yes"]),
    ("case {{x}} in (a|{{x}}) printf '%s\\0' yes;; *) printf '%s\\0' no;; esac", &["yes"]),
    ("if [ {{x}} = \"{{x}}\" ]; then printf '%s\\0' {{x}}; fi", &["{{x}}"]),
    ("f() { printf '%s\\0' \"$@\"; }; f {{x}} \"{{x}}\"", &["{{x}}", "{{x}}"]),
    ("( printf '%s\\0' {{x}} )", &["{{x}}"]),
    ("{ printf '%s\\0' {{x}}; }", &["{{x}}"]),
    ("# it's a \"comment\" `$( {{x}}\nprintf '%s\\0' {{x}}", &["{{x}}"]),
    ("printf '%s\\0' a # {{x}} '\nprintf '%s\\0' {{x}}", &["a", "{{x}}"]),
    ("cat <<'EOF'\nit's $( ` \"\nEOF\nprintf '%s\\0' {{x}}", &["it's $( ` \"\n{{x}}"]),
    ("printf '%s\\0' 'it'\\''s' \"it's\" {{x}}", &["it's", "it's", "{{x}}"]),
    ("printf '%s\\0' $((1 << 2)) ${z:-'}'} `printf \"'\"` {{x}}", &["4", "}", "'", "{{x}}"]),
    ("set -- {{x}} \"{{x}}\"; printf '%s\\0' \"$@\"", &["{{x}}", "{{x}}"]),
    ("sh -c 'printf \"%s\\0\" \"$@\"' _ {{x}} \"{{x}}\"", &["{{x}}", "{{x}}"]),
    ("env w={{x}} sh -c 'printf \"%s\\0\" \"$w\"'", &["{{x}}"]),
    ("printf '%s\\0' \\\n{{x}} \"\\\n{{x}}\"", &["{{x}}", "{{x}}"]),
    ("while printf '%s\\0' {{x}}; do break; done", &["{{x}}"]),
    ("printf '%s\\0' $z{{x}} \"$z{{x}}\" \\${{x}}", &["{{x}}", "{{x}}", "${{x}}"]),
];

#[test]
fn r_expr_2_every_payload_arrives_byte_for_byte_in_every_position() {
    let payloads = payloads();
    assert!(payloads.len() >= 200, "only {} payloads", payloads.len());
    let shells = shells();
    let failures: Vec<String> = thread::scope(|scope| {
        let workers: Vec<_> = (0..2)
            .map(|worker| {
                let (payloads, shells) = (&payloads, &shells);
                scope.spawn(move || {
                    let directory = Directory::new(&format!("payloads-{worker}"));
                    let positions = POSITIONS.iter().skip(worker).step_by(2);
                    positions.flat_map(|position| check(position, payloads, shells, &directory)).collect::<Vec<_>>()
                })
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no panic")).collect()
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    println!("{} payloads, {} positions, {} shells", payloads.len(), POSITIONS.len(), shells.len());
}

fn check(
    (position, arguments): &(&str, &[&str]),
    payloads: &[String],
    shells: &[super::support::Shell],
    directory: &Directory,
) -> Vec<String> {
    let template = format!("{position}\n").repeat(payloads.len());
    let script = match compile(&pieces(&template)) {
        Ok(script) => script,
        Err(misplaced) => return vec![format!("{position}: {}", misplaced[0])],
    };
    let each = script.slots.len() / payloads.len();
    let values: Vec<&str> = payloads.iter().flat_map(|payload| std::iter::repeat_n(payload.as_str(), each)).collect();
    let bound = script.bind(&values).expect("binds");
    let mut failures = Vec::new();
    for &shell in shells {
        let output = run(shell, &bound, &directory.0);
        let mut rest = output.as_slice();
        for payload in payloads {
            let mut expected = Vec::new();
            for argument in *arguments {
                expected.extend_from_slice(argument.replace("{{x}}", payload).as_bytes());
                expected.push(0);
            }
            let Some(after) = rest.strip_prefix(expected.as_slice()) else {
                let mut failure = format!("{position} in {shell:?}: ");
                let shown = |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(300)]).into_owned();
                let _ = write!(failure, "{:?}\n  got {:?}", shown(payload.as_bytes()), shown(rest));
                failures.push(failure);
                break;
            };
            rest = after;
        }
        let left = directory.entries();
        if !left.is_empty() {
            failures.push(format!("{position} in {shell:?} created {left:?}"));
        }
    }
    failures
}

/// A redirection opens the file that the value names, and no other.
#[test]
fn r_expr_2_a_redirection_opens_the_file_that_the_value_names() {
    let directory = Directory::new("redirection");
    let script = compile(&pieces("printf a > {{x}}; printf b >> \"{{x}}\"; cat < {{x}}")).expect("compiles");
    for payload in payloads().iter().filter(|name| is_file_name(name)).step_by(3) {
        let bound = script.bind(&[payload, payload, payload]).expect("binds");
        for shell in shells() {
            assert_eq!(run(shell, &bound, &directory.0), b"ab", "{payload:?} in {shell:?}");
            assert_eq!(directory.entries(), std::slice::from_ref(payload), "{shell:?}");
            std::fs::remove_file(directory.0.join(payload)).expect("the file is there");
        }
    }
}

fn is_file_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains('/') && name.len() < 200
}

/// The content of a value is no input of the load: a position is refused whatever will be in it.
#[test]
fn r_expr_2_refused_positions_are_refused_before_any_value_is_known() {
    let refused = [
        ("printf '%s' '{{x}}'", Reason::SingleQuotes),
        ("cat <<'EOF'\n{{x}}\nEOF", Reason::QuotedHereDocument),
        ("cat <<{{x}}\n", Reason::HereDocumentDelimiter),
        ("echo \\{{x}}", Reason::Backslash),
        ("echo ${{x}}", Reason::DollarSign),
        ("echo $'{{x}}'", Reason::DollarSingleQuotes),
        ("echo `echo {{x}}`", Reason::Backticks),
        ("echo $(({{x}}))", Reason::Arithmetic),
        ("echo ${a:-{{x}}}", Reason::ParameterExpansion),
        ("[[ {{x}} ]]", Reason::DoubleBracketTest),
        ("{{x}}", Reason::CommandName),
        ("eval {{x}}", Reason::Reevaluated { command: "eval".to_owned() }),
    ];
    for (template, reason) in refused {
        let misplaced = compile(&pieces(template)).expect_err(template);
        assert_eq!(misplaced[0].reason, reason, "{template}");
        // Typed in place of the value, a payload is text of the author; the verdict never looks at it.
        for payload in payloads() {
            let typed = template.replace("{{x}}", &payload);
            let pieces = [
                Piece::Text(template.split("{{x}}").next().unwrap_or_default()),
                Piece::Value { unquoted: false },
                Piece::Text(&typed),
            ];
            assert!(compile(&pieces).is_err(), "{template} before {payload:?}");
        }
    }
}
