//! Words, reserved words and pipelines: as much of the shell's grammar as decides what a word is for.
//!
//! Positions are byte offsets into the scanned text; they say which values belong to a command.

use std::ops::Range;

use super::compound::Compound;
use super::heredoc::Delimiter;
use super::program::Program;
use super::reason::Reason;
use super::word::{Word, is_name};

/// What the next word is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Simple,
    ForName,
    ForIn,
    ForWords,
    CaseWord,
    CaseIn,
    CasePattern {
        opened: bool,
        words: bool,
    },
    /// After `name(`.
    FunctionParenthesis,
    /// After a compound command.
    Closed,
    DoubleBracket,
}

/// What a redirection does with the next word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Redirect {
    File,
    Descriptor,
    HereString,
}

/// What separates two commands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    Pipe,
    Newline,
    Other,
}

/// A stretch of the script whose values are refused for what was found after it: a shell that reads it as code.
pub(super) struct Feed {
    pub(super) range: Range<usize>,
    pub(super) reason: Reason,
}

/// The commands of one bare context: the script itself, or one command substitution.
pub(super) struct Commands {
    pub(super) word: Word,
    /// Here-documents whose bodies begin at the next newline.
    pub(super) pending: Vec<Delimiter>,
    /// Input found to be code, for the scanner to collect.
    pub(super) feeds: Vec<Feed>,
    pub(super) mode: Mode,
    /// No word, assignment or redirection of the current command was read, so reserved words count.
    pub(super) fresh: bool,
    words: usize,
    program: Program,
    redirect: Option<Redirect>,
    here_strings: Vec<Range<usize>>,
    pub(super) compounds: Vec<(Compound, usize)>,
    pub(super) pipeline_start: usize,
    command_start: usize,
    after_pipe: bool,
}

pub(super) type Clear = Result<(), &'static str>;

impl Commands {
    pub(super) fn new(at: usize) -> Self {
        Self {
            word: Word::default(),
            pending: Vec::new(),
            feeds: Vec::new(),
            mode: Mode::Simple,
            fresh: true,
            words: 0,
            program: Program::Absent,
            redirect: None,
            here_strings: Vec::new(),
            compounds: Vec::new(),
            pipeline_start: at,
            command_start: at,
            after_pipe: false,
        }
    }

    /// Begins a word unless one has begun.
    pub(super) fn start_word(&mut self, at: usize) {
        if self.word.start.is_none() {
            self.word.start = Some(at);
            if self.fresh {
                self.command_start = at;
            }
        }
    }

    /// Why a value at this point of the word is refused; `None` if its quoting alone decides.
    pub(super) fn refusal(&self) -> Option<Reason> {
        match (self.redirect, self.mode) {
            (Some(Redirect::File | Redirect::HereString), _)
            | (None, Mode::ForWords | Mode::CaseWord | Mode::CasePattern { .. }) => None,
            (Some(Redirect::Descriptor), _) => {
                Some(Reason::Unclear { because: "`>&` takes a number in `sh`, and also a file in bash" })
            }
            (None, Mode::Simple) => self.program.refusal(&self.word),
            (None, Mode::DoubleBracket) => Some(Reason::DoubleBracketTest),
            (None, Mode::ForName | Mode::ForIn | Mode::CaseIn | Mode::FunctionParenthesis | Mode::Closed) => {
                Some(Reason::Unclear { because: "the shell expects a word of its own here" })
            }
        }
    }

    pub(super) fn in_double_brackets(&self) -> bool {
        self.mode == Mode::DoubleBracket
    }

    pub(super) fn expects_target(&self) -> bool {
        self.redirect.is_some()
    }

    /// At the start of a command, where `((` is arithmetic in bash and two subshells in dash.
    pub(super) fn at_command_start(&self) -> bool {
        self.mode == Mode::Simple && self.fresh && self.redirect.is_none()
    }

    /// Ends the word, if there is one.
    pub(super) fn end_word(&mut self, at: usize) -> Clear {
        let Some(start) = self.word.start else {
            return Ok(());
        };
        let word = std::mem::take(&mut self.word);
        if let Some(redirect) = self.redirect.take() {
            if redirect == Redirect::HereString {
                self.here_strings.push(start..at);
            }
            return Ok(());
        }
        match self.mode {
            Mode::Simple => self.simple_word(&word, start),
            Mode::ForName => {
                self.mode = Mode::ForIn;
                if is_name(word.reserved_text().as_bytes()) { Ok(()) } else { Err("`for` without a name") }
            }
            Mode::ForIn => match word.reserved_text() {
                "in" => {
                    self.mode = Mode::ForWords;
                    Ok(())
                }
                "do" => self.reserved("do", start).map(drop),
                _ => Err("`for` without `in` or `do`"),
            },
            Mode::ForWords => Ok(()),
            Mode::CaseWord => {
                self.mode = Mode::CaseIn;
                Ok(())
            }
            Mode::CaseIn if word.reserved_text() == "in" => {
                self.mode = case_pattern();
                Ok(())
            }
            Mode::CaseIn => Err("`case` without `in`"),
            Mode::CasePattern { opened: false, words: false } if word.reserved_text() == "esac" => {
                self.close(Compound::Case)
            }
            Mode::CasePattern { words: true, .. } => Err("two words in a pattern of `case`"),
            Mode::CasePattern { opened, words: false } => {
                self.mode = Mode::CasePattern { opened, words: true };
                Ok(())
            }
            Mode::FunctionParenthesis => Err("a parenthesis after a word"),
            Mode::Closed if closes_or_goes_on(word.reserved_text()) => {
                self.reserved(word.reserved_text(), start).map(drop)
            }
            Mode::Closed => Err("a word after a compound command"),
            Mode::DoubleBracket => {
                if word.reserved_text() == "]]" {
                    self.mode = Mode::Closed;
                }
                Ok(())
            }
        }
    }

