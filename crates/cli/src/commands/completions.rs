//! `sprag completions`: what a shell needs to complete sprag's words.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::arguments::Arguments;
use crate::context::Context;
use crate::failure::{Exit, Failure};

/// Print completions for a shell
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sprag completions bash > ~/.local/share/bash-completion/completions/sprag\n  \
                        sprag completions fish > ~/.config/fish/completions/sprag.fish")]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub fn run(self, context: &Context) -> Result<Exit, Failure> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "sprag", &mut text);
        let text = String::from_utf8_lossy(&text);
        if context.json {
            context.document(&serde_json::json!({ "shell": self.shell.to_string(), "script": text }))?;
        } else {
            context.data(&text)?;
        }
        Ok(Exit::OK)
    }
}
