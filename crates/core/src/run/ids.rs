//! What the things of a run are called: ids, numbers and times, each a type of its own.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::{Uuid, uuid};

use crate::file::Duration;

/// The namespace of all ids that are derived; part of the contract with whoever stores an idempotency key.
const NAMESPACE: Uuid = uuid!("6e1d0a52-7c3f-5b84-9a61-2f4c8d0e7b35");

macro_rules! uuids {
    ($($(#[$meta:meta])* $name:ident;)+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(
            /// The UUID itself.
            pub Uuid,
        );

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(formatter)
            }
        }

        impl FromStr for $name {
            type Err = UnreadableId;

            fn from_str(text: &str) -> Result<Self, UnreadableId> {
                Uuid::parse_str(text).map(Self).map_err(|_| UnreadableId::new(text, "a UUID"))
            }
        }
    )+};
}

uuids! {
    /// The id of a run: a `UUIDv7`, made where there is a clock, so that ids sort by the time of their start.
    RunId;
    /// The id of a process that owns runs, new at each start of the process.
    OwnerId;
    /// The id of a command from a person, by which its effect is found in the journal (`R-ASK-2`).
    CommandId;
}

macro_rules! numbers {
    ($($(#[$meta:meta])* $name:ident;)+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(
            /// The number itself.
            pub u64,
        );

        impl $name {
            /// The number after this one; the last one has none and stays.
            #[must_use]
            pub const fn next(self) -> Self {
                Self(self.0.saturating_add(1))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(formatter)
            }
        }
    )+};
}

numbers! {
    /// The number of an entry in a run's journal.
    Seq;
    /// The number that makes a late write of an old holder fail.
    Fence;
}

/// The number of a question within its run, written `q1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct QuestionId(
    /// The number itself.
    pub u32,
);

impl fmt::Display for QuestionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "q{}", self.0)
    }
}

impl FromStr for QuestionId {
    type Err = UnreadableId;

    fn from_str(text: &str) -> Result<Self, UnreadableId> {
        let number = text.strip_prefix('q').and_then(|digits| digits.parse().ok()).map(Self);
        // There is one way to write each, so that an answer never misses its question.
        number.filter(|id| id.to_string() == text).ok_or_else(|| UnreadableId::new(text, "a question such as `q1`"))
    }
}

impl From<QuestionId> for String {
    fn from(id: QuestionId) -> Self {
        id.to_string()
    }
}

impl TryFrom<String> for QuestionId {
    type Error = UnreadableId;

    fn try_from(text: String) -> Result<Self, UnreadableId> {
        text.parse()
    }
}

/// A text that is no id of the kind that was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableId {
    text: String,
    expected: &'static str,
}

impl UnreadableId {
    fn new(text: &str, expected: &'static str) -> Self {
        Self { text: text.to_owned(), expected }
    }
}

impl fmt::Display for UnreadableId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` is not {}", self.text.escape_debug(), self.expected)
    }
}

impl Error for UnreadableId {}

/// A moment in milliseconds since the start of 1970 in UTC.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp {
    /// The milliseconds; negative before 1970.
    pub millis: i64,
}

impl Timestamp {
    /// The moment so many milliseconds after the start of 1970.
    pub const fn from_millis(millis: i64) -> Self {
        Self { millis }
    }

    /// The moment so much later, or the last one there is.
    #[must_use]
    pub const fn plus(self, duration: Duration) -> Self {
        Self { millis: self.millis.saturating_add_unsigned(duration.millis) }
    }

    /// How long ago another moment was; nothing if it is still to come.
    pub const fn since(self, earlier: Self) -> Duration {
        let millis = if self.millis > earlier.millis { self.millis.abs_diff(earlier.millis) } else { 0 };
        Duration::from_millis(millis)
    }
}

impl fmt::Display for Timestamp {
    /// RFC 3339 in UTC, to the millisecond, so that texts sort as times do; moments outside the calendar's years are shown
    /// as the first or last it has.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = if self.millis < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
        write!(formatter, "{:.3}", jiff::Timestamp::from_millisecond(self.millis).unwrap_or(end))
    }
}

impl FromStr for Timestamp {
    type Err = UnreadableTime;

    fn from_str(text: &str) -> Result<Self, UnreadableTime> {
        match text.parse::<jiff::Timestamp>() {
            Ok(moment) => Ok(Self { millis: moment.as_millisecond() }),
            Err(source) => Err(UnreadableTime { text: text.to_owned(), source }),
        }
    }
}

/// A text that is no moment in RFC 3339.
#[derive(Debug, Clone)]
pub struct UnreadableTime {
    text: String,
    source: jiff::Error,
}

impl fmt::Display for UnreadableTime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` is not a time such as `2026-01-31T09:30:00Z`", self.text.escape_debug())
    }
}

