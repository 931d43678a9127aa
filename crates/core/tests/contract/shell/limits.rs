//! `R-EXPR-2`: the scan survives any text, in linear time and without recursion.

use std::time::{Duration, Instant};

use super::support::{Lcg, pieces};
use sprag_core::shell::{Piece, compile, place_values};

#[rustfmt::skip]
const BITS: &[&str] = &[
    "$(", "\"", "'", "`", "${", "}", "((", "))", "$((", "(", ")", "\\", "\n", "<<E\n", "<<-'E'\n", "\nE\n", "#",
    "case x in ", "esac", ";;", "[[ ", " ]]", "if ", "fi", "{ ", "}\n", "$'", "$\"", "$", "|", "&", ";", "<",
    ">", " ", "a", "eval ", "sh -c ", "é", "\u{202e}", "\u{81}", "\r", "\t", "<<<", "<(", "a=(", "for i in ",
    "do ", "done", "ssh h ", "xargs ",
];

#[test]
fn r_expr_2_arbitrary_text_never_panics() {
    let mut random = Lcg::new(3);
    for round in 0..20_000 {
        let texts: Vec<String> = (0..=random.below(6))
            .map(|_| {
                if round % 2 == 0 {
                    (0..random.below(12)).map(|_| random.pick(BITS)).collect()
                } else {
                    let bytes: Vec<u8> =
                        (0..random.below(40)).map(|_| u8::try_from(random.below(256)).unwrap_or(0)).collect();
                    String::from_utf8_lossy(&bytes).into_owned()
                }
            })
            .collect();
        let pieces: Vec<Piece<'_>> =
            texts.iter().flat_map(|text| [Piece::Text(text), Piece::Value { unquoted: text.len() % 5 == 0 }]).collect();
        match place_values(&pieces) {
            Ok(placements) => assert_eq!(placements.len(), texts.len()),
            Err(misplaced) => assert!(misplaced.is_sorted_by_key(|one| one.piece) && misplaced.len() <= texts.len()),
        }
    }
}

#[test]
fn r_expr_2_a_nul_in_the_script_refuses_every_value() {
    assert!(compile(&pieces("echo \0 {{x}}")).is_err());
}

/// Every shape that could make a scan look at the same text again and again.
#[test]
fn r_expr_2_a_script_of_a_megabyte_is_scanned_at_once() {
    let shapes = [
        "echo {{x}} \"{{x}}\" $(echo {{x}})\n",
        "$(",
        "\"$(",
        "${a:-",
        "`",
        "(",
        "{ ",
        "if ",
        "case a in (a) ",
        "$((",
        "((",
        "'{{x}}'",
        "cat <<E\n{{x}}\nE\n",
        "cat <<E <<E <<E\n",
        "cat <<E\n$(cat <<F\n",
        "cat <<EEEEEEEEEEEEEEEEEEEE\nEEEEEEEEEEEEEEEEEEE\n",
        "\\\n",
        "a|",
        "echo {{x}} | sh | ",
        "sh <<<{{x}} | ",
        "eval {{x}} $(eval {{x}} ",
        "a=",
        "\t",
        "#",
        "$'\\\\",
        "\\",
        "{{x}}",
        "<<",
    ];
    for shape in shapes {
        let template = shape.repeat(1_000_000 / shape.len());
        let pieces = pieces(&template);
        let start = Instant::now();
        let _ = place_values(&pieces);
        let elapsed = start.elapsed();
        // Far above what it takes, even unoptimised on a busy machine, and far below anything quadratic.
        assert!(elapsed < Duration::from_secs(3), "{shape:?} took {elapsed:?}");
        if elapsed > Duration::from_millis(100) {
            println!("{shape:?} took {elapsed:?}");
        }
    }
}

#[test]
fn r_expr_2_deep_nesting_needs_no_stack() {
    let deep = format!("echo {}{{{{x}}}}{}", "$(echo ".repeat(100_000), ")".repeat(100_000));
    assert!(compile(&pieces(&deep)).is_ok());
    let deep = format!("echo {}{{{{x}}}}{} {{{{x}}}}", "\"$(echo ".repeat(100_000), ")\"".repeat(100_000));
    assert!(compile(&pieces(&deep)).is_ok());
    let deep = format!("{}echo {{{{x}}}}{}", "( ".repeat(100_000), ")".repeat(100_000));
    assert!(compile(&pieces(&deep)).is_ok());
}
