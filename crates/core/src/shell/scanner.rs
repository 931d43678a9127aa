//! The scan: a stack of quoting contexts, one step per character or construct, no recursion.

use std::collections::VecDeque;

use super::grammar::{Commands, Feed};
use super::heredoc::Delimiter;
use super::piece::{Piece, Placement, SPLICED, Source, VALUE};
use super::reason::{Misplaced, Reason};
use super::word::{Holds, Word};

/// A step either keeps the scan certain or says why it no longer is.
pub(super) type Clear = Result<(), &'static str>;

/// A quoting context.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    /// Bare text. Its words are on top of [`Scanner::commands`].
    Commands,
    /// Double quotes.
    DoubleQuotes(Quotes),
    /// The body of a here-document, first in the last of [`Scanner::bodies`].
    HereDocument,
    /// `${…}`.
    Parameter(Around),
    /// `$((…))`, with the parentheses open in it.
    Arithmetic(usize),
    /// `((…))`, with the parentheses open in it.
    DoubleParenthesis(usize),
}

/// What double quotes belong to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotes {
    /// A word of the commands around them.
    Word,
    /// The same, after a dollar sign.
    DollarWord,
    /// A `${…}` in bare text.
    Parameter,
    /// A `${…}` that is itself inside double quotes.
    QuotedParameter,
}

/// What a `${…}` stands in, which decides what quotes mean inside it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Around {
    Bare,
    DoubleQuotes,
    HereDocument,
}

/// A frame on the stack.
struct Open {
    frame: Frame,
    /// Why any value inside is refused, however deep.
    refusal: Option<Reason>,
    start: usize,
}

type Outcome = Result<Placement, Reason>;

/// The state of one scan.
pub(super) struct Scanner<'s> {
    pub(super) bytes: &'s [u8],
    pub(super) at: usize,
    /// One entry per frame of kind [`Frame::Commands`].
    pub(super) commands: Vec<Commands>,
    /// Here-documents being read; each entry is a queue whose first is open.
    pub(super) bodies: Vec<VecDeque<Delimiter>>,
    /// Here-documents, in all commands, whose bodies have not begun.
    pub(super) pending: usize,
    frames: Vec<Open>,
    /// The values met so far, with their offsets.
    outcomes: Vec<(usize, Outcome)>,
    /// Stretches whose values are refused for what came after them.
    feeds: Vec<Feed>,
}

