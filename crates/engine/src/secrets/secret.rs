//! The value of a secret, in a type that does not show it.

use std::fmt;

/// A shorter value would stand in ordinary text by chance, and masking it would tell more than it hides.
pub const MIN_CHARACTERS: usize = 6;

/// A masker knows dozens of forms of each value, so the value itself must not be large.
pub const MAX_BYTES: usize = 32 * 1024;

/// The value of a secret.
///
/// It cannot be printed or written by accident: whoever needs the value asks for it with [`Secret::expose`].
///
/// ```compile_fail
/// # let secret = sprag_engine::secrets::Secret::new("correct horse").unwrap();
/// println!("{secret}");
/// ```
///
/// ```compile_fail
/// # let secret = sprag_engine::secrets::Secret::new("correct horse").unwrap();
/// serde_json::to_string(&secret);
/// ```
#[derive(Clone)]
pub struct Secret(Box<str>);

impl Secret {
    /// Takes a value that can be handed over as an environment variable and can be masked. The error says what is wrong
    /// with it, without showing it.
    pub fn new(value: &str) -> Result<Self, &'static str> {
        if value.is_empty() {
            Err("is empty")
        } else if value.contains('\0') {
            Err("holds a NUL byte")
        } else if value.chars().take(MIN_CHARACTERS).count() < MIN_CHARACTERS {
            Err("is shorter than 6 characters, too short to be kept out of logs")
        } else if value.len() > MAX_BYTES {
            Err("is larger than 32 KiB")
        } else {
            Ok(Self(value.into()))
        }
    }

    /// The value itself, for the one place that hands it over.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_BYTES, Secret};

    #[test]
    fn only_values_that_can_be_masked_are_taken() {
        // R-SEC-1
        for good in ["123456", "ünïcöd", "a b c d", &"x".repeat(MAX_BYTES)] {
            assert_eq!(Secret::new(good).map(|secret| secret.expose().to_owned()), Ok(good.to_owned()));
        }
        for bad in ["", "12345", "üüüüü", "123\x00456", &"x".repeat(MAX_BYTES + 1)] {
            assert!(Secret::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn debugging_does_not_show_the_value() {
        // R-SEC-1
        let secret = Secret::new("correct horse").unwrap();
        assert_eq!(format!("{secret:?} {:?} {:#?}", Some(&secret), [&secret]), "*** Some(***) [\n    ***,\n]");
    }
}
