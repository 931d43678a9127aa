//! Reserved words and the compound commands they open and close.

use super::grammar::{Clear, Commands, Mode};

/// What `fi`, `done`, `esac`, `}` and `)` close.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Compound {
    If,
    Loop,
    Case,
    Brace,
    Subshell,
}

impl Commands {
    /// Acts on a reserved word; false if the word is none.
    pub(super) fn reserved(&mut self, text: &str, at: usize) -> Result<bool, &'static str> {
        match text {
            "if" => self.open(Compound::If, Mode::Simple, at),
            "while" | "until" => self.open(Compound::Loop, Mode::Simple, at),
            "for" => self.open(Compound::Loop, Mode::ForName, at),
            "case" => self.open(Compound::Case, Mode::CaseWord, at),
            "{" => self.open(Compound::Brace, Mode::Simple, at),
            "[[" => self.mode = Mode::DoubleBracket,
            "!" => {}
            "then" | "elif" | "else" => self.go_on(Compound::If, at)?,
            "do" => self.go_on(Compound::Loop, at)?,
            "fi" => self.close(Compound::If)?,
            "done" => self.close(Compound::Loop)?,
            "esac" => self.close(Compound::Case)?,
            "}" => self.close(Compound::Brace)?,
            "function" | "select" | "coproc" => {
                return Err("`function`, `select` and `coproc` are words of bash only");
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub(super) fn open(&mut self, compound: Compound, mode: Mode, at: usize) {
        self.compounds.push((compound, self.pipeline_start));
        self.begin_command(at);
        self.pipeline_start = at;
        self.mode = mode;
    }

    fn go_on(&mut self, compound: Compound, at: usize) -> Clear {
        if self.compounds.last().map(|open| open.0) != Some(compound) {
            return Err("`then`, `else` or `do` without its beginning");
        }
        self.begin_command(at);
        self.pipeline_start = at;
        Ok(())
    }

    pub(super) fn close(&mut self, compound: Compound) -> Clear {
        match self.compounds.pop() {
            Some((open, pipeline_start)) if open == compound => {
                self.begin_command(pipeline_start);
                self.pipeline_start = pipeline_start;
                self.mode = Mode::Closed;
                self.fresh = false;
                Ok(())
            }
            _ => Err("`fi`, `done`, `esac` or a closing bracket without its beginning"),
        }
    }
}
