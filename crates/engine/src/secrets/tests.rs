//! What masks promise, in tables and for whatever comes (`R-SEC-1`).

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use proptest::prelude::*;
use serde_json::json;

use super::forms::forms;
use super::{Masker, Secret};
use crate::exec::Mask as _;

fn mask(secrets: &[&str]) -> Masker {
    let secrets: Vec<_> = secrets.iter().map(|value| Secret::new(value).unwrap()).collect();
    Masker::new(&secrets).unwrap()
}

/// What comes out of a stream, all of it.
fn streamed<'chunk>(mask: &Masker, chunks: impl IntoIterator<Item = &'chunk [u8]>) -> String {
    let mut stream = mask.stream();
    let mut out = Vec::new();
    for chunk in chunks {
        stream.push(chunk, &mut out);
    }
    stream.finish(&mut out);
    String::from_utf8(out).unwrap()
}

/// What comes out of a stream, piece by piece; the last comes at its end.
fn live(mask: &Masker, chunks: &[&str]) -> Vec<String> {
    let mut stream = mask.stream();
    let mut shown = vec![Vec::new(); chunks.len() + 1];
    for (chunk, out) in chunks.iter().zip(&mut shown) {
        stream.push(chunk.as_bytes(), out);
    }
    stream.finish(&mut shown[chunks.len()]);
    shown.into_iter().map(|out| String::from_utf8(out).unwrap()).collect()
}

