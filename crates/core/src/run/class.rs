//! The codes of failed attempts, their classes, and where codes come from (`R-ERR-1`).

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::file::ErrorCode;

/// What kind of failure a code stands for, and so what can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// The same again may succeed.
    Transient,
    /// Another model or tool may succeed.
    ModelLimitation,
    /// A smaller or better explained task may succeed.
    Complexity,
    /// Nothing the engine can do helps.
    Unrecoverable,
}

impl Class {
    /// All classes, in the order of the contract.
    pub const ALL: [Self; 4] = [Self::Transient, Self::ModelLimitation, Self::Complexity, Self::Unrecoverable];

    /// All classes as they are written.
    pub const WORDS: [&'static str; 4] = {
        let mut words = [""; 4];
        let mut at = 0;
        while at < words.len() {
            words[at] = Self::ALL[at].as_str();
            at += 1;
        }
        words
    };

    /// The class as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Transient => "transient",
            Self::ModelLimitation => "model-limitation",
            Self::Complexity => "complexity",
            Self::Unrecoverable => "unrecoverable",
        }
    }

    /// The class of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.as_str() == name)
    }

    /// The class of a code; users' own codes are classed like `TOOL_ERROR`.
    pub fn of(code: &ErrorCode) -> Self {
        Known::of(code).unwrap_or(Known::TOOL_ERROR).class()
    }
}

impl fmt::Display for Class {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// Declares the table: class, then each of its codes with one line that says what the code means.
macro_rules! known {
    ($($class:ident { $($name:ident = $summary:literal;)+ })+) => {
        /// A code that sprag itself gives to failed attempts; [`ErrorCode`] holds these and users' own.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "the names are the codes as people see them")]
        pub enum Known {
            $($(#[doc = $summary] $name,)+)+
        }

        impl Known {
            /// All codes, by class, in the order of the table.
            pub const ALL: &[Self] = &[$($(Self::$name,)+)+];

            /// The code as it is written.
            pub const fn as_str(self) -> &'static str {
                match self { $($(Self::$name => stringify!($name),)+)+ }
            }

            /// The class of the code.
            pub const fn class(self) -> Class {
                match self { $($(Self::$name)|+ => Class::$class,)+ }
            }

            /// What the code means, in one line.
            pub const fn summary(self) -> &'static str {
                match self { $($(Self::$name => $summary,)+)+ }
            }
        }
    };
}

known! {
    Transient {
        TIMEOUT = "it took longer than it may";
        RATE_LIMITED = "the other side asks to slow down";
        NETWORK = "the other side was not reached";
        UNAVAILABLE = "the other side cannot answer now";
        INTERRUPTED = "the process that executed it is gone";
    }
    ModelLimitation {
        MODEL_ERROR = "the model failed or refused";
        TOOL_ERROR = "the command or tool failed";
    }
    Complexity {
        INVALID_OUTPUT = "the output cannot be used";
        SCHEMA_MISMATCH = "the output does not fit a schema";
        LOW_GRADE = "the result was graded D or F";
    }
    Unrecoverable {
        PERMISSION_DENIED = "it may not do this";
        SCOPE_VIOLATION = "it reached for something outside its scope";
        ISOLATION_BREACH = "it left its sandbox";
        CYCLE_DETECTED = "nodes wait for each other in a circle";
        MISSING_DEPENDENCY = "something it needs does not exist";
        CONDITION_ERROR = "a condition or template cannot be evaluated";
        BUDGET_EXCEEDED = "the run has spent what it may";
        DEADLINE_EXCEEDED = "the run took longer than it may";
        REJECTED = "a person rejected it";
        APPROVAL_TIMEOUT = "nobody answered in time";
        GATE_ERROR = "the question could not be asked";
        INTERNAL = "a fault of sprag itself";
    }
}

impl Known {
    /// The known code that this one is, if it is not a user's own.
    pub fn of(code: &ErrorCode) -> Option<Self> {
        Self::ALL.iter().copied().find(|known| code == known)
    }
}

impl fmt::Display for Known {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// The exit code that a key of a node's `errors` names, if it names one that means failure (`R-CMD-2`).
///
/// There is one way to write each, so that a map never has two answers.
pub fn failing_exit(key: &str) -> Option<u8> {
    let canonical = key.bytes().all(|byte| byte.is_ascii_digit()) && !key.starts_with('0');
    key.parse().ok().filter(|_| canonical)
}

/// The code of a command that failed with this exit code; what `errors` does not name is `TOOL_ERROR` (`R-CMD-2`).
///
/// The keys of the map were checked with [`failing_exit`] when the file was read.
pub fn code_of_exit(exit: i32, map: &BTreeMap<String, ErrorCode>) -> ErrorCode {
    map.get(&exit.to_string()).cloned().unwrap_or_else(|| Known::TOOL_ERROR.into())
}

/// The code of an HTTP answer, or nothing if its status means no failure.
pub const fn code_of_status(status: u16) -> Option<Known> {
    match status {
        200..=399 => None,
        401 | 403 => Some(Known::PERMISSION_DENIED),
        408 => Some(Known::TIMEOUT),
        429 => Some(Known::RATE_LIMITED),
        425 | 500..=599 => Some(Known::UNAVAILABLE),
        // A status outside the standard is no success either.
        _ => Some(Known::TOOL_ERROR),
    }
}

#[cfg(test)]
mod tests {
    use super::{BTreeMap, Class, ErrorCode, Known, code_of_exit, code_of_status, failing_exit};

