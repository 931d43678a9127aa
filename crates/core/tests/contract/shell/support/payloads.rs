//! Payloads that try to break out of a quoting, or to be lost in one.

use std::collections::BTreeSet;

/// What a breakout would run; `@` in the wrappers below.
const CANARIES: &[&str] = &["touch canary", ">canary", "touch${IFS}canary"];

/// Ways out of a quoting, or into an evaluation.
#[rustfmt::skip]
const WRAPPERS: &[&str] = &[
    "@", "$(@)", "`@`", ";@", ";@;", "&@", "&& @", "|| @", "| @", "\n@\n", "\r\n@", "'; @; '", "\"; @; \"",
    "'$(@)'", "\"$(@)\"", "\\\"; @; \\\"", "\\'; @; \\'", "'\"; @; \"'", "${x:-$(@)}", "${x:=`@`}",
    "$((a[$(@)]))", "a[$(@)]", "a[$(@)]=1", "<(@)", ">(@)", "{ @; }", "(@)", "EOF\n@\nEOF", "\nEOF\n@\n",
    "\n\tEOF\n@\n", ")\n@\n", "\")\n@", "}; @; {", "*) @;; esac", "done; @", "fi; @", "# \n@", "() { :; }; @",
    "\\\n@", "$'\\n@'", "!@", "\\$(@)", "\\`@\\`", "eval @", "-c @", "x; eval \"@\"",
];

#[rustfmt::skip]
const PLAIN: &[&str] = &[
    "", " ", "  ", "\t", "\n", "\n\n\n", "a\n", "\na", "a\n\n", "\r", "a\r\nb", "a b", " a", "a ", "a  b", "-",
    "--", "-n", "-e", "-n a", "-rf", "--help", "-va[1]", "+", "*", "?", "[a-z]", "[!a]", "/*", "../*", "~",
    "~root", "~/x", "a~", "!", "!!", "!$", "^a^b", "\\", "\\\\", "a\\", "\\n", "\\0", "\\c", "\\x41", "\\u0041",
    "\\'", "\\\"", "'", "''", "'a", "a'", "'\\''", "\"", "\"\"", "\"a", "a\"", "'\"'", "\"'\"", "`", "``", "$",
    "$$", "$1", "$@", "$*", "$?", "$HOME", "${HOME}", "${", "${}", "$(", "$()", "$((", "$((1+1))", "$[1+1]",
    "$'a'", "$\"a\"", "$SPRAG_V1", "${SPRAG_V1}", "\"${SPRAG_V1}\"", ";", ";;", "&", "&&", "|", "||", "<", ">",
    "<<EOF", "<<<a", ">&2", "2>&1", "(", ")", "((", "))", "{", "}", "{a,b}", "{1..3}", "#", "# a", "a#b", "a=b",
    "=", "%", "%s", "%d%n", "%b\\n", "{{", "{{ x }}", "}}", "{% raw %}", "EOF", "EOF\n", "\nEOF\n", "\tEOF",
    "-EOF", "if", "then", "esac", "in", "do", "eval", "é", "ā", "日本語", "🦀", "\u{feff}a", "\u{202e}abc",
    "\u{200b}", "\u{a0}", "\u{2028}", "e\u{301}", "\u{fffd}", "\u{ffff}", "\u{10ffff}", "\u{80}", "\u{81}",
    "\u{85}", "\u{88}", "\u{ff}", "\u{1}", "\u{2}", "\u{1}\u{1}", "\u{7f}", "\u{1}\u{7f}", "\u{1b}[31m",
    "\u{7}", "\u{8}", "\u{b}", "\u{c}", "\u{1a}", "\u{4}", "a\u{1}b\u{7f}c", "\\\u{1}", "\\\u{7f}", "%00",
    "&amp;", "<script>", "' OR 1=1 --", "(", "!=", "]", "[", "[[", "]]", "-a", "-o", "=~", "@(a|b)", "+(a)",
    "() { :;}", "BASH_FUNC_p%%=() { :; }", "a,b", "a:b", "/", "//", ".", "..", "0", "00", "1e9", "-1", "true",
    "null",
];

/// Every payload once.
pub fn payloads() -> Vec<String> {
    let mut payloads: BTreeSet<String> = PLAIN.iter().map(|&payload| payload.to_owned()).collect();
    for (index, wrapper) in WRAPPERS.iter().enumerate() {
        payloads.insert(wrapper.replace('@', CANARIES[0]));
        payloads.insert(wrapper.replace('@', CANARIES[1 + index % 2]));
    }
    payloads.insert("a'\"$(>canary)\n ".repeat(3500));
    payloads.insert("x".repeat(50 * 1024));
    payloads.insert((1..=127_u8).map(char::from).collect());
    payloads.insert((128..=400_u32).filter_map(char::from_u32).collect());
    payloads.into_iter().collect()
}
