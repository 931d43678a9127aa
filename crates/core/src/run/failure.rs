//! What a failed attempt says: its code, a message, and what helps the next one to do better (`R-CMD-1`).

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Class;
use crate::file::{Duration, ErrorCode};

/// Why an attempt failed, and what the next one can learn from it.
///
/// Fields that say nothing are left out, so it is stored in self-describing formats only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeError {
    /// What kind of failure it was.
    pub code: ErrorCode,
    /// What happened, for people.
    pub message: String,
    /// What a next attempt should do better.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub feedback: Vec<Feedback>,
    /// How good the result was, if it was graded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grade: Option<Grade>,
    /// How long the other side asked to wait; written in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "retry_after_ms", with = "milliseconds")]
    pub retry_after: Option<Duration>,
}

impl NodeError {
    /// A failure of which only code and message are known.
    pub fn new(code: impl Into<ErrorCode>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), feedback: Vec::new(), grade: None, retry_after: None }
    }

    /// The class of its code.
    pub fn class(&self) -> Class {
        Class::of(&self.code)
    }
}

impl fmt::Display for NodeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for NodeError {}

/// One thing that a next attempt should do better.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Feedback {
    /// Whether the result can be used without it.
    pub severity: Severity,
    /// What to do, in words.
    pub text: String,
}

/// How much a piece of feedback matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The result cannot be used.
    Critical,
    /// The result could be better.
    Minor,
}

/// How good a result is, best first; there is no E.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(missing_docs, reason = "a grade is its letter")]
pub enum Grade {
    A,
    B,
    C,
    D,
    F,
}

impl Grade {
    /// All grades, best first.
    pub const ALL: [Self; 5] = [Self::A, Self::B, Self::C, Self::D, Self::F];

    /// The grade as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
            Self::C => "C",
            Self::D => "D",
            Self::F => "F",
        }
    }

    /// The grade of this letter.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|grade| grade.as_str() == name)
    }

    /// Whether a result of this grade counts as failed (`R-REC-5`).
    pub const fn fails(self) -> bool {
        match self {
            Self::A | Self::B | Self::C => false,
            Self::D | Self::F => true,
        }
    }
}

impl fmt::Display for Grade {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// In a workflow file durations are text with a unit; in stored records they are numbers.
mod milliseconds {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::file::Duration;

    #[expect(clippy::ref_option, reason = "serde calls it with a reference to the field")]
    pub fn serialize<S: Serializer>(duration: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        duration.map(|duration| duration.millis).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(deserializer)?.map(Duration::from_millis))
    }
}

#[cfg(test)]
mod tests {
    use super::{Duration, Feedback, Grade, NodeError, Severity};
    use crate::run::Known;

    #[test]
    fn errors_are_stored_without_what_they_do_not_say() {
        let mut error = NodeError::new(Known::LOW_GRADE, "too short");
        assert_eq!(serde_json::to_string(&error).unwrap(), r#"{"code":"LOW_GRADE","message":"too short"}"#);
        error.feedback.push(Feedback { severity: Severity::Critical, text: "name the source".into() });
        error.grade = Some(Grade::D);
        error.retry_after = Some(Duration::from_millis(1_500));
        let text = serde_json::to_string(&error).unwrap();
        assert_eq!(
            text,
            r#"{"code":"LOW_GRADE","message":"too short","feedback":[{"severity":"critical","text":"name the source"}],"grade":"D","retry_after_ms":1500}"#
        );
        assert_eq!(serde_json::from_str::<NodeError>(&text).unwrap(), error);
        for bad in [r#"{"code":"low","message":""}"#, r#"{"code":"A","message":"","grade":"E"}"#, r#"{"code":"A"}"#] {
            assert!(serde_json::from_str::<NodeError>(bad).is_err(), "{bad}");
        }
        assert!(serde_json::from_str::<NodeError>(r#"{"code":"A","message":"","hint":""}"#).is_err());
        assert_eq!(error.to_string(), "LOW_GRADE: too short");
    }

    #[test]
    fn grades_fail_from_d_on() {
        // R-REC-5
        assert_eq!(Grade::ALL.map(Grade::fails), [false, false, false, true, true]);
        assert_eq!(Grade::ALL.map(|grade| Grade::from_name(grade.as_str())), Grade::ALL.map(Some));
        assert_eq!((Grade::from_name("E"), Grade::from_name("a")), (None, None));
    }
}