/// Finds the placement of every value, in order (`R-EXPR-2`).
///
/// # Errors
/// All misplaced values at once, in order.
pub fn place_values(pieces: &[Piece<'_>]) -> Result<Vec<Placement>, Vec<Misplaced>> {
    let source = Source::new(pieces);
    let mut scanner = Scanner {
        bytes: &source.bytes,
        at: 0,
        commands: Vec::new(),
        bodies: Vec::new(),
        pending: 0,
        frames: Vec::new(),
        outcomes: Vec::new(),
        feeds: Vec::new(),
    };
    let stopped = scanner.run();
    scanner.refuse_fed();
    let mut outcomes = scanner.outcomes.into_iter().map(|(_, outcome)| outcome);

    let mut placements = Vec::with_capacity(source.pieces.len());
    let mut misplaced = Vec::new();
    for &piece in &source.pieces {
        let outcome = outcomes.next();
        let outcome = match pieces.get(piece) {
            Some(Piece::Value { unquoted: true }) => Ok(Placement::Unquoted),
            _ => outcome.unwrap_or_else(|| {
                let because = stopped.err().unwrap_or("the scan ended before the value");
                Err(Reason::Unclear { because })
            }),
        };
        match outcome {
            Ok(placement) => placements.push(placement),
            Err(reason) => misplaced.push(Misplaced { piece, reason }),
        }
    }
    if misplaced.is_empty() { Ok(placements) } else { Err(misplaced) }
}

impl Scanner<'_> {
    fn run(&mut self) -> Clear {
        if self.bytes.contains(&0) {
            return Err("the script contains a NUL character");
        }
        self.push_commands(None);
        while let Some(byte) = self.peek(0) {
            match self.frame() {
                Frame::Commands => self.step_bare(byte)?,
                Frame::DoubleQuotes(quotes) => self.step_double_quotes(byte, quotes)?,
                Frame::HereDocument => self.step_here_document(byte)?,
                Frame::Parameter(around) => self.step_parameter(byte, around)?,
                Frame::Arithmetic(depth) | Frame::DoubleParenthesis(depth) => {
                    self.step_arithmetic(byte, depth)?;
                }
            }
        }
        self.finish()
    }

    /// The end of the script. What is still open will be a syntax error or, for here-documents, a warning; values
    /// inside are refused because nobody meant that.
    fn finish(&mut self) -> Clear {
        if let Some(open) = self.frames.get(1) {
            let because = "a quote, an expansion or a here-document is never closed";
            self.feeds.push(Feed { range: open.start..self.bytes.len(), reason: Reason::Unclear { because } });
            return Err(because);
        }
        let at = self.at;
        let ended = self.commands_mut().separate(super::grammar::Separator::Other, at);
        self.collect_feeds();
        ended
    }

    /// One step in bare text.
    fn step_bare(&mut self, byte: u8) -> Clear {
        let at = self.at;
        match byte {
            b' ' | b'\t' => {
                self.commands_mut().end_word(at)?;
                self.at += 1;
                return Ok(());
            }
            b'\n' => return self.bare_newline(),
            b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' => return self.operator(byte),
            b'#' if self.commands_mut().word.start.is_none() => return self.comment(),
            b'\\' if self.peek(1) == Some(b'\n') => return self.continuation(),
            _ => self.commands_mut().start_word(at),
        }
        match byte {
            b'\'' => self.single_quotes(),
            b'"' => {
                self.word_mut().push_quotes();
                self.push(Frame::DoubleQuotes(Quotes::Word), None);
                self.at += 1;
                Ok(())
            }
            b'\\' => {
                self.escape(true);
                Ok(())
            }
            b'$' => self.dollar(),
            b'`' => self.backticks(),
            VALUE | SPLICED => {
                self.value(Placement::Bare);
                Ok(())
            }
            byte => {
                self.word_mut().push_literal(byte, false);
                self.at += 1;
                Ok(())
            }
        }
    }

    /// A value at the current byte, in a context that allows it.
    pub(super) fn value(&mut self, placement: Placement) {
        let outcome = self.refusal_here().map_or(Ok(placement), Err);
        self.outcomes.push((self.at, outcome));
        self.at += 1;
        if !matches!(self.frame(), Frame::HereDocument) {
            self.word_mut().push_unknown(Holds::Value);
        }
    }

    /// A value in a comment: no word has it, so only the contexts around can refuse it.
    pub(super) fn unread_value(&mut self) {
        let refusal = self.frames.last().and_then(|open| open.refusal.clone());
        self.outcomes.push((self.at, refusal.map_or(Ok(Placement::Bare), Err)));
    }

    /// Refuses the value at the current byte; the caller moves on.
    pub(super) fn refuse(&mut self, reason: Reason) {
        self.outcomes.push((self.at, Err(reason)));
    }

    /// Notes the input that turned out to be code; its values are refused at the end, all in one pass.
    pub(super) fn collect_feeds(&mut self) {
        let feeds = std::mem::take(&mut self.commands_mut().feeds);
        self.feeds.extend(feeds);
    }

    /// Refuses the accepted values in each range.
    fn refuse_fed(&mut self) {
        let mut feeds = std::mem::take(&mut self.feeds);
        feeds.sort_by_key(|feed| feed.range.start);
        let mut feeds = feeds.into_iter().peekable();
        let mut reaching: Option<Feed> = None;
        for (at, outcome) in &mut self.outcomes {
            while let Some(feed) = feeds.next_if(|feed| feed.range.start <= *at) {
                let end = reaching.as_ref().map_or(0, |reaching| reaching.range.end);
                if feed.range.end > end {
                    reaching = Some(feed);
                }
            }
            if let Some(feed) = reaching.as_ref().filter(|feed| *at < feed.range.end)
                && outcome.is_ok()
            {
                *outcome = Err(feed.reason.clone());
            }
        }
    }

    /// Why a value here would be refused, apart from its quoting.
    pub(super) fn refusal_here(&self) -> Option<Reason> {
        let open = self.frames.last()?;
        let commands = self.commands.last()?;
        open.refusal.clone().or_else(|| match open.frame {
            Frame::Commands | Frame::DoubleQuotes(Quotes::Word) => commands.refusal(),
            Frame::DoubleQuotes(Quotes::DollarWord) => Some(Reason::DollarDoubleQuotes),
            Frame::HereDocument => self.body_refusal(),
            Frame::DoubleQuotes(_) | Frame::Parameter(_) | Frame::Arithmetic(_) | Frame::DoubleParenthesis(_) => None,
        })
    }

    pub(super) fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    /// The innermost context. The outermost one is never popped.
    pub(super) fn frame(&self) -> Frame {
        self.frames.last().map_or(Frame::Commands, |open| open.frame)
    }

    pub(super) fn set_frame(&mut self, frame: Frame) {
        if let Some(open) = self.frames.last_mut() {
            open.frame = frame;
        }
    }

    /// Enters a context; all values in it are refused if the ones around it are, or for `refusal`.
    pub(super) fn push(&mut self, frame: Frame, refusal: Option<Reason>) {
        let around = self.frames.last().and_then(|open| open.refusal.clone());
        self.frames.push(Open { frame, refusal: around.or(refusal), start: self.at });
    }

    pub(super) fn push_commands(&mut self, refusal: Option<Reason>) {
        self.push(Frame::Commands, refusal);
        self.commands.push(Commands::new(self.at));
    }

    pub(super) fn pop(&mut self) {
        self.frames.pop();
    }

    pub(super) fn in_substitution(&self) -> bool {
        self.commands.len() > 1
    }

    /// The word being read in the innermost bare context.
    pub(super) fn word_mut(&mut self) -> &mut Word {
        &mut self.commands_mut().word
    }

    /// The commands of the innermost bare context.
    ///
    /// # Panics
    /// Never: [`Scanner::run`] pushes the first and [`Scanner::close_substitution`] keeps it.
    pub(super) fn commands_mut(&mut self) -> &mut Commands {
        self.commands.last_mut().expect("the script itself is never closed")
    }
}