    fn simple_word(&mut self, word: &Word, start: usize) -> Clear {
        if self.fresh && self.reserved(word.reserved_text(), start)? {
            return Ok(());
        }
        self.fresh = false;
        self.after_pipe = false;
        if !(word.assignment && matches!(self.program, Program::Absent)) {
            self.words += 1;
        }
        self.program.take(word)
    }

    pub(super) fn begin_command(&mut self, at: usize) {
        self.mode = Mode::Simple;
        self.fresh = true;
        self.words = 0;
        self.program = Program::Absent;
        self.command_start = at;
        self.after_pipe = false;
    }

    /// A redirection begins; a number directly before it is its descriptor and no word.
    pub(super) fn redirect(&mut self, redirect: Option<Redirect>, at: usize) -> Clear {
        if self.word.is_descriptor() {
            self.word = Word::default();
        }
        self.end_word(at)?;
        if self.redirect.is_some() || !matches!(self.mode, Mode::Simple | Mode::Closed) {
            return Err("a redirection where none can stand");
        }
        self.fresh = false;
        self.redirect = redirect;
        Ok(())
    }

    /// A separator between commands, or between the parts of one.
    pub(super) fn separate(&mut self, separator: Separator, at: usize) -> Clear {
        self.end_word(at)?;
        if self.redirect.is_some() {
            return Err("a redirection without a target");
        }
        match self.mode {
            Mode::Simple | Mode::Closed => self.end_command(separator, at),
            Mode::ForIn | Mode::CaseIn | Mode::DoubleBracket | Mode::CasePattern { opened: false, words: false }
                if separator == Separator::Newline => {}
            Mode::ForIn | Mode::ForWords if separator != Separator::Pipe => self.begin_command(at),
            Mode::CasePattern { opened, words: true } if separator == Separator::Pipe => {
                self.mode = Mode::CasePattern { opened, words: false };
            }
            _ => return Err("an operator where none can stand"),
        }
        Ok(())
    }

    /// `;;` ends one branch of a `case`.
    pub(super) fn end_branch(&mut self, at: usize) -> Clear {
        self.separate(Separator::Other, at)?;
        if self.mode != Mode::Simple || self.compounds.last().map(|open| open.0) != Some(Compound::Case) {
            return Err("`;;` outside `case`");
        }
        self.mode = case_pattern();
        Ok(())
    }

    fn end_command(&mut self, separator: Separator, at: usize) {
        if let Some(command) = self.program.reads_code() {
            for delimiter in &mut self.pending {
                if delimiter.at >= self.pipeline_start {
                    delimiter.read_as_code_by = Some(command.clone());
                }
            }
            let reason = Reason::Reevaluated { command };
            let before = self.pipeline_start..self.command_start;
            for range in self.here_strings.drain(..).chain(std::iter::once(before)) {
                let reason = reason.clone();
                self.feeds.push(Feed { range, reason });
            }
        }
        self.here_strings.clear();
        let pipeline_goes_on = match separator {
            Separator::Pipe => true,
            Separator::Newline => self.fresh && self.after_pipe,
            Separator::Other => false,
        };
        self.begin_command(at);
        if pipeline_goes_on {
            self.after_pipe = true;
        } else {
            self.pipeline_start = at;
        }
    }

    pub(super) fn open_parenthesis(&mut self, at: usize) -> Clear {
        self.end_word(at)?;
        match self.mode {
            Mode::CasePattern { opened: false, words: false } => {
                self.mode = Mode::CasePattern { opened: true, words: false };
            }
            Mode::Simple if self.fresh => self.open(Compound::Subshell, Mode::Simple, at),
            Mode::Simple if self.words == 1 => self.mode = Mode::FunctionParenthesis,
            Mode::DoubleBracket => {}
            _ => return Err("a parenthesis after a word; `name=(` is an array in bash only"),
        }
        Ok(())
    }

    /// A closing parenthesis; true if it closes this whole context.
    pub(super) fn close_parenthesis(&mut self, at: usize) -> Result<bool, &'static str> {
        self.end_word(at)?;
        match self.mode {
            Mode::CasePattern { words: true, .. } | Mode::FunctionParenthesis => {
                self.begin_command(at);
                self.pipeline_start = at;
            }
            Mode::DoubleBracket => {}
            Mode::Simple | Mode::Closed => {
                self.separate(Separator::Other, at)?;
                if self.compounds.is_empty() {
                    return Ok(true);
                }
                self.close(Compound::Subshell)?;
            }
            _ => return Err("a closing parenthesis where none can stand"),
        }
        Ok(false)
    }

    /// `((…))` was read as one command.
    pub(super) fn close_double_parenthesis(&mut self) {
        self.mode = Mode::Closed;
        self.fresh = false;
    }
}

fn case_pattern() -> Mode {
    Mode::CasePattern { opened: false, words: false }
}

/// The reserved words that may follow a compound command directly.
fn closes_or_goes_on(text: &str) -> bool {
    matches!(text, "then" | "elif" | "else" | "do" | "fi" | "done" | "esac" | "}")
}
