//! What an unquoted scalar means: the core schema of YAML 1.2, with one exception that protects people.

use std::borrow::Cow;

use super::tree::Value;

/// Resolves an unquoted scalar.
///
/// A number with a leading zero (`0123`, a post code or a file mode) stays text: YAML 1.1, YAML 1.2 and JSON read it
/// in three different ways, and each reading surprises someone. So does a whole number that does not fit 64 bits.
pub(super) fn resolve(text: Cow<'_, str>) -> Value<'_> {
    match text.as_ref() {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        plain => number(plain).unwrap_or(Value::Text(text)),
    }
}

fn number(text: &str) -> Option<Value<'static>> {
    let first = *text.as_bytes().first()?;
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.')) {
        return None;
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(plain_digits(digits)?, 16).ok().map(whole);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return u64::from_str_radix(plain_digits(digits)?, 8).ok().map(whole);
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let bytes = unsigned.as_bytes();
    if bytes.is_empty() || (bytes.len() > 1 && bytes[0] == b'0' && bytes[1].is_ascii_digit()) {
        return None;
    }
    if bytes.iter().all(u8::is_ascii_digit) {
        return match text.parse::<i64>() {
            Ok(number) => Some(Value::Integer(number)),
            Err(_) => text.parse::<u64>().ok().map(Value::Unsigned),
        };
    }
    // Rust reads `inf`, `nan` and `infinity` too; a workflow file has no use for numbers JSON cannot carry.
    if !bytes.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-')) {
        return None;
    }
    text.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::Float)
}

fn plain_digits(digits: &str) -> Option<&str> {
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(digits)
}

fn whole(number: u64) -> Value<'static> {
    i64::try_from(number).map_or(Value::Unsigned(number), Value::Integer)
}

#[cfg(test)]
mod tests {
    use super::{Value, resolve};

    #[test]
    fn unquoted_scalars_follow_yaml_1_2() {
        // R-FILE-1
        for (text, expected) in [
            ("", Value::Null),
            ("~", Value::Null),
            ("null", Value::Null),
            ("true", Value::Bool(true)),
            ("False", Value::Bool(false)),
            ("12", Value::Integer(12)),
            ("-3", Value::Integer(-3)),
            ("0", Value::Integer(0)),
            ("0x1f", Value::Integer(31)),
            ("0o17", Value::Integer(15)),
            ("1.5", Value::Float(1.5)),
            ("1e3", Value::Float(1000.0)),
            ("18446744073709551615", Value::Unsigned(u64::MAX)),
        ] {
            assert_eq!(resolve(text.into()), expected, "{text}");
        }
        for text in ["no", "on", "yes", "0123", "-007", "1.2.3", "1h", "-", ".", ".inf", "nan", "0x", "0xg", "1_000"] {
            assert_eq!(resolve(text.into()), Value::Text(text.into()), "{text}");
        }
        assert_eq!(resolve("99999999999999999999".into()), Value::Text("99999999999999999999".into()));
    }
}