#[test]
fn every_form_is_masked() {
    // R-SEC-1
    let secret = "p/ss wörd+\"<1>\"";
    let mask = mask(&[secret]);
    for (input, output) in [
        ("token=p/ss wörd+\"<1>\";", "token=***;"),
        // base64, alone, with and without padding, in both alphabets
        ("cC9zcyB3w7ZyZCsiPDE+Ig==", "***"),
        ("cC9zcyB3w7ZyZCsiPDE+Ig", "***"),
        ("cC9zcyB3w7ZyZCsiPDE-Ig==.", "***."),
        // hexadecimal
        ("[702f73732077c3b672642b223c313e22]", "[***]"),
        ("[702F73732077C3B672642B223C313E22]", "[***]"),
        // URLs
        ("?a=p%2Fss%20w%C3%B6rd%2B%22%3C1%3E%22&b=1", "?a=***&b=1"),
        ("?a=p%2fss+w%c3%b6rd%2b%22%3c1%3e%22&b=1", "?a=***&b=1"),
        ("?a=p/ss%20w%C3%B6rd%2B%22%3C1%3E%22&b=1", "?a=***&b=1"),
        ("%70%2F%73%73%20%77%C3%B6%72%64%2B%22%3C%31%3E%22", "***"),
        ("%70%2f%73%73%20%77%c3%b6%72%64%2b%22%3c%31%3e%22", "***"),
        // JSON
        (r#"{"a":"p/ss wörd+\"<1>\""}"#, r#"{"a":"***"}"#),
        (r#"{"a":"p\/ss wörd+\"<1>\""}"#, r#"{"a":"***"}"#),
        (r#"{"a":"p/ss w\u00f6rd+\"<1>\""}"#, r#"{"a":"***"}"#),
        (r#"{"a":"p\/ss w\u00F6rd+\"<1>\""}"#, r#"{"a":"***"}"#),
        (r#"{"a":"p/ss wörd+\"\u003c1\u003e\""}"#, r#"{"a":"***"}"#),
        (r"\u0070\u002f\u0073\u0073\u0020\u0077\u00f6\u0072\u0064\u002b\u0022\u003c\u0031\u003e\u0022", "***"),
        // what is none of them
        ("p/ss word", "p/ss word"),
        ("", ""),
    ] {
        assert_eq!(mask.text(input), output, "{input}");
        assert_eq!(streamed(&mask, input.as_bytes().chunks(1)), output, "{input}");
    }
}

#[test]
fn base64_is_masked_inside_of_something_longer() {
    // R-SEC-1: a character that holds bits of both a neighbour and the secret stays.
    let mask = mask(&["SECRET-value"]);
    for (whole, encoded, masked) in [
        ("SECRET-value", "U0VDUkVULXZhbHVl", "***"),
        ("SECRET-value\n", "U0VDUkVULXZhbHVlCg==", "***Cg=="),
        ("user:SECRET-value", "dXNlcjpTRUNSRVQtdmFsdWU=", "dXNlcjp***"),
        ("user:SECRET-value\n", "dXNlcjpTRUNSRVQtdmFsdWUK", "dXNlcjp***K"),
        ("user1:SECRET-value", "dXNlcjE6U0VDUkVULXZhbHVl", "dXNlcjE6***"),
        ("user12:SECRET-value:x", "dXNlcjEyOlNFQ1JFVC12YWx1ZTp4", "dXNlcjEyOl***Tp4"),
    ] {
        assert_eq!(STANDARD.encode(whole), encoded);
        assert_eq!(mask.text(encoded), masked, "{whole}");
    }
}

#[test]
fn long_base64_is_masked_in_lines() {
    // R-SEC-1
    let secret = "0123456789abcdefghijklmnopqrstuvwxyz".repeat(5);
    let mask = mask(&[&secret]);
    for line in [76, 64] {
        let encoded = STANDARD.encode(&secret);
        let lines: Vec<_> = encoded.as_bytes().chunks(line).map(|line| str::from_utf8(line).unwrap()).collect();
        let masked = mask.text(&lines.join("\n"));
        assert_eq!(masked, vec!["***"; lines.len()].join("\n"));
    }
}

#[test]
fn lines_of_a_secret_are_masked_one_by_one() {
    // R-SEC-1
    let secret = "-----BEGIN KEY-----\r\n  MIIEpAIBAAKCAQEA,\nxyz\nshort12\nlast line";
    let mask = mask(&[secret]);
    assert_eq!(mask.text(secret), "***");
    assert_eq!(mask.text("> MIIEpAIBAAKCAQEA, xyz short12\n> last line"), "> *** xyz short12\n> ***");
    let escaped = serde_json::to_string(secret).unwrap().replace('\\', "\\\\");
    assert_eq!(mask.text(&escaped), "\"***\\\\r\\\\n  ***\\\\nxyz\\\\nshort12\\\\n***\"");
    let encoded = STANDARD.encode("MIIEpAIBAAKCAQEA,");
    assert!(mask.text(&encoded).starts_with("***"));
}

#[test]
fn secrets_that_overlap_or_touch_leave_no_rest() {
    // R-SEC-1
    let mask = mask(&["abcdefgh", "abcdefghijkl", "fghijklmno", "zzzzzz"]);
    for (input, output) in [
        ("-abcdefgh-", "-***-"),
        ("-abcdefghijkl-", "-***-"),
        ("-abcdefghijklmno-", "-***-"),
        ("-abcdefghijk-", "-***ijk-"),
        ("-fghijklmnoabcdefgh-", "-***-"),
        ("zzzzzzzzz", "***"),
        ("zzzzz", "zzzzz"),
    ] {
        assert_eq!(mask.text(input), output);
        for size in 1..input.len() {
            assert_eq!(streamed(&mask, input.as_bytes().chunks(size)), output, "{input} by {size}");
        }
    }
}

#[test]
fn only_what_may_become_a_secret_is_held_back() {
    // R-SEC-1, R-CMD-2
    let mask = mask(&["correct horse"]);
    let shown = live(&mask, &["line 1\n", "say corr", "ec", "tly\n", "co", "rrect hors", "e", "!", "corr"]);
    assert_eq!(shown, ["line 1\n", "say ", "", "correctly\n", "", "", "***", "!", "", "corr"]);
}

#[test]
fn a_stream_can_be_used_again_after_its_end() {
    // R-SEC-1
    let mut stream = mask(&["canary"]).stream();
    let mut out = Vec::new();
    for _ in 0..2 {
        stream.push(b"can", &mut out);
        stream.finish(&mut out);
        stream.push(b"ary", &mut out);
        stream.push(b" canary", &mut out);
        stream.finish(&mut out);
    }
    assert_eq!(String::from_utf8(out).unwrap(), "canary ***canary ***");
}

#[test]
fn values_are_masked_in_texts_keys_and_numbers() {
    // R-SEC-1
    let mask = mask(&["canary-1", "8675309", "123456789012345678901234567890"]);
    let value = json!({
        "a": ["x canary-1 y", { "key canary-1": null }, true],
        "n": [8_675_309, 8_675_309.5, 867_530, -1, 123_456_789_012_345_678_901_234_567_890.0],
        "Y2FuYXJ5LTE=": "63616e6172792d31",
    });
    let masked = json!({
        "a": ["x *** y", { "key ***": null }, true],
        "n": ["***", "***.5", 867_530, -1, "***"],
        "***": "***",
    });
    assert_eq!(mask.json(value), masked);
}

#[test]
fn nothing_to_hide_changes_nothing() {
    // R-SEC-1
    let mask = Masker::new([]).unwrap();
    assert_eq!(mask.text("any ***"), "any ***");
    assert_eq!(mask.json(json!({ "a": 1 })), json!({ "a": 1 }));
    assert_eq!(live(&mask, &["any", "thing"]), ["any", "thing", ""]);
}

#[test]
fn debugging_a_masker_shows_no_secret() {
    // R-SEC-1
    assert_eq!(format!("{:?}", mask(&["canary"])), "Masker { forms: Some(Forms { .. }) }");
}

#[test]
fn streams_are_masked_in_linear_time() {
    // R-SEC-1: quadratic work would take hours here, for a secret that every byte could be the middle of.
    let secret = "a".repeat(8_000) + "b";
    let mask = mask(&[&secret]);
    let megabyte = vec![b'a'; 1_000_000];
    for size in [1, 4_096, megabyte.len()] {
        let mut stream = mask.stream();
        let mut out = Vec::new();
        for chunk in megabyte.chunks(size) {
            stream.push(chunk, &mut out);
        }
        assert!(out.len() >= megabyte.len() - secret.len(), "{} bytes are held back", megabyte.len() - out.len());
        stream.push(b"b", &mut out);
        stream.finish(&mut out);
        assert!(out.ends_with(b"aaa***"));
        assert_eq!(out.len(), megabyte.len() - 8_000 + 3);
    }
}

/// Secrets as they are found in the wild, and worse. None holds a `*`, so that a mask is never part of a secret.
fn secrets() -> impl Strategy<Value = String> {
    prop_oneof![
        "[A-Za-z0-9+/_=-]{6,40}",
        "[ab]{6,9}",
        "[ -)+-~]{6,24}",
        "[ \"\\\\/\nA-Cäß€😀\u{2028}\t]{6,24}",
        "([A-Za-z0-9+/]{10,20}\n){2,3}",
    ]
}

/// A text with the secret in it, and the part of the text that tells the secret.
fn encoded(secret: &str, before: &str, after: &str, form: usize) -> (String, String) {
    let whole = format!("{before}{secret}{after}");
    let escaped = |text: &str| {
        let quoted = serde_json::to_string(text).unwrap();
        quoted[1..quoted.len() - 1].to_owned()
    };
    let hex = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    let percent = |text: &str| {
        let kept = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        text.bytes()
            .map(|byte| if kept(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
            .collect()
    };
    let units = |text: &str| text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect::<Vec<_>>().concat();
    match form {
        0 => (whole, secret.to_owned()),
        1..=4 => {
            let engine = [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD][form - 1].clone();
            let text = engine.encode(&whole);
            let first = (before.len() * 8).div_ceil(6);
            let end = (before.len() + secret.len()) * 8 / 6;
            let core = text[first..end].to_owned();
            (text, core)
        }
        5 => (hex(&whole), hex(secret)),
        6 => (hex(&whole).to_uppercase(), hex(secret).to_uppercase()),
        7 => (percent(&whole), percent(secret)),
        8 => (percent(&whole).replace("%20", "+"), percent(secret).replace("%20", "+")),
        9 => (escaped(&whole), escaped(secret)),
        10 => (escaped(&whole).replace('/', "\\/"), escaped(secret).replace('/', "\\/")),
        _ => (units(&whole), units(secret)),
    }
}

/// The same promise, told in the simplest way: every byte of every form is hidden.
fn reference(secrets: &[&str], text: &str) -> String {
    let mut hidden = vec![false; text.len()];
    for form in secrets.iter().flat_map(|secret| forms(secret)) {
        for start in 0..text.len() {
            if text.as_bytes()[start..].starts_with(form.as_bytes()) {
                hidden[start..start + form.len()].fill(true);
            }
        }
    }
    let mut bytes = Vec::new();
    for (at, byte) in text.bytes().enumerate() {
        match hidden[at] {
            false => bytes.push(byte),
            true if at == 0 || !hidden[at - 1] => bytes.extend(b"***"),
            true => {}
        }
    }
    String::from_utf8(bytes).unwrap()
}

/// Splits bytes where the numbers say, again and again.
fn pieces<'bytes>(mut bytes: &'bytes [u8], sizes: &[usize]) -> Vec<&'bytes [u8]> {
    let mut pieces = Vec::new();
    for size in sizes.iter().cycle() {
        if bytes.is_empty() {
            break;
        }
        let (piece, rest) = bytes.split_at((*size).min(bytes.len()));
        pieces.push(piece);
        bytes = rest;
    }
    pieces
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// R-SEC-1
    #[test]
    fn no_form_of_a_secret_gets_through(
        secret in secrets(),
        other in secrets(),
        before in "[ -)+-~ä\n]{0,12}",
        after in "[ -)+-~ä\n]{0,12}",
        form in 0_usize..12,
        sizes in prop::collection::vec(1_usize..20, 1..8),
    ) {
        let (text, telling) = encoded(&secret, &before, &after, form);
        let mask = mask(&[&secret, &other]);
        let masked = mask.text(&text);
        prop_assert!(!masked.contains(&telling), "{text:?} became {masked:?}");
        for form in forms(&secret).iter().chain(&forms(&other)) {
            prop_assert!(!masked.contains(form), "{form:?} is left of {text:?} in {masked:?}");
        }
        prop_assert_eq!(&masked, &reference(&[&secret, &other], &text));
        prop_assert_eq!(&streamed(&mask, pieces(text.as_bytes(), &sizes)), &masked);
    }

    /// R-SEC-1
    #[test]
    fn what_holds_no_secret_is_unchanged(
        secret in secrets(),
        text in "[ -~ä\n]{0,200}",
        sizes in prop::collection::vec(1_usize..20, 1..8),
    ) {
        prop_assume!(!forms(&secret).iter().any(|form| text.contains(form)));
        let mask = mask(&[&secret]);
        prop_assert_eq!(&mask.text(&text), &text);
        prop_assert_eq!(&streamed(&mask, pieces(text.as_bytes(), &sizes)), &text);
    }

    /// R-SEC-1: also in what is no text.
    #[test]
    fn secrets_are_masked_between_any_bytes(
        secret in secrets(),
        before in prop::collection::vec(any::<u8>(), 0..20),
        after in prop::collection::vec(any::<u8>(), 0..20),
        sizes in prop::collection::vec(1_usize..20, 1..8),
    ) {
        let bytes = [&before, secret.as_bytes(), &after].concat();
        let mut stream = mask(&[&secret]).stream();
        let mut out = Vec::new();
        for piece in pieces(&bytes, &sizes) {
            stream.push(piece, &mut out);
        }
        stream.finish(&mut out);
        prop_assert!(out.windows(3).any(|window| window == b"***"));
        prop_assert!(!out.windows(secret.len()).any(|window| window == secret.as_bytes()));
    }
}
