//! Here-documents: their delimiters, and where their bodies end.
//!
//! Bash cuts the body out line by line before it looks at it; dash looks for the delimiter only at the outermost
//! level of the body. Where the two find different ends the scan stops.

use super::piece::{Placement, SPLICED, VALUE};
use super::reason::Reason;
use super::scanner::{Clear, Frame, Scanner};

/// The deepest nesting of here-documents that is followed; each open one is compared with every line.
const DEPTH_LIMIT: usize = 4;

/// The most here-documents that may wait for one newline; each end of a command looks at all of them.
const PENDING_LIMIT: usize = 32;

/// A here-document whose body is expected or being read.
pub(super) struct Delimiter {
    text: Vec<u8>,
    /// `<<-`: tabs before the delimiter and the lines are dropped.
    strips_tabs: bool,
    /// Nothing in the body is expanded.
    pub(super) quoted: bool,
    /// Where its operator stands.
    pub(super) at: usize,
    /// The command that reads the body as code.
    pub(super) read_as_code_by: Option<String>,
}

impl Delimiter {
    fn line_without_tabs<'l>(&self, line: &'l [u8]) -> &'l [u8] {
        let tabs = if self.strips_tabs { line.iter().take_while(|&&byte| byte == b'\t').count() } else { 0 };
        &line[tabs..]
    }

    /// The line at the start of `rest` ends the body.
    fn ends_at(&self, rest: &[u8]) -> bool {
        self.line_without_tabs(rest)
            .strip_prefix(self.text.as_slice())
            .is_some_and(|after| matches!(after.first(), None | Some(b'\n')))
    }

    /// The line begins with the delimiter and goes on to a parenthesis; bash ends the body there if the parenthesis
    /// can end a command substitution.
    fn ends_early_at(&self, rest: &[u8]) -> bool {
        self.line_without_tabs(rest)
            .strip_prefix(self.text.as_slice())
            .is_some_and(|after| after.iter().take_while(|&&byte| byte != b'\n').any(|&byte| byte == b')'))
    }
}

