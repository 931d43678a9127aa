//! `R-EXPR-2`: where a value may stand in a `run` string, and why not elsewhere.

use super::support::pieces;
use sprag_core::shell::{Placement, Reason, compile, place_values};

/// One letter per value: `b`are, `d`ouble-quoted, `h`ere-document, `u`nquoted.
const ACCEPTED: &[(&str, &str)] = &[
    ("echo {{x}}", "b"),
    ("echo a{{x}}", "b"),
    ("echo {{x}}b", "b"),
    ("echo a{{x}}b{{x}}", "bb"),
    ("echo {{x}}{{x}}", "bb"),
    ("echo \"{{x}}\"", "d"),
    ("echo \"a {{x}} b\" {{x}}", "db"),
    ("echo 'it'\\''s' {{x}}", "b"),
    ("echo 'a \"' {{x}} \"it's {{x}}\"", "bd"),
    ("echo \"a \\\" {{x}}\"", "d"),
    ("echo \\\"{{x}}", "b"),
    ("echo \\'{{x}}", "b"),
    ("echo \\\\{{x}}", "b"),
    ("echo \"\\\\{{x}}\"", "d"),
    ("echo \\\n{{x}}", "b"),
    ("echo \"\\\n{{x}}\"", "d"),
    ("NAME={{x}}", "b"),
    ("NAME={{x}} OTHER=\"{{x}}\" env", "bd"),
    ("export NAME={{x}}", "b"),
    ("export \"NAME={{x}}\"", "d"),
    ("# it's {{x}}\necho {{x}}", "bb"),
    ("echo a#'b' {{x}}", "b"),
    ("echo $# {{x}}", "b"),
    ("echo $${{x}}", "b"),
    ("echo \\${{x}}", "b"),
    ("echo $NAME{{x}}", "b"),
    ("echo \"$NAME{{x}} ${NAME:-'\\''} \"", "d"),
    ("echo ${NAME:-'}'} {{x}}", "b"),
    ("echo ${NAME:-\"}\"} {{x}}", "b"),
    ("echo \"${NAME:-\"a b\"}\" {{x}}", "b"),
    ("echo ${#NAME} ${NAME#a} {{x}}", "b"),
    ("echo $(basename {{x}})", "b"),
    ("echo \"$(basename {{x}}) {{x}}\" {{x}}", "bdb"),
    ("echo \"$(basename \"{{x}}\")\"", "d"),
    ("echo $(echo $(echo {{x}}))", "b"),
    ("echo $( (echo a; echo {{x}}) )", "b"),
    ("echo $(case a in a) echo {{x}};; b) echo \"{{x}}\";; esac) {{x}}", "bdb"),
    ("echo \"$(case a in (a) echo {{x}};; esac)\" \"{{x}}\"", "bd"),
    ("echo $(echo ')' {{x}} # comment )\n) {{x}}", "bb"),
    ("(cd /; echo {{x}})", "b"),
    ("{ echo {{x}}; }", "b"),
    ("if [ {{x}} = a ]; then echo {{x}}; fi", "bb"),
    ("[ -n {{x}} ] && echo {{x}}", "bb"),
    ("if (true) then echo {{x}}; fi", "b"),
    ("while read -r line; do echo \"$line\" {{x}}; done", "b"),
    ("for i in a {{x}} \"{{x}}\"; do echo \"$i\"; done", "bd"),
    ("for i\ndo echo {{x}}; done", "b"),
    ("case {{x}} in a) echo a;; esac", "b"),
    ("case a in {{x}}) echo a;; *) ;; esac; echo {{x}}", "bb"),
    ("f() { echo \"$1\"; }; f {{x}}", "b"),
    ("f () (echo {{x}})\nf", "b"),
    ("! echo {{x}}", "b"),
    ("echo {{x}} > out", "b"),
    ("echo a > {{x}}", "b"),
    ("echo a 2>> \"{{x}}\" {{x}}", "db"),
    ("cat < {{x}} 2>&1", "b"),
    ("echo a | grep {{x}} | sort", "b"),
    ("cat <<EOF\n{{x}}\nEOF", "h"),
    ("cat <<EOF\n\"{{x}}\" it's\nEOF\necho {{x}}", "hb"),
    ("cat <<-EOF\n\t{{x}}\n\tEOF\necho {{x}}", "hb"),
    ("cat <<'EOF'\nit's \"\nEOF\necho {{x}}", "b"),
    ("cat <<\"EOF\"\nit's $( \nEOF\necho {{x}}", "b"),
    ("cat <<\\EOF\nit's `\nEOF\necho {{x}}", "b"),
    ("cat <<A <<'B' {{x}}\n{{x}}\nA\nit's\nB\necho {{x}}", "bhb"),
    ("cat <<EOF | tr a b\n$(echo {{x}}) \"{{x}}\"\nEOF", "bh"),
    ("cat <<EOF\n$(echo \"it's {{x}}\")\nEOF", "d"),
    ("cat <<EOF\n\\$ \\` \\\\{{x}}\nEOF", "h"),
    ("cat <<EOF\n EOF\nEOFF\n{{x}}\nEOF\n", "h"),
    ("echo \"$(cat <<EOF\n{{x}} \"\nEOF\n)\" {{x}}", "hb"),
    ("echo $((1 << 2)) {{x}}", "b"),
    ("echo $(( (1 + 2) * $(echo 3) )) {{x}}", "b"),
    ("echo \"$((1 + 1)) {{x}}\"", "d"),
    ("echo `echo '\"'` {{x}}", "b"),
    ("echo \"`echo \\`date\\` '`\" {{x}}", "b"),
    ("echo $'a\\n' {{x}}", "b"),
    ("echo $'a\\\\' {{x}}", "b"),
    ("echo $\"a\" {{x}}", "b"),
    ("echo \"a$\" {{x}} \"$'{{x}}'\"", "bd"),
    ("cat <<<{{x}}", "b"),
    ("[[ -n $a && $b < 'c' ]] && echo {{x}}", "b"),
    ("((a + 1)); echo {{x}}", "b"),
    ("sh -c 'echo \"$1\"' _ {{x}}", "b"),
    ("sudo -u {{x}} env A={{x}} bash -ec 'echo \"$1\"' _ {{x}} \"{{x}}\"", "bbbd"),
    ("sh -s -- {{x}} <<'EOF'\necho \"$1\"\nEOF", "b"),
    ("sh ./scripts/{{x}}.sh {{x}}", "bb"),
    ("./scripts/{{x}} {{x}}", "bb"),
    ("find . -name {{x}} -exec sh -c 'cat \"$1\"' _ {} \\;", "b"),
    ("ssh -p {{x}} user@{{x}} uptime", "bb"),
    ("ssh -- {{x}} uptime", "b"),
    ("printf %s {{x}} | ssh host 'cat > f'", "b"),
    ("su user -c 'echo \"$1\"' -- _ {{x}}", "b"),
    ("printf '%s\\n' {{x}}", "b"),
    ("command -v {{x}}", "b"),
    ("timeout {{x}} curl {{x}}", "bb"),
    ("echo eval {{x}}; echo sh -c {{x}}; grep ssh {{x}}", "bbb"),
    ("docker exec box cat {{x}}", "b"),
    ("echo {{u}} {{x}} '{{u}}' `{{u}}` \"{{x}}\"", "ubuud"),
    ("{{u}}\n{{x}}x=1 # it's\n", "?"),
    ("echo {{x}}\necho 'open", "b"),
    ("a=(1 2)", ""),
    ("echo {a,{{x}}} ~{{x}} {{x}}*", "bbb"),
    ("cat <<EOF &&\n{{x}}\nEOF\necho {{x}}", "hb"),
];

