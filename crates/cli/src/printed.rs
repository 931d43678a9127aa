//! What commands printed, on its way to standard output: as it is into a pipe, tamed at a terminal (`R-CMD-2`).

use std::io::{IsTerminal as _, Stdout, Write as _};

use crate::failure::Failure;

/// Colours have short sequences; whatever is longer than this is none.
const COLOUR_BYTES_MAX: usize = 64;

/// One stream for all that is printed, since a sequence may be cut anywhere.
pub struct Printed {
    out: Stdout,
    tamed: Option<Tamed>,
}

impl Printed {
    /// To standard output; `colours` says whether a terminal gets them.
    pub fn new(colours: bool) -> Self {
        let out = std::io::stdout();
        let tamed = out.is_terminal().then(|| Tamed::new(colours));
        Self { out, tamed }
    }

    /// Writes more of it.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match &mut self.tamed {
            Some(tamed) => {
                let shown = tamed.take(bytes);
                self.put(&shown)
            }
            None => self.put(bytes),
        }
    }

    /// Ends what one log began: its unfinished sequence and its colours are not those of the next.
    pub fn end(&mut self) -> Result<(), Failure> {
        match self.tamed.as_mut().map(Tamed::end) {
            Some(reset) => self.put(reset),
            None => Ok(()),
        }
    }

    fn put(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut out = self.out.lock();
        out.write_all(bytes).and_then(|()| out.flush()).map_err(Failure::standard_output)
    }
}

/// Lets text and colours through, and nothing else that a terminal would obey: no titles, no moves of the cursor, no
/// questions whose answer the terminal would type.
struct Tamed {
    colours: bool,
    coloured: bool,
    place: Place,
    /// The sequence that may turn out to be a colour.
    sequence: Vec<u8>,
    /// How many bytes of a character are still to come.
    rest: u8,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Text,
    /// After the first of the two bytes of a character that may be a control character.
    Latin,
    Escape,
    /// In the middle of an escape sequence of several bytes.
    Intermediate,
    Sequence,
    /// In a text for the terminal, such as a title.
    String,
    /// In such a text after an escape, or after the first byte of what may end it.
    StringEscape,
    StringLatin,
}

impl Tamed {
    const fn new(colours: bool) -> Self {
        Self { colours, coloured: false, place: Place::Text, sequence: Vec::new(), rest: 0 }
    }

    fn take(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut shown = Vec::with_capacity(bytes.len());
        for byte in bytes {
            self.byte(*byte, &mut shown);
        }
        shown
    }

