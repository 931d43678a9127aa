//! Quotes, backslashes and comments.

use super::piece::{Placement, SPLICED, VALUE};
use super::reason::Reason;
use super::scanner::{Clear, Frame, Quotes, Scanner};
use super::word::Holds;

impl Scanner<'_> {
    /// One step inside double quotes.
    pub(super) fn step_double_quotes(&mut self, byte: u8, quotes: Quotes) -> Clear {
        let in_word = matches!(quotes, Quotes::Word | Quotes::DollarWord);
        match byte {
            b'"' => {
                self.pop();
                self.at += 1;
            }
            b'\\' if self.peek(1) == Some(b'\n') => {
                self.at += 1;
                self.inner_newline()?;
            }
            b'\\' => self.escape(in_word),
            b'$' => self.dollar()?,
            b'`' => self.backticks()?,
            b'\n' => {
                self.inner_newline()?;
                if in_word {
                    self.word_mut().push_literal(b'\n', true);
                }
            }
            b'\'' | b'}' if quotes == Quotes::QuotedParameter => {
                return Err("quotes or braces in double quotes inside a quoted `${…}`");
            }
            VALUE | SPLICED => self.value(Placement::DoubleQuoted),
            byte => {
                if in_word {
                    self.word_mut().push_literal(byte, true);
                }
                self.at += 1;
            }
        }
        Ok(())
    }

    /// A backslash that does not continue the line: the next character is no syntax.
    pub(super) fn escape(&mut self, in_word: bool) {
        let bare = self.frame() == Frame::Commands;
        let next = self.peek(1);
        self.at += 1;
        match next {
            Some(VALUE) => {
                self.refuse(Reason::Backslash);
                self.at += 1;
                self.word_mut().push_unknown(Holds::Value);
            }
            // What the author splices in decides for itself what the backslash does.
            Some(SPLICED) | None => self.word_mut().push_unknown(Holds::Expansion),
            Some(byte) => {
                self.at += 1;
                if in_word {
                    if !bare && !matches!(byte, b'$' | b'`' | b'"' | b'\\') {
                        self.word_mut().push_literal(b'\\', true);
                    }
                    self.word_mut().push_literal(byte, true);
                }
            }
        }
    }

    /// Single quotes; the position is on the opening one.
    pub(super) fn single_quotes(&mut self) -> Clear {
        let in_word = self.frame() == Frame::Commands;
        self.word_mut().push_quotes();
        self.at += 1;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\'' => {
                    self.at += 1;
                    return Ok(());
                }
                VALUE | SPLICED => {
                    let reason = self.refusal_here().unwrap_or(Reason::SingleQuotes);
                    self.refuse(reason);
                    self.word_mut().push_unknown(Holds::Value);
                    self.at += 1;
                }
                b'\n' => self.inner_newline()?,
                _ => self.at += 1,
            }
            if in_word && byte != VALUE && byte != SPLICED {
                self.word_mut().push_literal(byte, true);
            }
        }
        Ok(())
    }

    /// A comment, up to its newline. A value in it is never read.
    pub(super) fn comment(&mut self) -> Clear {
        if self.commands_mut().in_double_brackets() || self.commands_mut().expects_target() {
            return Err("`#` where a word is expected");
        }
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\n' => break,
                b'\\' if self.peek(1) == Some(b'\n') && !self.bodies.is_empty() => {
                    return Err("a comment that ends in a backslash, inside a here-document");
                }
                VALUE | SPLICED => {
                    self.unread_value();
                }
                _ => {}
            }
            self.at += 1;
        }
        Ok(())
    }
}
