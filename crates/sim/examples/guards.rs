//! Removes the guards of the core one at a time and shows that a test notices each.
//!
//! `cargo run -p sprag-sim --example guards [NAME…]` copies the workspace, replaces the text of one guard, runs the
//! tests of the core and the simulator, and expects them to fail. A guard whose removal nobody notices is a guard that
//! nobody holds. `crates/sim/guards.toml` lists them; the scenarios check that every text of the list still exists.

#![allow(clippy::print_stdout, reason = "it reports to a person")]

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};
use std::time::Instant;

use serde::Deserialize;

#[derive(Deserialize)]
struct Guards {
    guard: Vec<Guard>,
}

#[derive(Deserialize)]
struct Guard {
    name: String,
    file: String,
    find: String,
    replace: String,
}

enum Verdict {
    Caught(String),
    Survived,
    DoesNotBuild(String),
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let guards: Guards = toml::from_str(&fs::read_to_string(root.join("crates/sim/guards.toml"))?)?;
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let scratch = root.join("target/guards");
    let copy = scratch.join("tree");
    if copy.exists() {
        fs::remove_dir_all(&copy)?;
    }
    fs::create_dir_all(&copy)?;
    for part in ["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "bench", "crates", "docs", "examples"] {
        copy_tree(&root.join(part), &copy.join(part))?;
    }
    let tests = Tests { copy: copy.clone(), target: scratch.join("build") };
    if let Verdict::Caught(test) | Verdict::DoesNotBuild(test) = tests.verdict()? {
        println!("the tests fail before any guard is removed: {test}");
        return Ok(ExitCode::FAILURE);
    }
    let mut open = 0;
    for guard in guards.guard.iter().filter(|guard| wanted.is_empty() || wanted.contains(&guard.name)) {
        let began = Instant::now();
        let file = copy.join(&guard.file);
        let text = fs::read_to_string(&file)?;
        if text.matches(&guard.find).count() != 1 {
            println!("STALE     {}: its text is not in {} exactly once", guard.name, guard.file);
            open += 1;
            continue;
        }
        fs::write(&file, text.replacen(&guard.find, &guard.replace, 1))?;
        let verdict = tests.verdict();
        fs::write(&file, &text)?;
        let seconds = began.elapsed().as_secs();
        match verdict? {
            Verdict::Caught(by) => println!("caught    {} by {by} ({seconds} s)", guard.name),
            Verdict::Survived => {
                open += 1;
                println!("SURVIVED  {} ({seconds} s)", guard.name);
            }
            Verdict::DoesNotBuild(error) => {
                open += 1;
                println!("NO BUILD  {}: {error}", guard.name);
            }
        }
    }
    println!("{} guards, {open} open", guards.guard.len());
    Ok(if open == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

struct Tests {
    copy: PathBuf,
    target: PathBuf,
}

impl Tests {
    fn cargo(&self, arguments: &[&str]) -> Result<Output, Box<dyn Error>> {
        Ok(Command::new(env!("CARGO"))
            .args(arguments)
            .current_dir(&self.copy)
            .env("CARGO_TARGET_DIR", &self.target)
            .output()?)
    }

    /// Most guards are caught by a story or by the tests of the stores; only those that are not need everything else.
    fn verdict(&self) -> Result<Verdict, Box<dyn Error>> {
        let stories = "not test(guards::) and not test(generated::) and not test(crashes::) and not test(products::) \
                       and not test(files::) and not test(unavailable::)";
        let rest = "not test(guards::) and not test(load::) and not test(shell::) and not test(expr::)";
        let all = ["-p", "sprag-core", "-p", "sprag-store", "-p", "sprag-engine", "-p", "sprag-sim"];
        for (packages, chosen) in [(&["-p", "sprag-sim"][..], stories), (&["-p", "sprag-store"], "all()"), (&all, rest)]
        {
            match self.pass(packages, chosen)? {
                Verdict::Survived => {}
                verdict => return Ok(verdict),
            }
        }
        Ok(Verdict::Survived)
    }

    /// Builds first, so that a guard that cannot be removed is not mistaken for one that is held.
    fn pass(&self, packages: &[&str], chosen: &str) -> Result<Verdict, Box<dyn Error>> {
        let build = self.cargo(&[&["nextest", "run", "--no-run", "--locked"][..], packages].concat())?;
        if !build.status.success() {
            let said = String::from_utf8_lossy(&build.stderr);
            let first = said.lines().find(|line| line.starts_with("error")).unwrap_or("?").to_owned();
            return Ok(Verdict::DoesNotBuild(first));
        }
        let run = [&["nextest", "run", "--locked", "--fail-fast", "-E", chosen][..], packages].concat();
        let ran = self.cargo(&run)?;
        if ran.status.success() {
            return Ok(Verdict::Survived);
        }
        let said = String::from_utf8_lossy(&ran.stderr);
        let failed = said.lines().find(|line| line.trim_start().starts_with("FAIL") || line.contains("TIMEOUT"));
        let test = failed.and_then(|line| line.split_whitespace().last()).unwrap_or("?");
        Ok(Verdict::Caught(test.to_owned()))
    }
}

fn copy_tree(from: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    if from.is_dir() {
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy_tree(&entry.path(), &to.join(entry.file_name()))?;
        }
    } else {
        fs::copy(from, to)?;
    }
    Ok(())
}