    fn end(&mut self) -> &'static [u8] {
        let coloured = self.coloured;
        *self = Self::new(self.colours);
        if coloured { b"\x1b[0m" } else { b"" }
    }

    fn byte(&mut self, byte: u8, shown: &mut Vec<u8>) {
        self.place = match self.place {
            Place::Text => return self.text(byte, shown),
            Place::Latin if matches!(byte, 0x80..=0x9f) => self.control(byte - 0x40),
            Place::Latin => {
                shown.push(0xc2);
                (self.place, self.rest) = (Place::Text, 1);
                return self.text(byte, shown);
            }
            // A line is never swallowed: what is cut off by it was no sequence.
            _ if byte == b'\n' => {
                shown.push(byte);
                Place::Text
            }
            Place::Escape | Place::Intermediate if matches!(byte, b' '..=b'/') => Place::Intermediate,
            Place::Intermediate => Place::Text,
            // The end of a string is a sequence of its own that does nothing else.
            Place::Escape | Place::StringEscape => self.control(byte),
            Place::Sequence => self.in_sequence(byte, shown),
            Place::StringLatin if byte == 0x9c => Place::Text,
            Place::String | Place::StringLatin => match byte {
                0x07 => Place::Text,
                0x1b => Place::StringEscape,
                0xc2 => Place::StringLatin,
                _ => Place::String,
            },
        };
    }

    fn in_sequence(&mut self, byte: u8, shown: &mut Vec<u8>) -> Place {
        match byte {
            0x1b => return Place::Escape,
            b'@'..=b'~' => {
                self.sequence_ends(byte, shown);
                return Place::Text;
            }
            _ if self.sequence.len() <= COLOUR_BYTES_MAX => self.sequence.push(byte),
            _ => {}
        }
        Place::Sequence
    }

    fn text(&mut self, byte: u8, shown: &mut Vec<u8>) {
        let rest = std::mem::take(&mut self.rest);
        match byte {
            0x80..=0xbf if rest > 0 => self.rest = rest - 1,
            // Alone, these are control characters to some terminals.
            0x80..=0x9f => return,
            0x1b => return self.place = Place::Escape,
            0xc2 => return self.place = Place::Latin,
            0xc3..=0xdf => self.rest = 1,
            0xe0..=0xef => self.rest = 2,
            0xf0..=0xf7 => self.rest = 3,
            0..=0x1f | 0x7f if !matches!(byte, b'\n' | b'\t' | b'\r') => return,
            _ => {}
        }
        shown.push(byte);
    }

    /// What the second byte of an escape sequence begins.
    fn control(&mut self, second: u8) -> Place {
        match second {
            b'[' => {
                self.sequence.clear();
                Place::Sequence
            }
            b']' | b'P' | b'X' | b'^' | b'_' => Place::String,
            0x1b => Place::Escape,
            _ => Place::Text,
        }
    }

    fn sequence_ends(&mut self, last: u8, shown: &mut Vec<u8>) {
        let plain = self.sequence.iter().all(|byte| matches!(byte, b'0'..=b'9' | b';' | b':'));
        if last == b'm' && plain && self.colours && self.sequence.len() <= COLOUR_BYTES_MAX {
            shown.extend_from_slice(b"\x1b[");
            shown.extend_from_slice(&self.sequence);
            shown.push(last);
            self.coloured = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Tamed;

    /// What is shown must not depend on where the bytes were cut.
    fn tamed(colours: bool, bytes: &[u8]) -> String {
        let whole = Tamed::new(colours).take(bytes);
        let mut one_by_one = Tamed::new(colours);
        assert_eq!(whole, bytes.iter().flat_map(|byte| one_by_one.take(&[*byte])).collect::<Vec<_>>());
        String::from_utf8(whole).unwrap()
    }

    #[test]
    fn text_and_colours_pass_and_nothing_else_does() {
        for (printed, shown) in [
            (&b"plain \ttext\r\n"[..], "plain \ttext\r\n"),
            ("äöü € 𝄞 \u{a0}".as_bytes(), "äöü € 𝄞 \u{a0}"),
            (b"\x1b[1;38:5:9mred\x1b[m", "\x1b[1;38:5:9mred\x1b[m"),
            (b"a\x1b[2J\x1b[Hb\x1b[?25lc\x1b[>4;1md", "abcd"),
            (b"a\x1b]0;title\x07b\x1b]52;c;AAAA\x1b\\c", "abc"),
            (b"a\x1bP1$r0m\x1b\\b\x1b_x\xc2\x9cc", "abc"),
            (b"a\x1bcb\x1b(0c\x1b7d\x07\x08\x00e", "abcde"),
            (b"a\xc2\x9b2Jb\xc2\x9dtitle\x07c\x9b2J", "abc2J"),
            (b"a\x1b]never ended\nb", "a\nb"),
            (b"a\x1b[\x1b[31mb", "a\x1b[31mb"),
            (b"a\x1b]x\x1b[2Jb", "ab"),
        ] {
            assert_eq!(tamed(true, printed), shown, "{printed:?}");
            let plain = shown.replace("\x1b[1;38:5:9m", "").replace("\x1b[31m", "").replace("\x1b[m", "");
            assert_eq!(tamed(false, printed), plain, "{printed:?}");
        }
        let long = [b"\x1b[".as_slice(), &b"1;".repeat(1_000), b"mx"].concat();
        assert_eq!(tamed(true, &long), "x");
    }

    #[test]
    fn colours_end_with_the_log() {
        let mut tamed = Tamed::new(true);
        tamed.take(b"\x1b[31mred\x1b[3");
        assert_eq!(tamed.end(), b"\x1b[0m");
        assert_eq!((tamed.take(b"1m"), tamed.end()), (b"1m".to_vec(), b"".as_slice()));
    }
}
