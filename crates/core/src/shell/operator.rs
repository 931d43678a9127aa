//! Operators of bare text: what separates, groups and redirects commands.

use super::grammar::{Redirect, Separator};
use super::reason::Reason;
use super::scanner::{Clear, Frame, Scanner};
use super::word::Holds;

impl Scanner<'_> {
    /// One operator; the position is on its first character.
    pub(super) fn operator(&mut self, byte: u8) -> Clear {
        if self.commands_mut().in_double_brackets() {
            return self.double_bracket_operator(byte);
        }
        match byte {
            b';' => self.semicolon(),
            b'&' => self.ampersand(),
            b'|' => self.bar(),
            b'(' => self.open_parenthesis(),
            b')' => self.close_parenthesis(),
            _ => self.redirection(byte),
        }
    }

    /// In `[[ … ]]` operators are part of the test in bash, and of commands in dash; either way they are no quotes.
    fn double_bracket_operator(&mut self, byte: u8) -> Clear {
        let at = self.at;
        self.commands_mut().end_word(at)?;
        if !self.commands_mut().in_double_brackets() {
            return self.operator(byte);
        }
        if byte == b';' || (matches!(byte, b'<' | b'>') && matches!(self.peek(1), Some(b'<' | b'('))) {
            return Err("an operator inside `[[` that is not one of its own");
        }
        self.at += 1;
        Ok(())
    }

    fn separate(&mut self, separator: Separator, length: usize) -> Clear {
        let at = self.at;
        let ended = self.commands_mut().separate(separator, at);
        self.collect_feeds();
        self.at += length;
        ended
    }

    fn semicolon(&mut self) -> Clear {
        match (self.peek(1), self.peek(2)) {
            (Some(b'&'), _) | (Some(b';'), Some(b'&')) => Err("`;&` is an operator of bash only"),
            (Some(b';'), _) => {
                let at = self.at;
                let ended = self.commands_mut().end_branch(at);
                self.collect_feeds();
                self.at += 2;
                ended
            }
            _ => self.separate(Separator::Other, 1),
        }
    }

    fn ampersand(&mut self) -> Clear {
        match self.peek(1) {
            Some(b'&') => self.separate(Separator::Other, 2),
            Some(b'>') => Err("`&>` redirects in bash only"),
            _ => self.separate(Separator::Other, 1),
        }
    }

    fn bar(&mut self) -> Clear {
        match self.peek(1) {
            Some(b'|') => self.separate(Separator::Other, 2),
            Some(b'&') => Err("`|&` is an operator of bash only"),
            _ => self.separate(Separator::Pipe, 1),
        }
    }

    fn open_parenthesis(&mut self) -> Clear {
        let at = self.at;
        self.commands_mut().end_word(at)?;
        if self.peek(1) == Some(b'\\') {
            return Err("a parenthesis before a backslash");
        }
        if self.peek(1) == Some(b'(') && self.commands_mut().at_command_start() {
            self.push(Frame::DoubleParenthesis(0), Some(Reason::Arithmetic));
            self.at += 2;
            return Ok(());
        }
        self.commands_mut().open_parenthesis(at)?;
        self.at += 1;
        Ok(())
    }

    fn close_parenthesis(&mut self) -> Clear {
        let at = self.at;
        let closed = self.commands_mut().close_parenthesis(at);
        self.collect_feeds();
        self.at += 1;
        if closed? {
            return self.close_substitution();
        }
        Ok(())
    }

    fn redirection(&mut self, byte: u8) -> Clear {
        let at = self.at;
        let (redirect, length) = match (byte, self.peek(1), self.peek(2)) {
            (b'<', Some(b'<'), Some(b'<')) => (Redirect::HereString, 3),
            (b'<', Some(b'<'), _) => return self.here_document(at),
            (_, Some(b'('), _) => {
                self.process_substitution();
                return Ok(());
            }
            (_, Some(b'&'), _) => (Redirect::Descriptor, 2),
            (b'<', Some(b'>'), _) | (b'>', Some(b'>' | b'|'), _) => (Redirect::File, 2),
            _ => (Redirect::File, 1),
        };
        self.commands_mut().redirect(Some(redirect), at)?;
        self.at += length;
        Ok(())
    }

    /// `<(…)` is a word in bash and an error elsewhere.
    fn process_substitution(&mut self) {
        let at = self.at;
        self.commands_mut().start_word(at);
        self.word_mut().push_unknown(Holds::Expansion);
        let because = "`<(…)` is known to bash only";
        self.at += 2;
        self.push_commands(Some(Reason::Unclear { because }));
    }

    /// A newline in bare text.
    pub(super) fn bare_newline(&mut self) -> Clear {
        let waiting = self.commands_mut().pending.len();
        if self.pending > waiting {
            return Err("a newline inside an expansion before the body of a here-document");
        }
        self.separate(Separator::Newline, 1)?;
        self.outer_delimiter(self.bodies.len())?;
        self.begin_bodies()
    }

    /// The parenthesis that ends `$(…)` was read.
    fn close_substitution(&mut self) -> Clear {
        if !self.in_substitution() {
            return Err("a closing parenthesis without its beginning");
        }
        if !self.commands_mut().pending.is_empty() {
            return Err("a here-document whose body lies outside its command substitution");
        }
        self.commands.pop();
        self.pop();
        Ok(())
    }
}
