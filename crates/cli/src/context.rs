//! What a command has at hand: the flags that every command takes, and where its words go.

use std::io::Write;
use std::path::{Path, PathBuf};

use anstream::{AutoStream, ColorChoice};
use sprag_engine::Project;
use sprag_engine::guard::GuardProgram;

use crate::arguments::{Everywhere, GUARD};
use crate::failure::Failure;
use crate::printed::Printed;

const NARROWEST: usize = 60;
const WIDEST: usize = 140;

/// Data goes to standard output, everything else to standard error.
pub struct Context {
    /// Whether standard output is exactly JSON.
    pub json: bool,
    /// How wide a report may be.
    pub width: usize,
    /// Whether warnings and remarks are left out.
    pub quiet: bool,
    choice: ColorChoice,
    folder: PathBuf,
    store: Option<String>,
}

impl Context {
    pub fn new(everywhere: Everywhere) -> Self {
        let Everywhere { json, quiet, no_color, folder, store } = everywhere;
        // `Auto` looks at the terminal, `NO_COLOR`, `CLICOLOR` and `TERM`.
        let choice = if no_color { ColorChoice::Never } else { ColorChoice::Auto };
        let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let width = columns.unwrap_or(WIDEST).clamp(NARROWEST, WIDEST);
        Self { json, width, quiet, choice, folder, store }
    }

    /// The project around the working folder.
    pub fn project(&self) -> Result<Project, Failure> {
        Ok(Project::find(&self.folder)?)
    }

    /// The store that was named.
    pub fn store(&self) -> Option<&str> {
        self.store.as_deref()
    }

    /// A file as the person named it, seen from the working folder.
    pub fn path(&self, named: &Path) -> PathBuf {
        if self.folder == Path::new(".") || named == Path::new("-") {
            named.to_owned()
        } else {
            self.folder.join(named)
        }
    }

    /// Writes data.
    pub fn data(&self, text: &str) -> Result<(), Failure> {
        let mut out = AutoStream::new(std::io::stdout().lock(), self.choice);
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::standard_output)
    }

    /// Where what commands printed goes.
    pub fn printed(&self) -> Printed {
        let colours = match self.choice {
            ColorChoice::Auto => AutoStream::choice(&std::io::stdout()) != ColorChoice::Never,
            choice => choice != ColorChoice::Never,
        };
        Printed::new(colours)
    }

    /// Writes one JSON document.
    pub fn document(&self, document: &serde_json::Value) -> Result<(), Failure> {
        self.data(&format!("{document}\n"))
    }

    /// Says something to the person that is neither data nor an error.
    pub fn say(&self, text: &str) {
        if !self.quiet {
            self.complain(text);
        }
    }

    /// Says what went wrong. If even that cannot be written, the exit code has to do.
    pub fn complain(&self, text: &str) {
        let mut out = AutoStream::new(std::io::stderr().lock(), self.choice);
        drop(out.write_all(text.as_bytes()));
    }
}

/// How sprag starts its own guard.
pub fn guard_program() -> GuardProgram {
    GuardProgram::same_binary([GUARD])
}

/// Who is at the keyboard, for the record.
pub fn person() -> String {
    let named = ["SPRAG_USER", "USER", "LOGNAME"].into_iter().find_map(|name| std::env::var(name).ok());
    named.filter(|name| !name.is_empty()).unwrap_or_else(|| "somebody".into())
}