fn letters(placements: &[Placement]) -> String {
    let letter = |placement: &Placement| match placement {
        Placement::Bare => 'b',
        Placement::DoubleQuoted => 'd',
        Placement::HereDocument => 'h',
        Placement::Unquoted => 'u',
    };
    placements.iter().map(letter).collect()
}

#[test]
fn r_expr_2_values_find_their_quoting() {
    let mut wrong = Vec::new();
    for (template, expected) in ACCEPTED {
        let placed = place_values(&pieces(template));
        let actual = placed.map_or_else(|_| "?".to_owned(), |placements| letters(&placements));
        if actual != *expected {
            wrong.push(format!("{template}\n  expected {expected}, got {actual}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The word of a reason, with the command for evaluations.
fn word(reason: &Reason) -> String {
    match reason {
        Reason::Reevaluated { command } => format!("by {command}"),
        Reason::Unclear { .. } => "Unclear".to_owned(),
        reason => format!("{reason:?}"),
    }
}

/// Reasons in order, separated by commas; values that would be fine alone do not appear.
const REFUSED: &[(&str, &str)] = &[
    ("echo '{{x}}'", "SingleQuotes"),
    ("echo \"a\"'{{x}}' {{x}} '{{x}}'", "SingleQuotes,SingleQuotes"),
    ("echo $(echo '{{x}}')", "SingleQuotes"),
    ("cat <<EOF\n$(echo '{{x}}')\nEOF", "SingleQuotes"),
    ("cat <<'EOF'\n{{x}}\nEOF", "QuotedHereDocument"),
    ("cat <<\"EOF\"\n{{x}}\nEOF", "QuotedHereDocument"),
    ("cat <<\\EOF\n{{x}}\nEOF", "QuotedHereDocument"),
    ("cat <<E\"O\"F\n{{x}}\nEOF", "QuotedHereDocument"),
    ("cat <<-'EOF'\n\t{{x}}\n\tEOF", "QuotedHereDocument"),
    ("cat <<'A' <<B\n{{x}}\nA\n{{x}}\nB", "QuotedHereDocument"),
    ("cat <<{{x}}\na\n{{x}}", "HereDocumentDelimiter,Unclear"),
    ("cat <<'E{{x}}'\na", "HereDocumentDelimiter"),
    ("echo \\{{x}}", "Backslash"),
    ("echo \"a\\{{x}}\"", "Backslash"),
    ("echo \"\\\\\\{{x}}\"", "Backslash"),
    ("cat <<EOF\n\\{{x}}\nEOF", "Backslash"),
    ("echo ${{x}}", "DollarSign"),
    ("echo \"${{x}}\"", "DollarSign"),
    ("cat <<EOF\n${{x}}\nEOF", "DollarSign"),
    ("echo $$${{x}}", "DollarSign"),
    ("echo $'{{x}}'", "DollarSingleQuotes"),
    ("echo $'a\\'' {{x}}", "Unclear"),
    ("echo $'a\\' {{x}} '", "Unclear"),
    ("echo $\"{{x}}\"", "DollarDoubleQuotes"),
    ("echo `echo {{x}}`", "Backticks"),
    ("echo \"`echo '{{x}}'` \" {{x}}", "Backticks"),
    ("cat <<EOF\n`echo {{x}}`\nEOF", "Backticks"),
    ("echo `echo \\`echo {{x}}\\``", "Backticks"),
    ("echo $(({{x}} + 1))", "Arithmetic"),
    ("echo \"$((1 + {{x}}))\"", "Arithmetic"),
    ("echo $(( $(echo {{x}}) ))", "Arithmetic"),
    ("(({{x}}))", "Arithmetic"),
    ("a[{{x}}]=1", "Arithmetic"),
    ("echo $((echo a) | cat) {{x}}", "Unclear"),
    ("echo ${a:-{{x}}}", "ParameterExpansion"),
    ("echo \"${a:-{{x}}}\"", "ParameterExpansion"),
    ("echo ${a:-'{{x}}'}", "ParameterExpansion"),
    ("echo \"${a:-$(echo {{x}})}\"", "ParameterExpansion"),
    ("cat <<EOF\n${a#{{x}}}\nEOF", "ParameterExpansion"),
    ("[[ {{x}} -eq 1 ]]", "DoubleBracketTest"),
    ("if [[ -n $a && \"{{x}}\" == b ]]; then echo {{x}}; fi", "DoubleBracketTest"),
    ("[[ $(echo {{x}}) ]]", "DoubleBracketTest"),
    ("{{x}}", "CommandName"),
    ("{{x}} {{x}}", "CommandName"),
    ("A=1 \"{{x}}\" a", "CommandName"),
    ("echo a; x{{x}} b", "CommandName"),
    ("$(echo {{x}}) b", "CommandName"),
    ("sudo {{x}} b", "CommandName"),
    ("exec {{x}}", "CommandName"),
    ("env A=1 {{x}}", "CommandName"),
    (". {{x}}", "CommandName"),
    ("eval {{x}}", "by eval"),
    ("eval \"echo {{x}}\"", "by eval"),
    ("eval 'echo {{x}}'", "by eval"),
    ("eval \"$(echo {{x}})\"", "by eval"),
    ("e'va'l a {{x}} b {{x}}", "by eval,by eval"),
    ("A=1 command eval {{x}}", "by eval"),
    ("if true; then eval {{x}}; fi", "by eval"),
    ("case a in a) eval {{x}};; esac", "by eval"),
    ("sh -c {{x}}", "by sh"),
    ("sh -c \"echo {{x}}\"", "by sh"),
    ("sh -c 'echo {{x}}'", "by sh"),
    ("/bin/bash -ec \"echo {{x}}\" _ {{x}}", "by bash"),
    ("bash -o pipefail -lc \"{{x}}\"", "by bash"),
    ("bash -eo pipefail -c \"{{x}}\"", "by bash"),
    ("env A=1 dash -c {{x}}", "by dash"),
    ("exec ash -c {{x}}", "by ash"),
    ("sudo -u root nohup zsh -c {{x}}", "by zsh"),
    ("time ksh -c {{x}}", "by ksh"),
    ("xargs -n 1 sh -c {{x}}", "by sh"),
    ("timeout 5 sh -c {{x}}", "by sh"),
    ("find . -exec sh -c \"cat {{x}}\" \\;", "by sh"),
    ("docker exec box sh -c \"cat {{x}}\"", "by sh"),
    ("sh -c \"$(cat <<EOF\n{{x}}\nEOF\n)\"", "by sh"),
    ("sh {{x}} {{x}}", "by sh"),
    ("sh <<EOF\necho {{x}}\nEOF", "by sh"),
    ("sh <<'EOF'\necho {{x}}\nEOF", "by sh"),
    ("bash -s a <<EOF\necho {{x}}\nEOF", "by bash"),
    ("cat <<EOF | sh\necho {{x}}\nEOF", "by sh"),
    ("cat <<EOF |\necho {{x}}\nEOF\nsh", "by sh"),
    ("echo {{x}}; echo \"echo {{x}}\" | sed s/a/b/ | sudo bash", "by bash"),
    ("for i in {{x}}; do echo \"$i\"; done | sh", "by sh"),
    ("sh <<<\"echo {{x}}\"", "by sh"),
    ("echo {{x}} | xargs -I{} sh -c 'cat {}'", "by sh"),
    ("docker exec -i box bash <<EOF\n{{x}}\nEOF", "by bash"),
    (". /dev/stdin <<EOF\n{{x}}\nEOF", "by sh"),
    ("trap \"rm {{x}}\" EXIT", "by trap"),
    ("trap {{x}} EXIT", "by trap"),
    ("ssh host \"cat {{x}}\"", "by ssh"),
    ("ssh host cat {{x}}", "by ssh"),
    ("ssh -p 22 host 'cat {{x}}'", "by ssh"),
    ("ssh {{x}} uptime", "by ssh"),
    ("ssh -o {{x}} host uptime", "by ssh"),
    ("ssh host <<EOF\ncat {{x}}\nEOF", "by ssh"),
    ("ssh host bash -s <<EOF\ncat {{x}}\nEOF", "by ssh"),
    ("su -c \"cat {{x}}\" user", "by su"),
    ("su - user -c {{x}}", "by su"),
    ("let {{x}}", "by let"),
    ("read {{x}}", "by read"),
    ("unset {{x}}", "by unset"),
    ("export {{x}}", "by export"),
    ("export {{x}}=a", "by export"),
    ("printf {{x}} a", "by printf"),
    ("printf -v {{x}} a", "by printf"),
    ("[ -v {{x}} ]", "by test -v"),
    ("test {{x}} {{x}}", "by test -v"),
    ("env -S {{x}}", "by env -S"),
    ("PS4={{x}}", "by PS4"),
    ("declare -i n; n={{x}}", "Unclear"),
    ("alias e=eval\ne {{x}}", "Unclear"),
    ("a=({{x}})", "Unclear"),
    ("echo >&{{x}}", "Unclear"),
    ("cat <(echo {{x}})", "Unclear"),
    ("echo a &> b {{x}}", "Unclear"),
    ("echo $[1 + 1] {{x}}", "Unclear"),
    ("echo \"{{x}}", "Unclear"),
    ("echo {{x}} $(echo {{x}}", "Unclear"),
    ("cat <<EOF\n{{x}}", "Unclear"),
    ("x=$(cat <<EOF)\n{{x}}\nEOF", "Unclear"),
    ("x=$(cat <<EOF\n{{x}}\nEOF)\necho {{x}}", "Unclear"),
    ("cat <<EOF\n$(echo\nEOF\n) {{x}}", "Unclear"),
    ("cat <<EOF\nEO\\\nF\n{{x}}", "Unclear"),
    ("cat <<EOF \"\n\"\n{{x}}\nEOF", "Unclear"),
    ("echo \"${a:-'}\" {{x}}", "Unclear"),
    ("function f { echo {{x}}; }", "Unclear"),
    ("echo )\necho {{x}}", "Unclear"),
    ("fi; echo {{x}}", "Unclear"),
];

#[test]
fn r_expr_2_misplaced_values_are_refused_with_their_reason() {
    let mut wrong = Vec::new();
    for (template, expected) in REFUSED {
        let actual = match place_values(&pieces(template)) {
            Ok(_) => "accepted".to_owned(),
            Err(misplaced) => {
                let words: Vec<_> = misplaced.iter().map(|one| word(&one.reason)).collect();
                words.join(",")
            }
        };
        if actual != *expected {
            wrong.push(format!("{template}\n  expected {expected}, got {actual}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn r_expr_2_a_refusal_names_the_piece_and_says_what_to_write() {
    for (template, _) in REFUSED {
        let pieces = pieces(template);
        for misplaced in compile(&pieces).expect_err(template) {
            assert!(matches!(pieces[misplaced.piece], sprag_core::shell::Piece::Value { .. }));
            assert!(misplaced.reason.message().starts_with("value "), "{misplaced}");
            assert!(misplaced.reason.help().contains('`') || misplaced.reason.help().contains("variable"));
        }
    }
}

#[test]
fn r_expr_2_references_are_numbered_by_quoted_values() {
    let script = compile(&pieces("echo {{x}} \"{{x}}\" {{u}} <<EOF\n{{x}}\nEOF")).expect("compiles");
    assert_eq!(script.text, "echo \"${SPRAG_V1}\" \"${SPRAG_V2}\"  <<EOF\n${SPRAG_V3}\nEOF");
    let bound = script.bind(&["a", "b", "-n; ls", "c"]).expect("binds");
    assert!(bound.script.contains("\" -n; ls <<EOF"));
    let names: Vec<_> = bound.environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(names, ["SPRAG_V1=a", "SPRAG_V2=b", "SPRAG_V3=c"]);
}

#[test]
fn r_expr_2_values_that_cannot_travel_point_at_the_input_file() {
    let script = compile(&pieces("echo {{x}} {{x}}")).expect("compiles");
    let fits = "a".repeat(sprag_core::shell::VALUE_LIMIT);
    assert!(script.bind(&["", &fits]).is_ok());
    let error = script.bind(&["", &(fits + "a")]).expect_err("too long").to_string();
    assert!(error.contains("value 2") && error.contains("SPRAG_INPUT") && error.contains("102401"), "{error}");
    let error = script.bind(&["a\0", ""]).expect_err("nul").to_string();
    assert!(error.contains("value 1") && error.contains("SPRAG_INPUT"), "{error}");
    assert!(script.bind(&["a"]).is_err());
}
