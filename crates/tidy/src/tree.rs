//! The files the rules look at.

use std::path::Path;
use std::{fs, io};

use crate::source::{Line, split};

/// Folders that hold what was built, found or fetched, not what was written.
const SKIPPED: [&str; 4] = ["target", "fuzz/artifacts", "fuzz/corpus", "node_modules"];

/// Hidden folders that belong to the project; all others are somebody's private business.
const HIDDEN_BUT_OURS: [&str; 4] = [".cargo", ".ci", ".config", ".github"];

/// The text files of a source tree, sorted by path.
#[derive(Debug)]
pub struct Tree {
    pub(crate) files: Vec<File>,
    /// Every path, text or not, and every folder: what a link may point to.
    paths: Vec<String>,
}

/// One text file.
#[derive(Debug)]
pub struct File {
    /// Path from the root, with `/` between its parts.
    pub path: String,
    pub text: String,
    /// The lines as Rust sees them; empty for other languages.
    pub rust: Vec<Line>,
}

impl File {
    /// The lines with their numbers, from 1.
    pub fn numbered(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.lines())
    }

    /// The Rust lines with their numbers, from 1.
    pub fn numbered_rust(&self) -> impl Iterator<Item = (usize, &Line)> {
        (1..).zip(&self.rust)
    }

    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    pub fn is_rust(&self) -> bool {
        has_extension(&self.path, "rs")
    }

    pub fn is_markdown(&self) -> bool {
        has_extension(&self.path, "md")
    }
}

impl Tree {
    /// Reads every text file below `root`, except built and hidden folders. Symbolic links are not followed.
    ///
    /// # Errors
    ///
    /// A folder or file that cannot be read.
    pub fn read(root: &Path) -> io::Result<Self> {
        let mut tree = Self { files: Vec::new(), paths: Vec::new() };
        tree.walk(root, "")?;
        tree.files.sort_by(|left, right| left.path.cmp(&right.path));
        tree.paths.sort();
        Ok(tree)
    }

    /// Whether there is a file or a folder at this path.
    pub(crate) fn has(&self, path: &str) -> bool {
        path.is_empty() || self.paths.binary_search_by(|known| known.as_str().cmp(path)).is_ok()
    }

    pub(crate) fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.is_rust())
    }

    pub(crate) fn markdown(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.is_markdown())
    }

    fn walk(&mut self, folder: &Path, prefix: &str) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
            let kind = entry.file_type()?;
            if kind.is_dir() {
                let hidden = name.starts_with('.') && !HIDDEN_BUT_OURS.contains(&name.as_str());
                if hidden || SKIPPED.iter().any(|skipped| *skipped == name || *skipped == path) {
                    continue;
                }
                self.walk(&entry.path(), &path)?;
            } else if kind.is_file()
                && let Some(text) = text_of(fs::read(entry.path())?)
            {
                let rust = if has_extension(&path, "rs") { split(&path, &text) } else { Vec::new() };
                self.files.push(File { path: path.clone(), text, rust });
            }
            self.paths.push(path);
        }
        Ok(())
    }
}

fn has_extension(path: &str, extension: &str) -> bool {
    Path::new(path).extension().is_some_and(|found| found == extension)
}

/// The content as text, or nothing when it is binary.
fn text_of(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}
