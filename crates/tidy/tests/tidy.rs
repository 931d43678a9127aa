//! Runs the rules of the house on the project, and every rule on a tree that breaks it.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::path::Path;

use sprag_tidy::{CODES_FILE, Code, Finding, RULES, Tree, check, read_codes};

type Outcome = Result<(), Box<dyn Error>>;

/// Fewer codes than this mean that the table was not understood.
const CODES_MIN: usize = 10;

/// A tree that breaks one rule, and where the rule must say so.
struct Broken {
    rule: &'static str,
    path: &'static str,
    text: String,
    codes: &'static [&'static str],
    expected: String,
}

impl Broken {
    fn new(rule: &'static str, path: &'static str, text: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { rule, path, text: text.into(), codes: &[], expected: expected.into() }
    }
}

#[test]
fn the_project_keeps_its_rules() -> Outcome {
    let tree = Tree::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))?;
    let codes = read_codes(&tree).map_err(|findings| listed(&findings))?;
    assert!(codes.len() >= CODES_MIN, "{CODES_FILE}: {} error codes found, {CODES_MIN} expected", codes.len());
    let findings = check(&tree, &codes);
    assert!(findings.is_empty(), "the project breaks its own rules:\n{}", listed(&findings));
    Ok(())
}

#[test]
fn every_rule_notices_what_it_forbids() -> Outcome {
    for broken in broken_trees() {
        let folder = tempfile::tempdir()?;
        write(folder.path(), broken.path, &broken.text)?;
        let tree = Tree::read(folder.path())?;
        let codes: Vec<Code> = broken.codes.iter().map(|name| Code { name: (*name).to_owned(), line: 7 }).collect();
        let rule = RULES.iter().find(|rule| rule.name == broken.rule).ok_or(broken.rule)?;
        let findings = (rule.check)(&tree, &codes);
        assert_eq!(listed(&findings), broken.expected, "rule {}, {}:\n{}", broken.rule, broken.path, broken.text);
    }
    Ok(())
}

#[test]
fn every_rule_has_a_tree_that_breaks_it() {
    let known: BTreeSet<&str> = RULES.iter().map(|rule| rule.name).collect();
    let broken: BTreeSet<&str> = broken_trees().iter().map(|broken| broken.rule).collect();
    assert_eq!(known, broken);
}

#[test]
fn a_clean_tree_has_no_findings() -> Outcome {
    let folder = tempfile::tempdir()?;
    let id = ["R", "-DEMO-1"].concat();
    let root = folder.path();
    write(root, "docs/spec.md", &format!("- **{id}** A rule.\n"))?;
    write(
        root,
        "docs/errors/UNKNOWN_KEY.md",
        "# UNKNOWN_KEY\n\n[all rules](../spec.md#words), [home](https://example.org)\n",
    )?;
    write(
        root,
        "src/lib.rs",
        &format!("//! Keeps `{id}`, never calls panic!().\nmod run;\nconst A: &str = \"todo!()\";\n"),
    )?;
    write(root, "src/run/mod.rs", "//! Runs.\nmod fold;\npub use fold::{Fold, fn_name};\npub type Hook = fn(u8);\n")?;
    write(
        root,
        "src/run/fold.rs",
        "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() { c().unwrap(); panic!(\"d\"); }\n}\n",
    )?;
    write(root, "target/debug/build.rs", "fn main() { todo!() }\n")?;
    write(root, "picture.bin", "\0 /")?;
    write(
        root,
        CODES_FILE,
        "codes! {\n    /// A key is unknown.\n    UNKNOWN_KEY = 2, 422, \"a key is unknown\";\n}\n",
    )?;
    let tree = Tree::read(root)?;
    let codes = read_codes(&tree).map_err(|findings| listed(&findings))?;
    assert_eq!(codes, [Code { name: "UNKNOWN_KEY".to_owned(), line: 3 }]);
    assert_eq!(listed(&check(&tree, &codes)), "");
    Ok(())
}

#[test]
fn a_code_that_cannot_be_read_is_an_error() -> Outcome {
    let folder = tempfile::tempdir()?;
    write(folder.path(), CODES_FILE, "codes! {\n    UNKNOWN_KEY = 2, \"a key is unknown\";\n}\n")?;
    let refused = read_codes(&Tree::read(folder.path())?).err().unwrap_or_default();
    let expected = "crates/core/src/codes.rs:2: the definition of `UNKNOWN_KEY` cannot be read; \
                    write `UNKNOWN_KEY = <exit code>, <http status>, \"summary\";`";
    assert_eq!(listed(&refused), expected);
    Ok(())
}

fn write(root: &Path, path: &str, text: &str) -> std::io::Result<()> {
    let path = root.join(path);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text)
}

