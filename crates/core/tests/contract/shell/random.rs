//! `R-EXPR-2`, differential: random scripts, each run twice in every shell.
//!
//! The oracle shares nothing with the scan. A script is run once with harmless words typed in place of its values,
//! where quoting makes no difference, and once compiled, with hostile values in the environment. Whatever the script
//! does, both runs must print the same, up to the values; and no value may have created the canary.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::support::scripts::{Grammar, soup};
use super::support::{Directory, Lcg, Shell, pieces, run, shells};
use sprag_core::shell::{Bound, Piece, compile};

/// Without blanks or globs, so that an expansion the script itself leaves unquoted does not take it apart.
const HOSTILE: &str = "';\"$(>canary)`>canary`\\'\"\\\\${IFS}>canary;:\"$((a[$(>canary)]))&&>canary#)}";

const PRELUDE: &str = "p() { printf '<%s>' \"$@\"; }\ny=\"i j\"\n";

/// The script with a harmless word typed in place of each value.
fn typed(pieces: &[Piece<'_>]) -> String {
    let mut script = String::new();
    let mut number = 0;
    for piece in pieces {
        match piece {
            Piece::Text(text) => script.push_str(text),
            Piece::Value { .. } => {
                number += 1;
                script.push_str(&harmless(number));
            }
        }
    }
    script
}

/// No shell sees more than text in it, none glues it to a name before it, and none contains another.
fn harmless(number: usize) -> String {
    format!("+Value{}q", "abcdefghij".chars().cycle().nth(number).unwrap_or('z').to_string().repeat(1 + number / 10))
}

/// Runs one script both ways; says what differed.
fn compare(template: &str, shells: &[Shell], directory: &Directory) -> Option<Result<(), String>> {
    let template = format!("{PRELUDE}{template}");
    let pieces = pieces(&template);
    let script = compile(&pieces).ok()?;
    let hostile: Vec<_> = (1..=script.slots.len()).map(|number| format!("{}{HOSTILE}", harmless(number))).collect();
    let bound = script.bind(&hostile.iter().map(String::as_str).collect::<Vec<_>>()).expect("binds");
    let plain = Bound { script: typed(&pieces), environment: Vec::new() };
    for &shell in shells {
        let expected = String::from_utf8_lossy(&run(shell, &plain, &directory.0)).into_owned();
        let actual = String::from_utf8_lossy(&run(shell, &bound, &directory.0)).into_owned();
        let entries = directory.entries();
        if !entries.is_empty() {
            for entry in &entries {
                let _ = std::fs::remove_file(directory.0.join(entry));
            }
            return Some(Err(format!("{shell:?} created {entries:?}\n{}", bound.script)));
        }
        let mut wanted = expected.clone();
        for number in 1..=script.slots.len() {
            wanted = wanted.replace(&harmless(number), &format!("{}{HOSTILE}", harmless(number)));
        }
        if wanted != actual {
            return Some(Err(format!("{shell:?}\n{}\n--- typed: {expected}\n--- bound: {actual}\n", bound.script)));
        }
    }
    Some(Ok(()))
}

/// Scripts to try in all, of both kinds. `SHELL_SCRIPTS` asks for more, `SHELL_SEED` for other ones.
fn number_from(variable: &str, otherwise: usize) -> usize {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn r_expr_2_random_scripts_print_values_verbatim_and_run_none_of_them() {
    let shells = shells();
    let total = number_from("SHELL_SCRIPTS", 3000);
    let first = number_from("SHELL_SEED", 1) * 1_000_000;
    let next = AtomicUsize::new(0);
    let accepted = AtomicUsize::new(0);
    let failures: Vec<String> = thread::scope(|scope| {
        let workers: Vec<_> = (0..3)
            .map(|worker| {
                let (shells, next, accepted) = (&shells, &next, &accepted);
                scope.spawn(move || {
                    let directory = Directory::new(&format!("random-{worker}"));
                    let mut failures = Vec::new();
                    loop {
                        let seed = next.fetch_add(1, Ordering::Relaxed);
                        if seed >= total || failures.len() > 5 {
                            return failures;
                        }
                        let mut random = Lcg::new((first + seed) as u64);
                        let template = if seed % 2 == 0 {
                            soup(&mut random)
                        } else {
                            Grammar { random: &mut random, documents: 0 }.script()
                        };
                        // A process id is another one in the second run.
                        if !template.contains("{{x}}") || template.contains("$$") {
                            continue;
                        }
                        // `/bin/sh` always, and the others in turn.
                        let others = &shells[1..];
                        let other = others.get(seed / 2 % others.len().max(1)).copied();
                        let pair: Vec<_> = shells.first().copied().into_iter().chain(other).collect();
                        match compare(&template, &pair, &directory) {
                            None => {}
                            Some(Ok(())) => _ = accepted.fetch_add(1, Ordering::Relaxed),
                            Some(Err(failure)) => failures.push(format!("seed {seed}: {failure}")),
                        }
                    }
                })
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no panic")).collect()
    });
    assert!(failures.is_empty(), "{}", failures.join("\n=====\n"));
    let accepted = accepted.load(Ordering::Relaxed);
    println!("{accepted} of {total} scripts were accepted and run");
    assert!(accepted * 4 > total, "only {accepted} of {total} scripts were accepted");
}
