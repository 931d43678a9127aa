//! Templates with values in them, shells to run them, and a directory with a canary in mind.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sprag_core::shell::{Bound, Piece};

/// Splits `{{x}}` (a value) and `{{u}}` (an unquoted value) out of a template.
pub fn pieces(template: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut text = 0;
    for (at, _) in template.match_indices("{{") {
        let unquoted = match template.get(at..at + 5) {
            Some("{{x}}") => false,
            Some("{{u}}") => true,
            _ => continue,
        };
        pieces.push(Piece::Text(&template[text..at]));
        pieces.push(Piece::Value { unquoted });
        text = at + 5;
    }
    pieces.push(Piece::Text(&template[text..]));
    pieces
}

/// A shell that may be `/bin/sh` somewhere.
#[derive(Clone, Copy, Debug)]
pub struct Shell {
    pub program: &'static str,
    pub arguments: &'static [&'static str],
}

const CANDIDATES: [Shell; 5] = [
    Shell { program: "/bin/sh", arguments: &[] },
    Shell { program: "dash", arguments: &[] },
    Shell { program: "bash", arguments: &["--posix"] },
    Shell { program: "bash", arguments: &[] },
    Shell { program: "busybox", arguments: &["sh"] },
];

/// The shells of this machine; `dash` only where it is not `/bin/sh` already.
pub fn shells() -> Vec<Shell> {
    let sh_is_dash = std::fs::canonicalize("/bin/sh").is_ok_and(|path| path.ends_with("dash"));
    CANDIDATES
        .into_iter()
        .filter(|shell| !(shell.program == "dash" && sh_is_dash))
        .filter(|shell| {
            let mut command = Command::new(shell.program);
            command.args(shell.arguments).args(["-c", ":"]).stdin(Stdio::null());
            command.output().is_ok_and(|output| output.status.success())
        })
        .collect()
}

/// Runs a bound script in a directory and returns what it wrote to its output.
pub fn run(shell: Shell, bound: &Bound, directory: &Path) -> Vec<u8> {
    let output = Command::new(shell.program)
        .args(shell.arguments)
        .args(["-c", &bound.script])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("LANG", "C.UTF-8")
        .envs(bound.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    output.stdout
}

/// A directory of its own, removed at the end.
pub struct Directory(pub PathBuf);

impl Directory {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("shell-scan-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// What the scripts left behind.
    pub fn entries(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A random number generator that needs no crate: the same seed gives the same scripts everywhere.
pub struct Lcg(u64);

impl Lcg {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    pub fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}
