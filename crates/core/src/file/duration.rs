//! Durations as people write them: `30s`, `1h30m`, `1.5s`, `2d`.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::yaml::ShapeError;

const UNITS: [(&str, u64); 6] =
    [("w", 604_800_000), ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// A length of time in whole milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration {
    /// The length in milliseconds.
    pub millis: u64,
}

impl Duration {
    /// A duration of so many milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self { millis }
    }

    /// Reads `1h30m`. The error says what is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut rest = text.trim();
        if rest.is_empty() {
            return Err("a duration cannot be empty".into());
        }
        let mut millis: u64 = 0;
        let mut last_unit = u64::MAX;
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            let (number, after) = rest.split_at(digits);
            let letters = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
            let (unit, next) = after.split_at(letters);
            if unit.is_empty() && next.is_empty() {
                return Err(format!("`{text}` has no unit"));
            }
            let Some(&(_, size)) = UNITS.iter().find(|(name, _)| *name == unit) else {
                return Err(format!("`{text}` is not a duration"));
            };
            if size >= last_unit {
                return Err(format!("the units in `{text}` must go from large to small, each once"));
            }
            last_unit = size;
            let part = scaled(number, size).ok_or_else(|| format!("`{text}` is not a duration, or far too long"))?;
            millis = millis.checked_add(part).ok_or_else(|| format!("`{text}` is far too long"))?;
            rest = next.trim_start();
        }
        Ok(Self { millis })
    }
}

impl std::str::FromStr for Duration {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::parse(text)
    }
}

/// `number × size`, exactly, where the number may have a fraction.
fn scaled(number: &str, size: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || (number.contains('.') && fraction.is_empty()) || fraction.len() > 9 {
        return None;
    }
    let mut millis = whole.parse::<u64>().ok()?.checked_mul(size)?;
    if !fraction.is_empty() {
        let scale = 10_u64.checked_pow(u32::try_from(fraction.len()).ok()?)?;
        millis = millis.checked_add(fraction.parse::<u64>().ok()?.checked_mul(size)? / scale)?;
    }
    // A century is longer than any deadline and short enough for every clock.
    (millis <= 100 * 366 * 86_400_000).then_some(millis)
}

impl fmt::Display for Duration {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.millis == 0 {
            return formatter.write_str("0s");
        }
        let mut rest = self.millis;
        for (name, size) in &UNITS[1..] {
            if rest / size > 0 {
                write!(formatter, "{}{name}", rest / size)?;
                rest %= size;
            }
        }
        Ok(())
    }
}

impl Serialize for Duration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.millis)
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return u64::deserialize(deserializer).map(Self::from_millis);
        }
        deserializer.deserialize_any(Written)
    }
}

struct Written;

impl de::Visitor<'_> for Written {
    type Value = Duration;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a duration such as `30s`")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Duration, E> {
        Duration::parse(text).map_err(|message| {
            E::custom(ShapeError::advice(message, "write a number and a unit: `500ms`, `30s`, `1h30m`, `2d`"))
        })
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Duration, E> {
        let message = format!("the duration {number} has no unit");
        Err(E::custom(ShapeError::advice(message, format!("did you mean `{number}s`?"))))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Duration, E> {
        match u64::try_from(number) {
            Ok(number) => self.visit_u64(number),
            Err(_) => Err(E::custom("a duration cannot be negative")),
        }
    }
}

impl JsonSchema for Duration {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A length of time: numbers with the units w, d, h, m, s, ms, such as 30s or 1h30m.",
            "type": "string",
            "pattern": r"^\s*([0-9]+(\.[0-9]+)?(w|d|h|ms|m|s)\s*)+$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Duration;

    #[test]
    fn durations_are_read_exactly() {
        for (text, millis) in [
            ("30s", 30_000),
            ("500ms", 500),
            ("1.5s", 1_500),
            ("1h30m", 5_400_000),
            ("1h 30m", 5_400_000),
            ("2d", 172_800_000),
            ("1w", 604_800_000),
            ("0s", 0),
            ("0.001s", 1),
        ] {
            assert_eq!(Duration::parse(text), Ok(Duration { millis }), "{text}");
        }
        for text in [
            "",
            "30",
            "s",
            "30 s s",
            "1m1h",
            "1s1s",
            "-3s",
            "1.s",
            ".5s",
            "3x",
            "99999999999999999999s",
            "200000d",
            "1,5s",
        ] {
            assert!(Duration::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn printing_and_reading_agree() {
        for millis in [0, 1, 999, 1_000, 61_001, 86_400_000, 90_061_001] {
            let duration = Duration { millis };
            assert_eq!(Duration::parse(&duration.to_string()), Ok(duration));
        }
    }
}