impl Error for UnreadableTime {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.source)
    }
}

/// The id of one attempt at a node, the same wherever it is computed (`R-CLAIM-6`).
pub fn attempt_id(run: RunId, node_address: &str, attempt: u32) -> Uuid {
    derived("attempt", run, attempt, node_address)
}

/// What the outside world recognises a node's effect by, stable over attempts and resumes (`R-CLAIM-6`).
///
/// `first_run` is the first run of the lineage; re-executing a completed node starts a new generation.
pub fn idempotency_key(first_run: RunId, node_address: &str, generation: u32) -> Uuid {
    derived("key", first_run, generation, node_address)
}

/// The id of a commit: an owner writes each place in the journal once (`R-JRN-1`). The fence alone does not tell owners
/// apart: processes that take a run at the same moment all expect the same one, and only one of them gets it.
pub fn commit_id(run: RunId, owner: OwnerId, fence: Fence, first: Seq) -> Uuid {
    Uuid::new_v5(&NAMESPACE, format!("commit/{run}/{owner}/{fence}/{first}").as_bytes())
}

/// Two inputs never meet in one text: word, run and number hold no `/`, and the address, which does, comes last.
fn derived(word: &str, run: RunId, number: u32, node_address: &str) -> Uuid {
    Uuid::new_v5(&NAMESPACE, format!("{word}/{run}/{number}/{node_address}").as_bytes())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{
        CommandId, Duration, Fence, OwnerId, QuestionId, RunId, Seq, Timestamp, Uuid, attempt_id, idempotency_key,
    };

    const RUN: &str = "0198c5f2-7b3a-7d10-8e4f-1a2b3c4d5e6f";

    fn run() -> RunId {
        RUN.parse().unwrap()
    }

    #[test]
    fn derived_ids_never_change() {
        // R-CLAIM-6: whoever stored one must recognise it, whatever the version of sprag.
        for (id, expected) in [
            (attempt_id(run(), "build", 1), "7d5b55fa-4af5-5096-af49-2f85f3547c7a"),
            (attempt_id(run(), "build", 2), "b6d38b6f-9a1f-5714-ae24-6e0ba667c212"),
            (attempt_id(run(), "each/0/build", 1), "56a84388-445d-558e-a163-40c2d0d4cdac"),
            (idempotency_key(run(), "build", 1), "95867816-6f84-543f-8764-0ba6a174cfcc"),
            (idempotency_key(run(), "each/0/build", 2), "6e3f25c4-b301-5634-9d42-ee98dd7a8647"),
            (idempotency_key(RunId(Uuid::nil()), "build", 0), "f9876d75-a0f2-51f5-9d88-c997520ec729"),
        ] {
            assert_eq!(id.to_string(), expected);
            assert_eq!(id.get_version_num(), 5);
        }
    }

    #[test]
    fn derived_ids_differ_in_every_part() {
        // R-CLAIM-6
        let mut seen = BTreeSet::new();
        for run in [run(), RunId(Uuid::nil())] {
            for node in ["1", "1/1", "1/1/1", "a", "a/1", "1/a"] {
                for number in [0, 1, 11, u32::MAX] {
                    assert!(seen.insert(attempt_id(run, node, number)), "{node} {number}");
                    assert!(seen.insert(idempotency_key(run, node, number)), "{node} {number}");
                }
            }
        }
    }

    #[test]
    fn ids_are_stored_as_what_they_hold() {
        assert_eq!(serde_json::to_string(&run()).unwrap(), format!("\"{RUN}\""));
        assert_eq!(serde_json::from_str::<RunId>(&format!("\"{RUN}\"")).unwrap(), run());
        assert_eq!(run().to_string(), RUN);
        assert_eq!(RUN.parse(), Ok(OwnerId(run().0)));
        assert_eq!(RUN.parse(), Ok(CommandId(run().0)));
        assert_eq!("x\n".parse::<RunId>().unwrap_err().to_string(), "`x\\n` is not a UUID");
        assert_eq!(serde_json::to_string(&(Seq(7), Fence(8))).unwrap(), "[7,8]");
        assert_eq!((Seq(7).next(), Fence(u64::MAX).next()), (Seq(8), Fence(u64::MAX)));
        assert_eq!(format!("{} {}", Seq(7), Fence(8)), "7 8");
        let bytes = postcard::to_stdvec(&(run(), Seq(300), QuestionId(3))).unwrap();
        assert_eq!(postcard::from_bytes::<(RunId, Seq, QuestionId)>(&bytes).unwrap(), (run(), Seq(300), QuestionId(3)));
    }

    #[test]
    fn questions_have_one_way_to_be_written() {
        assert_eq!("q1".parse(), Ok(QuestionId(1)));
        assert_eq!(serde_json::to_string(&QuestionId(12)).unwrap(), "\"q12\"");
        assert_eq!(serde_json::from_str::<QuestionId>("\"q12\"").unwrap(), QuestionId(12));
        for bad in ["", "q", "1", "Q1", "q01", "q+1", "q-1", "q4294967296", "q1 "] {
            assert!(bad.parse::<QuestionId>().is_err(), "{bad}");
        }
        assert_eq!("1".parse::<QuestionId>().unwrap_err().to_string(), "`1` is not a question such as `q1`");
    }

    #[test]
    fn times_neither_overflow_nor_run_backwards() {
        let (first, last) = (Timestamp::from_millis(i64::MIN), Timestamp::from_millis(i64::MAX));
        let day = Duration::from_millis(86_400_000);
        assert_eq!(Timestamp::from_millis(5).plus(day).millis, 86_400_005);
        assert_eq!(last.plus(day), last);
        assert_eq!(first.plus(Duration::from_millis(u64::MAX)), last);
        assert_eq!(last.since(first).millis, u64::MAX);
        assert_eq!(first.since(last).millis, 0);
        assert_eq!(Timestamp::from_millis(7).since(Timestamp::from_millis(-3)).millis, 10);
    }

    #[test]
    fn times_are_shown_as_people_write_them() {
        let moment = Timestamp::from_millis(1_769_851_800_250);
        assert_eq!(moment.to_string(), "2026-01-31T09:30:00.250Z");
        assert_eq!("2026-01-31T09:30:00.25Z".parse::<Timestamp>().unwrap(), moment);
        assert_eq!("2026-01-31T10:30:00.25+01:00".parse::<Timestamp>().unwrap(), moment);
        assert_eq!(serde_json::to_string(&moment).unwrap(), "1769851800250");
        assert_eq!(Timestamp::from_millis(i64::MAX).to_string(), format!("{:.3}", jiff::Timestamp::MAX));
        assert_eq!(Timestamp::from_millis(i64::MIN).to_string(), format!("{:.3}", jiff::Timestamp::MIN));
        for bad in ["", "2026-01-31", "2026-01-31T09:30:00", "2026-02-30T00:00:00Z", "now"] {
            assert!(bad.parse::<Timestamp>().is_err(), "{bad}");
        }
    }
}
