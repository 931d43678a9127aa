//! How the value of a secret looks after what programs commonly do to it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// Shorter lines of a secret are as common as `}`; hiding them would make logs unreadable and nothing safer.
const LINE_CHARACTERS: usize = 8;

/// The line lengths of `base64` and `openssl`, which break what is longer.
const BASE64_LINES: [usize; 2] = [76, 64];

/// What encoders of URLs keep as it is, besides letters and digits: RFC 3986, browsers' `encodeURIComponent`, their
/// forms, Python's `quote`, browsers' `encodeURI`, and nothing at all.
const KEPT_IN_URLS: [&[u8]; 6] = [b"-._~", b"-._~!*'()", b"-._*", b"-._~/", b"-._~!*'();,/?:@&=+$#", b""];

/// Everything to look for, so that no form of the value is kept; sorted, no two alike.
pub(super) fn forms(value: &str) -> BTreeSet<String> {
    let mut forms = BTreeSet::new();
    add(value, &mut forms);
    if value.contains(['\n', '\r']) {
        for line in value.split(['\n', '\r']).map(str::trim) {
            if line.chars().take(LINE_CHARACTERS).count() == LINE_CHARACTERS {
                add(line, &mut forms);
            }
        }
    }
    forms
}

fn add(value: &str, forms: &mut BTreeSet<String>) {
    forms.insert(value.to_owned());
    add_base64(value.as_bytes(), forms);
    for upper in [false, true] {
        forms.insert(hex(value, "", upper));
        forms.insert(hex(value, "%", upper));
        for kept in KEPT_IN_URLS {
            for space in ["%20", "+"] {
                forms.insert(url(value, kept, space, upper));
            }
        }
    }
    for escapes in Escapes::ALL {
        forms.insert(escapes.apply(value));
    }
    // A number too large for 64 bits is kept with fewer digits, which are still most of the secret.
    if let Ok(number) = serde_json::from_str::<serde_json::Number>(value) {
        let number = number.to_string();
        if number.len() >= super::secret::MIN_CHARACTERS {
            forms.insert(number);
        }
    }
}

/// The value anywhere inside of something encoded as a whole: its bits then begin at one of three places of a group,
/// and the characters at both ends may share bits with what stands around.
fn add_base64(value: &[u8], forms: &mut BTreeSet<String>) {
    for before in 0..3 {
        let shifted: Vec<u8> = std::iter::repeat_n(0, before).chain(value.iter().copied()).collect();
        let first = (before * 8).div_ceil(6);
        let end = shifted.len() * 8 / 6;
        for encoded in [STANDARD_NO_PAD.encode(&shifted), URL_SAFE_NO_PAD.encode(&shifted)] {
            let constant = &encoded[first..end];
            if before == 0 {
                for line in BASE64_LINES {
                    forms.extend(pieces(constant, line));
                }
            }
            forms.insert(constant.to_owned());
            // Where the value ends the text, its last bits are known, and the padding belongs to it.
            for padding in ["", "=", "=="].into_iter().take((3 - shifted.len() % 3) % 3 + 1) {
                forms.insert(format!("{}{padding}", &encoded[first..]));
            }
        }
    }
}

/// A text in lines of a length, as patterns of their own; a last one that is too short to be told from other text is
/// left out.
fn pieces(text: &str, line: usize) -> impl Iterator<Item = String> {
    // Base64 is ASCII, so every place is a character's border.
    let starts = (0..text.len()).step_by(line).filter(move |_| text.len() > line);
    starts
        .map(move |start| text[start..text.len().min(start + line)].to_owned())
        .filter(|piece| piece.len() >= LINE_CHARACTERS)
}

fn hex(value: &str, before_each: &str, upper: bool) -> String {
    let mut text = String::with_capacity(value.len() * (2 + before_each.len()));
    for byte in value.bytes() {
        text.push_str(before_each);
        push_hex(&mut text, byte, upper);
    }
    text
}

fn url(value: &str, kept: &[u8], space: &str, upper: bool) -> String {
    let mut text = String::with_capacity(value.len() * 3);
    for byte in value.bytes() {
        if byte == b' ' {
            text.push_str(space);
        } else if byte.is_ascii_alphanumeric() || kept.contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push('%');
            push_hex(&mut text, byte, upper);
        }
    }
    text
}

fn push_hex(text: &mut String, byte: u8, upper: bool) {
    // Writing to a text does not fail.
    let _ = if upper { write!(text, "{byte:02X}") } else { write!(text, "{byte:02x}") };
}

/// How a writer of JSON puts a text between quotes.
#[derive(Debug, Clone, Copy)]
struct Escapes {
    /// Which characters become `\uXXXX`, besides those that have to.
    units: Units,
    /// `\/`, as PHP does.
    slash: bool,
    /// `\u00FC` instead of `\u00fc`.
    upper: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Units {
    /// None: control characters only.
    None,
    /// What means something in HTML, as Go does.
    Markup,
    /// What is not ASCII, as Python and PHP do.
    Foreign,
    /// All of them.
    All,
}

impl Escapes {
    const ALL: [Self; 16] = {
        let mut all = [Self { units: Units::None, slash: false, upper: false }; 16];
        let units = [Units::None, Units::Markup, Units::Foreign, Units::All];
        let mut at = 0;
        while at < all.len() {
            all[at] = Self { units: units[at / 4], slash: at % 4 >= 2, upper: at % 2 == 1 };
            at += 1;
        }
        all
    };

    fn apply(self, value: &str) -> String {
        let mut text = String::with_capacity(value.len() * 2);
        for character in value.chars() {
            match character {
                _ if self.units == Units::All => self.push_units(&mut text, character),
                '"' | '\\' => text.extend(['\\', character]),
                '/' if self.slash => text.push_str("\\/"),
                '\n' => text.push_str("\\n"),
                '\r' => text.push_str("\\r"),
                '\t' => text.push_str("\\t"),
                '\u{8}' => text.push_str("\\b"),
                '\u{c}' => text.push_str("\\f"),
                '\0'..' ' => self.push_units(&mut text, character),
                '<' | '>' | '&' | '\u{2028}' | '\u{2029}' if self.units == Units::Markup => {
                    self.push_units(&mut text, character);
                }
                '\u{7f}'.. if self.units == Units::Foreign => self.push_units(&mut text, character),
                _ => text.push(character),
            }
        }
        text
    }

    /// `\uXXXX`, twice for what has two UTF-16 units.
    fn push_units(self, text: &mut String, character: char) {
        for unit in character.encode_utf16(&mut [0; 2]) {
            let _ = if self.upper { write!(text, "\\u{unit:04X}") } else { write!(text, "\\u{unit:04x}") };
        }
    }
}
