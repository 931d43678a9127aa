//! How much an output can be trusted, and how that travels to what is made of it (`R-REC-7`).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::run::failure::Grade;

/// How much an output can be trusted, from 0 to 1 in hundredths; less than 1 is *tainted*.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Confidence(u8);

/// Where the output of a node comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// From its work, with the grade if it was graded.
    Work(Option<Grade>),
    /// From a person; with a grade if it is the result of an attempt that was graded so.
    Person(Option<Grade>),
    /// It is the node's fallback.
    Fallback,
    /// There is none, though dependents go on (`R-EDGE-4`).
    Nothing,
}

impl Confidence {
    /// Of an output that is just what the work gives.
    pub const CLEAN: Self = Self(100);
    /// Of an output that a person provided.
    pub const PROVIDED: Self = Self(80);
    /// Of a fallback, as the contract says.
    pub const FALLBACK: Self = Self(30);
    /// Of no output.
    pub const NOTHING: Self = Self(0);

    /// The confidence in an output of this origin. Who took a bad result vouches for it, but no more than for an own one.
    pub fn of(origin: Origin) -> Self {
        match origin {
            Origin::Work(None) => Self::CLEAN,
            Origin::Work(Some(grade)) => Self::of_grade(grade),
            Origin::Person(None) => Self::PROVIDED,
            Origin::Person(Some(grade)) => Self::PROVIDED.min(Self::of_grade(grade)),
            Origin::Fallback => Self::FALLBACK,
            Origin::Nothing => Self::NOTHING,
        }
    }

    /// The confidence in a result of this grade. What passes is clean, C included; D and F fail, and are what
    /// "low-grade" means where a person takes them all the same.
    pub const fn of_grade(grade: Grade) -> Self {
        match grade {
            Grade::A | Grade::B | Grade::C => Self::CLEAN,
            Grade::D => Self(50),
            Grade::F => Self::FALLBACK,
        }
    }

    /// Whether it is not tainted.
    pub const fn is_clean(self) -> bool {
        self.0 == Self::CLEAN.0
    }

    /// As a number from 0 to 1.
    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / 100.0
    }
}

/// The confidence in an output: the least of its own, if it has one, and of all it was made from.
///
/// `sources` are the nodes whose edges hold; the others gave nothing.
pub fn travels(own: Option<Confidence>, sources: impl IntoIterator<Item = Confidence>) -> Confidence {
    sources.into_iter().chain(own).min().unwrap_or(Confidence::CLEAN)
}

/// An input that is tainted where only clean ones may pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unclean<K> {
    /// The input.
    pub input: K,
    /// How much it can be trusted.
    pub confidence: Confidence,
}

/// Whether a gate that requires clean inputs, or any node under `--strict`, may go on. If not, the tainted input with the
/// smallest key says why, whatever their order.
pub fn require_clean<K: Ord>(inputs: impl IntoIterator<Item = (K, Confidence)>) -> Result<(), Unclean<K>> {
    let tainted = inputs.into_iter().filter(|(_, confidence)| !confidence.is_clean());
    match tainted.min_by(|(one, _), (other, _)| one.cmp(other)) {
        Some((input, confidence)) => Err(Unclean { input, confidence }),
        None => Ok(()),
    }
}

impl<K: fmt::Display> fmt::Display for Unclean<K> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the output of `{}` is tainted (confidence {})", self.input, self.confidence)
    }
}

impl fmt::Display for Confidence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.as_f64())
    }
}

impl From<Confidence> for f64 {
    fn from(confidence: Confidence) -> Self {
        confidence.as_f64()
    }
}

/// A number that is no confidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnreadableConfidence(pub f64);

impl fmt::Display for UnreadableConfidence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a confidence is a number from 0 to 1, not {}", self.0)
    }
}

impl std::error::Error for UnreadableConfidence {}

impl TryFrom<f64> for Confidence {
    type Error = UnreadableConfidence;

