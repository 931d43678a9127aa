//! Names that people give to things, checked once, when they are read.

use std::borrow::{Borrow, Cow};
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de};

use crate::run::Known;
use crate::yaml::ShapeError;

/// Why a text is no id of the grammar `[A-Za-z0-9][A-Za-z0-9._-]{0,127}`, or nothing if it is one.
pub fn id_problem(text: &str) -> Option<String> {
    let Some(first) = text.chars().next() else { return Some("an id cannot be empty".into()) };
    if text.len() > 128 {
        return Some(format!("an id has at most 128 characters, this one has {}", text.chars().count()));
    }
    if !first.is_ascii_alphanumeric() {
        return Some(format!("an id starts with a letter or a digit, not with `{}`", first.escape_debug()));
    }
    let bad = text.chars().find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')))?;
    Some(format!("an id cannot hold `{}`", bad.escape_debug()))
}

fn variable_problem(text: &str) -> Option<String> {
    let valid = text
        .bytes()
        .enumerate()
        .all(|(at, byte)| byte == b'_' || byte.is_ascii_alphabetic() || (at > 0 && byte.is_ascii_digit()));
    (text.is_empty() || !valid || text.len() > 128).then(|| format!("`{}` is not a variable name", text.escape_debug()))
}

fn code_problem(text: &str) -> Option<String> {
    let valid = text
        .bytes()
        .enumerate()
        .all(|(at, byte)| byte.is_ascii_uppercase() || (at > 0 && (byte == b'_' || byte.is_ascii_digit())));
    (text.is_empty() || !valid || text.len() > 64).then(|| format!("`{}` is not an error code", text.escape_debug()))
}

macro_rules! name {
    ($(#[$meta:meta])* $name:ident, $problem:path, $advice:path, $help:literal, $pattern:literal) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(transparent)]
        pub struct $name(Box<str>);

        impl $name {
            /// Checks a text and takes it as a name. The error says what is wrong with it.
            pub fn new(text: &str) -> Result<Self, String> {
                match $problem(text) {
                    Some(problem) => Err(problem),
                    None => Ok(Self(text.into())),
                }
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Written;
                impl de::Visitor<'_> for Written {
                    type Value = $name;

                    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                        formatter.write_str("a name")
                    }

                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$name, E> {
                        $name::new(text).map_err(|problem| E::custom($advice(problem, $help)))
                    }
                }
                deserializer.deserialize_str(Written)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "pattern": $pattern, "description": $help })
            }
        }
    };
}

name! {
    /// The id of a workflow.
    WorkflowId, id_problem, ShapeError::bad_id,
    "ids are letters, digits, `.`, `_` and `-`, start with a letter or digit, and have at most 128 characters",
    "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"
}
name! {
    /// The id of a node or phase.
    NodeId, id_problem, ShapeError::bad_id,
    "ids are letters, digits, `.`, `_` and `-`, start with a letter or digit, and have at most 128 characters",
    "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"
}
name! {
    /// The name of a parameter; it can be used in expressions as `params.name`.
    ParamName, variable_problem, ShapeError::advice,
    "parameter names are letters, digits and `_`, and do not start with a digit",
    "^[A-Za-z_][A-Za-z0-9_]{0,127}$"
}
name! {
    /// The name of a secret; it becomes an environment variable.
    SecretName, variable_problem, ShapeError::advice,
    "secret names are letters, digits and `_`, and do not start with a digit",
    "^[A-Za-z_][A-Za-z0-9_]{0,127}$"
}
name! {
    /// The name of an environment variable.
    VariableName, variable_problem, ShapeError::advice,
    "environment variables are letters, digits and `_`, and do not start with a digit",
    "^[A-Za-z_][A-Za-z0-9_]{0,127}$"
}
name! {
    /// An error code, sprag's or a user's own.
    ErrorCode, code_problem, ShapeError::advice,
    "error codes are capital letters, digits and `_`, such as `RATE_LIMITED`",
    "^[A-Z][A-Z0-9_]{0,63}$"
}

impl From<Known> for ErrorCode {
    /// The names in the table of known codes follow the grammar; its test holds them to it.
    fn from(known: Known) -> Self {
        Self(known.as_str().into())
    }
}

impl PartialEq<Known> for ErrorCode {
    fn eq(&self, known: &Known) -> bool {
        self.as_str() == known.as_str()
    }
}

#[cfg(test)]
mod tests {
    use super::{ErrorCode, NodeId, ParamName};

    #[test]
    fn ids_follow_the_grammar() {
        // R-NODE-2
        let long = "a".repeat(128);
        for good in ["a", "A-1", "build.linux_x86", "0", long.as_str()] {
            assert!(NodeId::new(good).is_ok(), "{good}");
        }
        let longer = "a".repeat(129);
        for bad in ["", "-a", ".a", "_a", "a b", "a/b", "ä", "a\u{202e}b", "a\0", "..", longer.as_str()] {
            assert!(NodeId::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn codes_and_variables_follow_their_own() {
        // R-ERR-1
        assert!(ErrorCode::new("RATE_LIMITED").is_ok());
        for bad in ["rate", "1A", "_A", "A-B", ""] {
            assert!(ErrorCode::new(bad).is_err(), "{bad}");
        }
        assert!(ParamName::new("_x1").is_ok());
        for bad in ["1x", "a-b", "", "a.b"] {
            assert!(ParamName::new(bad).is_err(), "{bad}");
        }
    }
}
