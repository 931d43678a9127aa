//! Everything that begins with a dollar sign or a backtick.

use super::piece::{SPLICED, VALUE};
use super::reason::Reason;
use super::scanner::{Around, Clear, Frame, Quotes, Scanner};
use super::word::Holds;

impl Scanner<'_> {
    /// A dollar sign, in any context that expands.
    pub(super) fn dollar(&mut self) -> Clear {
        let bare = matches!(self.frame(), Frame::Commands | Frame::Parameter(Around::Bare));
        match self.peek(1) {
            Some(VALUE) => {
                self.at += 1;
                self.refuse(Reason::DollarSign);
                self.expand(1);
            }
            Some(b'(') => return self.dollar_parenthesis(),
            Some(b'{') => return self.dollar_brace(),
            Some(b'[') => return Err("`$[` is arithmetic in bash only"),
            Some(b'\\') if self.peek(2) == Some(b'\n') => {
                return Err("a dollar sign before a continued line");
            }
            Some(b'\'') if bare => return self.dollar_single_quotes(),
            Some(b'"') if bare => {
                let quotes = match self.frame() {
                    Frame::Commands => Quotes::DollarWord,
                    _ => Quotes::Parameter,
                };
                self.push(Frame::DoubleQuotes(quotes), None);
                self.expand(2);
            }
            Some(b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!' | b'0'..=b'9') => self.expand(2),
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => {
                let name = self.bytes[self.at + 1..]
                    .iter()
                    .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
                    .count();
                self.expand(1 + name);
            }
            _ => {
                if matches!(self.frame(), Frame::Commands | Frame::DoubleQuotes(Quotes::Word)) {
                    self.word_mut().push_literal(b'$', true);
                }
                self.at += 1;
            }
        }
        Ok(())
    }

    /// Moves over text that stands for something else.
    fn expand(&mut self, length: usize) {
        self.at += length;
        if self.frame() != Frame::HereDocument {
            self.word_mut().push_unknown(Holds::Expansion);
        }
    }

    /// `$(` or `$((`.
    fn dollar_parenthesis(&mut self) -> Clear {
        let refusal = self.refusal_here();
        match self.peek(2) {
            Some(b'(') => {
                self.expand(3);
                self.push(Frame::Arithmetic(0), Some(Reason::Arithmetic));
            }
            Some(b'\\') => return Err("a parenthesis before a backslash"),
            _ => {
                self.expand(2);
                self.push_commands(refusal);
            }
        }
        Ok(())
    }

    /// `${`.
    fn dollar_brace(&mut self) -> Clear {
        if matches!(self.peek(2), Some(b' ' | b'\t' | b'\n' | b'|' | b'(' | b'\\')) {
            return Err("`${` without a name");
        }
        let around = match self.frame() {
            Frame::Commands | Frame::Parameter(Around::Bare) => Around::Bare,
            Frame::HereDocument | Frame::Parameter(Around::HereDocument) => Around::HereDocument,
            Frame::DoubleQuotes(_)
            | Frame::Parameter(Around::DoubleQuotes)
            | Frame::Arithmetic(_)
            | Frame::DoubleParenthesis(_) => Around::DoubleQuotes,
        };
        self.expand(2);
        self.push(Frame::Parameter(around), Some(Reason::ParameterExpansion));
        Ok(())
    }

    /// One step inside `${…}`.
    pub(super) fn step_parameter(&mut self, byte: u8, around: Around) -> Clear {
        match (byte, around) {
            (b'}', _) => {
                self.pop();
                self.at += 1;
            }
            (b'\\', _) if self.peek(1) == Some(b'\n') => return self.continuation(),
            (b'\\', _) => self.escape(false),
            (b'\'', Around::Bare) => return self.single_quotes(),
            (b'"', Around::Bare) => {
                self.push(Frame::DoubleQuotes(Quotes::Parameter), None);
                self.at += 1;
            }
            (b'"', Around::DoubleQuotes) => {
                self.push(Frame::DoubleQuotes(Quotes::QuotedParameter), None);
                self.at += 1;
            }
            (b'\'' | b'"', _) => return Err("quotes inside a `${…}` that is quoted itself"),
            (b'$', _) => return self.dollar(),
            (b'`', _) => return self.backticks(),
            (b'\n', _) => return self.inner_newline(),
            (VALUE | SPLICED, _) => self.refused_value(Reason::ParameterExpansion),
            _ => self.at += 1,
        }
        Ok(())
    }

    /// One step inside `$((…))` or `((…))`. Both end at the first balanced `))`; anything that could make one shell
    /// see other parentheses than the next ends the scan.
    pub(super) fn step_arithmetic(&mut self, byte: u8, depth: usize) -> Clear {
        let command = matches!(self.frame(), Frame::DoubleParenthesis(_));
        let with_depth = |depth| {
            if command { Frame::DoubleParenthesis(depth) } else { Frame::Arithmetic(depth) }
        };
        match byte {
            b'(' => {
                self.set_frame(with_depth(depth + 1));
                self.at += 1;
            }
            b')' if depth > 0 => {
                self.set_frame(with_depth(depth - 1));
                self.at += 1;
            }
            b')' if self.peek(1) == Some(b')') => {
                self.pop();
                self.at += 2;
                if command {
                    self.commands_mut().close_double_parenthesis();
                }
            }
            b')' => return Err("`((` that does not end in `))`"),
            b'\'' | b'"' | b'\\' => return Err("quotes inside an arithmetic expression"),
            b'`' | b'#' | b';' if command => {
                return Err("`((` is arithmetic in bash and two subshells in `sh`");
            }
            b'<' if command && self.peek(1) == Some(b'<') => {
                return Err("`((` is arithmetic in bash and two subshells in `sh`");
            }
            b'$' => return self.dollar(),
            b'`' => return self.backticks(),
            b'\n' => return self.inner_newline(),
            VALUE | SPLICED => self.refused_value(Reason::Arithmetic),
            _ => self.at += 1,
        }
        Ok(())
    }

    /// `$'`: in bash a backslash escapes the closing quote, in dash it does not. Without such a backslash all agree
    /// where the quotes end, though not on what they hold.
    fn dollar_single_quotes(&mut self) -> Clear {
        self.expand(2);
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\'' => {
                    self.at += 1;
                    return Ok(());
                }
                b'\\' if self.peek(1) == Some(b'\'') => {
                    return Err("`\\'` ends `$'…'` in `sh`, and does not in bash");
                }
                b'\\' if self.peek(1) == Some(b'\\') => self.at += 2,
                b'\n' => self.inner_newline()?,
                VALUE | SPLICED => self.refused_value(Reason::DollarSingleQuotes),
                _ => self.at += 1,
            }
        }
        Ok(())
    }

    /// Backticks: up to the next one without a backslash, whatever lies between.
    pub(super) fn backticks(&mut self) -> Clear {
        self.expand(1);
        while let Some(byte) = self.peek(0) {
            match byte {
                b'`' => {
                    self.at += 1;
                    return Ok(());
                }
                b'\\' if !matches!(self.peek(1), Some(VALUE | SPLICED | b'\n') | None) => {
                    self.at += 2;
                }
                b'\n' => self.inner_newline()?,
                VALUE | SPLICED => self.refused_value(Reason::Backticks),
                _ => self.at += 1,
            }
        }
        Ok(())
    }

    /// A value that no context around it could make acceptable.
    fn refused_value(&mut self, reason: Reason) {
        self.refuse(reason);
        self.expand(1);
        self.word_mut().push_unknown(Holds::Value);
    }
}