fn listed(findings: &[Finding]) -> String {
    findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// One tree or more for every rule. Words that the rules look for in comments are put together here from parts.
fn broken_trees() -> Vec<Broken> {
    [shapes(), words(), pages()].into_iter().flatten().collect()
}

fn shapes() -> Vec<Broken> {
    let unnamed = "says nothing; name the module after the thing it is about";
    let contents = "a function in `mod.rs`, which only declares, documents and re-exports; \
                    move it to a file named after what it does";
    vec![
        Broken::new(
            "length",
            "src/lib.rs",
            "\n".repeat(401),
            "src/lib.rs:401: 401 lines, 400 are allowed; split the file by concern",
        ),
        Broken::new("length", "tests/runs.rs", "\n".repeat(600), ""),
        Broken::new(
            "length",
            "tests/runs.rs",
            "\n".repeat(601),
            "tests/runs.rs:601: 601 lines, 600 are allowed; split the file by concern",
        ),
        Broken::new("names", "src/utils.rs", "", format!("src/utils.rs:1: `utils` {unnamed}")),
        Broken::new("names", "tests/common/world.rs", "", format!("tests/common/world.rs:1: `common` {unnamed}")),
        Broken::new("names", "src/lib.rs", "\nmod helpers {}", format!("src/lib.rs:2: `mod helpers` {unnamed}")),
        Broken::new("mod-files", "src/run/mod.rs", "mod a;\npub fn b() {}", format!("src/run/mod.rs:2: {contents}")),
    ]
}

fn words() -> Vec<Broken> {
    let fix_me = ["FIX", "ME"].concat();
    let later = ["XX", "X"].concat();
    let unwrap = "`.unwrap()`; return an error, or use `expect` with the invariant that rules it out";
    let sleep = "wait for a signal, never for a duration";
    vec![
        Broken::new(
            "forbidden-words",
            "src/lib.rs",
            "fn a() { todo!() }",
            "src/lib.rs:1: `todo!`; finish it, or leave it out",
        ),
        Broken::new(
            "forbidden-words",
            "src/lib.rs",
            "\nfn a() { unimplemented!() }",
            "src/lib.rs:2: `unimplemented!`; finish it, or leave it out",
        ),
        Broken::new("forbidden-words", "src/lib.rs", "dbg!(1);", "src/lib.rs:1: `dbg!`; remove it, or trace the value"),
        Broken::new(
            "forbidden-words",
            "tests/a.rs",
            "#[ignore = \"slow\"]",
            "tests/a.rs:1: `ignore`; make the test run, or delete it",
        ),
        Broken::new(
            "forbidden-words",
            "src/lib.rs",
            format!("/* a\n {fix_me}: b */"),
            format!("src/lib.rs:2: `{fix_me}`; fix it, or open an issue and say in the comment what holds today"),
        ),
        Broken::new(
            "forbidden-words",
            "src/lib.rs",
            format!("// {later} later"),
            format!("src/lib.rs:1: `{later}`; say what is meant"),
        ),
        Broken::new("aborting-calls", "src/lib.rs", "a().unwrap();", format!("src/lib.rs:1: {unwrap}")),
        Broken::new(
            "aborting-calls",
            "src/lib.rs",
            "#[cfg(test)]\nmod tests {\n    fn a() { b().unwrap() }\n}\nfn c() { d().unwrap() }",
            format!("src/lib.rs:5: {unwrap}"),
        ),
        Broken::new(
            "aborting-calls",
            "src/lib.rs",
            "std::panic!(\"a\")",
            "src/lib.rs:1: `panic!`; return an error, or use `unreachable!` with the invariant that rules it out",
        ),
        Broken::new(
            "sleeping-tests",
            "tests/a.rs",
            "std::thread::sleep(a);",
            format!("tests/a.rs:1: `thread::sleep`; {sleep}"),
        ),
        Broken::new(
            "sleeping-tests",
            "src/a.rs",
            "tokio::time::sleep(a).await;\n#[cfg(test)]\nmod tests {\n    tokio::time::sleep(a).await;\n}",
            format!("src/a.rs:4: `time::sleep`; {sleep}"),
        ),
    ]
}

fn pages() -> Vec<Broken> {
    let id = ["R", "-NONE-1"].concat();
    let cited = format!("`{id}` is not in docs/spec.md; correct the id, or add the rule there first");
    let home = ["/ro", "ot/"].concat();
    let person = ["/ho", "me/somebody/"].concat();
    let elsewhere = "exists on one machine only; write a relative path or a placeholder";
    let nowhere = "leads nowhere; correct it, or add the file";
    vec![
        Broken::new("citations", "src/lib.rs", format!("\n/// See `{id}`."), format!("src/lib.rs:2: {cited}")),
        Broken::new("citations", "docs/guide.md", format!("By {id}."), format!("docs/guide.md:1: {cited}")),
        Broken::new("citations", "docs/spec.md", format!("- A rule, see {id}."), format!("docs/spec.md:1: {cited}")),
        Broken {
            codes: &["UNKNOWN_KEY"],
            ..Broken::new(
                "error-pages",
                "docs/errors/README.md",
                "",
                "crates/core/src/codes.rs:7: `UNKNOWN_KEY` has no page; \
                 write docs/errors/UNKNOWN_KEY.md: what happened, why, and what to do",
            )
        },
        Broken::new(
            "error-pages",
            "docs/errors/FORGOTTEN.md",
            "",
            "docs/errors/FORGOTTEN.md:1: no error code has this page; \
             delete it, or add the code to crates/core/src/codes.rs",
        ),
        Broken::new("links", "docs/a.md", "\n[b](b.md#c)", format!("docs/a.md:2: the link `b.md#c` {nowhere}")),
        Broken::new("links", "docs/a.md", "[b](/docs/a.md)", format!("docs/a.md:1: the link `/docs/a.md` {nowhere}")),
        Broken::new("links", "a.md", "[b](../a.md)", format!("a.md:1: the link `../a.md` {nowhere}")),
        Broken::new(
            "links",
            "a.md",
            "```\n[b](c.md)\n```\n[b](a.md) [d](docs/d.md)",
            format!("a.md:4: the link `docs/d.md` {nowhere}"),
        ),
        Broken::new("machine-paths", "a.toml", format!("b = \"{home}c\""), format!("a.toml:1: `{home}` {elsewhere}")),
        Broken::new(
            "machine-paths",
            ".ci/run",
            format!("\ncd {person}x"),
            format!(".ci/run:2: `{person}` {elsewhere}"),
        ),
    ]
}