    /// Reads a number from 0 to 1, to the nearest hundredth; what would only round to clean stays tainted.
    fn try_from(number: f64) -> Result<Self, UnreadableConfidence> {
        if !(0.0..=1.0).contains(&number) {
            return Err(UnreadableConfidence(number));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 100")]
        let hundredths = (number * 100.0).round() as u8;
        Ok(Self(if number < 1.0 { hundredths.min(99) } else { hundredths }))
    }
}

#[cfg(test)]
mod tests {
    use super::{Confidence, Grade, Origin, Unclean, require_clean, travels};

    #[test]
    fn fallbacks_low_grades_and_what_people_force_are_tainted() {
        // R-REC-7
        for (origin, confidence) in [
            (Origin::Work(None), 1.0),
            (Origin::Work(Some(Grade::A)), 1.0),
            (Origin::Work(Some(Grade::B)), 1.0),
            (Origin::Work(Some(Grade::C)), 1.0),
            (Origin::Person(None), 0.8),
            (Origin::Person(Some(Grade::A)), 0.8),
            (Origin::Person(Some(Grade::C)), 0.8),
            (Origin::Person(Some(Grade::D)), 0.5),
            (Origin::Person(Some(Grade::F)), 0.3),
            (Origin::Fallback, 0.3),
            (Origin::Nothing, 0.0),
        ] {
            let of = Confidence::of(origin);
            assert!((of.as_f64() - confidence).abs() < f64::EPSILON, "{origin:?}");
            assert_eq!(of.is_clean(), confidence >= 1.0, "{origin:?}");
        }
    }

    #[test]
    fn taint_travels_as_the_least_confidence() {
        // R-REC-7
        let of = |number: f64| Confidence::try_from(number).unwrap();
        for (own, sources, expected) in [
            (None, vec![], 1.0),
            (None, vec![1.0, 1.0], 1.0),
            (None, vec![1.0, 0.3, 0.7], 0.3),
            (Some(1.0), vec![0.3], 0.3),
            (Some(0.3), vec![], 0.3),
            (Some(0.3), vec![1.0], 0.3),
            (Some(0.8), vec![0.7, 0.9], 0.7),
            // What a person provides instead of a node's own output does not clean what went into it.
            (Some(0.8), vec![0.0], 0.0),
        ] {
            let travelled = travels(own.map(of), sources.iter().copied().map(of));
            assert_eq!(travelled, of(expected), "{own:?} {sources:?}");
        }
    }

    #[test]
    fn who_requires_clean_inputs_is_told_which_is_not() {
        // R-REC-7
        let (clean, fallback) = (Confidence::CLEAN, Confidence::FALLBACK);
        assert_eq!(require_clean::<&str>([]), Ok(()));
        assert_eq!(require_clean([("a", clean), ("b", clean)]), Ok(()));
        let unclean = Unclean { input: "b", confidence: Confidence::PROVIDED };
        for order in [[("c", fallback), ("b", Confidence::PROVIDED)], [("b", Confidence::PROVIDED), ("c", fallback)]] {
            assert_eq!(require_clean([("a", clean)].into_iter().chain(order)), Err(unclean));
        }
        assert_eq!(unclean.to_string(), "the output of `b` is tainted (confidence 0.8)");
    }

    #[test]
    fn confidence_is_stored_as_a_number_and_read_strictly() {
        // R-REC-7
        for hundredths in 0..=100 {
            let confidence = Confidence(hundredths);
            let stored = serde_json::to_string(&confidence).unwrap();
            assert_eq!(serde_json::from_str::<Confidence>(&stored).unwrap(), confidence, "{stored}");
        }
        assert_eq!(serde_json::to_string(&Confidence::FALLBACK).unwrap(), "0.3");
        for bad in ["-0.1", "1.1", "null", "\"1\"", "1e400"] {
            assert!(serde_json::from_str::<Confidence>(bad).is_err(), "{bad}");
        }
        assert!(Confidence::try_from(f64::NAN).is_err());
        assert!(!Confidence::try_from(0.999).unwrap().is_clean());
        assert_eq!(Confidence::try_from(-0.0).unwrap(), Confidence::NOTHING);
    }
}