    #[test]
    fn codes_have_the_classes_of_the_contract() {
        // R-ERR-1
        let table = [
            (Class::Transient, "TIMEOUT RATE_LIMITED NETWORK UNAVAILABLE INTERRUPTED"),
            (Class::ModelLimitation, "MODEL_ERROR TOOL_ERROR DISK_FULL MY_CODE_7"),
            (Class::Complexity, "INVALID_OUTPUT SCHEMA_MISMATCH LOW_GRADE"),
            (
                Class::Unrecoverable,
                "PERMISSION_DENIED SCOPE_VIOLATION ISOLATION_BREACH CYCLE_DETECTED MISSING_DEPENDENCY CONDITION_ERROR \
                 BUDGET_EXCEEDED DEADLINE_EXCEEDED REJECTED APPROVAL_TIMEOUT GATE_ERROR INTERNAL",
            ),
        ];
        let mut known = 0;
        for (class, codes) in table {
            for code in codes.split_whitespace() {
                let code = ErrorCode::new(code).unwrap();
                assert_eq!(Class::of(&code), class, "{code}");
                known += usize::from(Known::of(&code).is_some());
            }
        }
        assert_eq!(known, Known::ALL.len());
    }

    #[test]
    fn known_codes_follow_the_grammar() {
        // R-ERR-1
        for known in Known::ALL {
            assert_eq!(ErrorCode::new(known.as_str()).as_ref(), Ok(&ErrorCode::from(*known)));
            assert_eq!(Known::of(&ErrorCode::from(*known)), Some(*known));
        }
    }

    #[test]
    fn classes_are_written_alike_everywhere() {
        assert_eq!(crate::file::ERROR_CLASSES, ["transient", "model-limitation", "complexity", "unrecoverable"]);
        for class in Class::ALL {
            assert_eq!(serde_json::to_string(&class).unwrap(), format!("\"{class}\""));
            assert_eq!(Class::from_name(class.as_str()), Some(class));
        }
    }

    #[test]
    fn exit_codes_are_mapped() {
        // R-CMD-2
        let map = BTreeMap::from([("75".to_owned(), Known::RATE_LIMITED.into())]);
        assert_eq!(code_of_exit(75, &map), Known::RATE_LIMITED);
        for exit in [1, 7, 175, -75, i32::MIN] {
            assert_eq!(code_of_exit(exit, &map), Known::TOOL_ERROR, "{exit}");
        }
        assert_eq!((failing_exit("1"), failing_exit("255")), (Some(1), Some(255)));
        for key in ["", "0", "075", "+75", "-1", "256", "7 5", "x", "٧"] {
            assert_eq!(failing_exit(key), None, "{key}");
        }
    }

    #[test]
    fn http_statuses_are_mapped() {
        // R-ERR-1
        for status in [200, 204, 299, 301, 304, 399] {
            assert_eq!(code_of_status(status), None, "{status}");
        }
        for (code, statuses) in [
            (Known::PERMISSION_DENIED, &[401, 403][..]),
            (Known::TIMEOUT, &[408]),
            (Known::RATE_LIMITED, &[429]),
            (Known::UNAVAILABLE, &[425, 500, 502, 503, 504, 599]),
            (Known::TOOL_ERROR, &[400, 402, 404, 409, 410, 422, 499, 0, 100, 600, u16::MAX]),
        ] {
            for status in statuses {
                assert_eq!(code_of_status(*status), Some(code), "{status}");
            }
        }
    }
}