impl Scanner<'_> {
    /// Reads `<<` and the delimiter after it.
    pub(super) fn here_document(&mut self, at: usize) -> Clear {
        self.commands_mut().redirect(None, at)?;
        self.at += 2;
        let strips_tabs = self.peek(0) == Some(b'-');
        self.at += usize::from(strips_tabs);
        while matches!(self.peek(0), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        let mut delimiter = Delimiter { text: Vec::new(), strips_tabs, quoted: false, at, read_as_code_by: None };
        while let Some(byte) = self.peek(0) {
            match byte {
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' => break,
                b'\'' | b'"' => {
                    delimiter.quoted = true;
                    self.quoted_delimiter(byte, &mut delimiter.text)?;
                    continue;
                }
                b'\\' => {
                    delimiter.quoted = true;
                    self.at += 1;
                    match self.peek(0) {
                        Some(b'\n') | None => {
                            return Err("a delimiter of a here-document on two lines");
                        }
                        Some(byte) => self.delimiter_byte(byte, &mut delimiter.text)?,
                    }
                }
                b'#' if delimiter.text.is_empty() => {
                    return Err("a here-document without a delimiter");
                }
                byte => self.delimiter_byte(byte, &mut delimiter.text)?,
            }
            self.at += 1;
        }
        if delimiter.text.is_empty() {
            return Err("a here-document without a delimiter");
        }
        if self.commands_mut().pending.len() >= PENDING_LIMIT {
            return Err("too many here-documents on one line");
        }
        self.pending += 1;
        self.commands_mut().pending.push(delimiter);
        Ok(())
    }

    fn quoted_delimiter(&mut self, quote: u8, text: &mut Vec<u8>) -> Clear {
        self.at += 1;
        while let Some(byte) = self.peek(0) {
            if byte == quote {
                self.at += 1;
                return Ok(());
            }
            if byte == b'\n' || (byte == b'\\' && quote == b'"') {
                return Err("an escape or a newline in the delimiter of a here-document");
            }
            self.delimiter_byte(byte, text)?;
            self.at += 1;
        }
        Err("an unterminated delimiter of a here-document")
    }

    fn delimiter_byte(&mut self, byte: u8, text: &mut Vec<u8>) -> Clear {
        match byte {
            VALUE => {
                self.refuse(Reason::HereDocumentDelimiter);
                Err("a value in the delimiter of a here-document")
            }
            SPLICED => Err("a value in the delimiter of a here-document"),
            b'$' | b'`' => Err("an expansion in the delimiter of a here-document"),
            0x80.. => Err("a delimiter of a here-document that is not ASCII"),
            byte => {
                text.push(byte);
                Ok(())
            }
        }
    }

    /// The newline after the operators: the bodies begin here, if there are any.
    pub(super) fn begin_bodies(&mut self) -> Clear {
        let pending = std::mem::take(&mut self.commands_mut().pending);
        if pending.is_empty() {
            return Ok(());
        }
        self.pending -= pending.len();
        if self.bodies.len() >= DEPTH_LIMIT {
            return Err("here-documents nested too deeply");
        }
        self.bodies.push(pending.into());
        self.push(Frame::HereDocument, None);
        self.body_line()
    }

    /// At the start of a line of a body: ends it if this is its delimiter.
    fn body_line(&mut self) -> Clear {
        while let Some(delimiter) = self.bodies.last().and_then(|bodies| bodies.front()) {
            let rest = &self.bytes[self.at..];
            if !delimiter.ends_at(rest) {
                if self.in_substitution() && delimiter.ends_early_at(rest) {
                    return Err("a delimiter of a here-document with a parenthesis after it");
                }
                return Ok(());
            }
            let line = rest.iter().position(|&byte| byte == b'\n');
            self.at += line.map_or(rest.len(), |end| end + 1);
            if let Some(bodies) = self.bodies.last_mut() {
                bodies.pop_front();
            }
            // The line after this one may be the delimiter of a body further out.
            let inside = self.bodies.len() - 1;
            self.outer_delimiter(inside)?;
        }
        self.bodies.pop();
        self.pop();
        Ok(())
    }

    /// One step inside a body.
    pub(super) fn step_here_document(&mut self, byte: u8) -> Clear {
        match byte {
            b'\n' => {
                self.at += 1;
                self.outer_delimiter(self.bodies.len() - 1)?;
                self.body_line()
            }
            VALUE | SPLICED => {
                self.value(Placement::HereDocument);
                Ok(())
            }
            _ if self.body_is_quoted() => {
                if byte == b'\\' && self.peek(1) == Some(b'\n') && self.bodies.len() > 1 {
                    return Err("a line ending in a backslash in a here-document inside another");
                }
                self.at += 1;
                Ok(())
            }
            b'\\' => match self.peek(1) {
                Some(VALUE) => {
                    self.at += 1;
                    self.refuse(Reason::Backslash);
                    self.at += 1;
                    Ok(())
                }
                Some(b'\n') => self.continuation(),
                Some(SPLICED) | None => {
                    self.at += 1;
                    Ok(())
                }
                Some(_) => {
                    self.at += 2;
                    Ok(())
                }
            },
            b'$' => self.dollar(),
            b'`' => self.backticks(),
            _ => {
                self.at += 1;
                Ok(())
            }
        }
    }

    fn body_is_quoted(&self) -> bool {
        let body = self.bodies.last().and_then(|bodies| bodies.front());
        body.is_some_and(|delimiter| delimiter.quoted)
    }

    /// Why a value in the current body is refused.
    pub(super) fn body_refusal(&self) -> Option<Reason> {
        let delimiter = self.bodies.last()?.front()?;
        match &delimiter.read_as_code_by {
            Some(command) => Some(Reason::Reevaluated { command: command.clone() }),
            None => delimiter.quoted.then_some(Reason::QuotedHereDocument),
        }
    }

    /// A backslash and a newline. Inside a body bash joins the lines before it looks for the delimiter.
    pub(super) fn continuation(&mut self) -> Clear {
        if !self.bodies.is_empty() {
            let before = &self.bytes[..self.at];
            let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
            for delimiter in self.bodies.iter().filter_map(|bodies| bodies.front()) {
                let line = delimiter.line_without_tabs(&before[line_start..]);
                if delimiter.text.starts_with(line) {
                    return Err("a line of a here-document that a backslash joins to a delimiter");
                }
            }
        }
        self.at += 2;
        // In the body itself the next line continues this one and cannot be its delimiter.
        let itself = usize::from(matches!(self.frame(), Frame::HereDocument));
        self.outer_delimiter(self.bodies.len() - itself)
    }

    /// A newline inside quotes or an expansion, at the current byte.
    pub(super) fn inner_newline(&mut self) -> Clear {
        if self.pending > 0 {
            return Err("a newline inside quotes before the body of a here-document");
        }
        self.at += 1;
        self.outer_delimiter(self.bodies.len())
    }

    /// Stops if a line begins here that ends one of the `count` outermost open bodies, inside something nested.
    pub(super) fn outer_delimiter(&self, count: usize) -> Clear {
        let rest = &self.bytes[self.at..];
        let mut open = self.bodies[..count].iter().filter_map(|bodies| bodies.front());
        if open.any(|delimiter| delimiter.ends_at(rest)) {
            return Err("the delimiter of a here-document inside an expansion in its body");
        }
        Ok(())
    }
}
