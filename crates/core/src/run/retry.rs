//! Whether and when a failed attempt is repeated (`R-RETRY-1`).

use uuid::Uuid;

use super::Class;
use crate::file::{Backoff, Duration, ErrorCode, Retry};

/// Parts into which a delay is cut for its jitter; whole numbers give the same delay on every machine.
const PARTS: u32 = 1_000_000;

/// How the failed attempts of a node are repeated, with nothing left open.
#[derive(Debug, Clone, PartialEq)]
pub struct RetryRules {
    /// How many attempts in all.
    pub max_attempts: u32,
    /// The shortest delay, and the one before the second attempt.
    pub initial: Duration,
    /// The longest delay; it wins over a longer `initial`.
    pub max: Duration,
    /// How the delay grows.
    pub backoff: Backoff,
    /// By what part of itself the delay varies; what is not from 0 to 1 counts as the nearer of the two.
    pub jitter: f64,
    /// Only these are repeated, whatever their class.
    pub only: Option<Vec<Matcher>>,
    /// These are not repeated, even if `only` names them.
    pub never: Vec<Matcher>,
}

/// What an item of `only` or `never` names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Matcher {
    /// One code.
    Code(ErrorCode),
    /// All codes of a class.
    Class(Class),
}

impl Matcher {
    /// Reads an item of a list; nothing if it is neither code nor class, which loading a file refuses.
    pub fn parse(text: &str) -> Option<Self> {
        let class = Class::from_name(text).map(Self::Class);
        class.or_else(|| ErrorCode::new(text).ok().map(Self::Code))
    }

    /// Whether it names this code, or the code's class.
    pub fn matches(&self, code: &ErrorCode) -> bool {
        match self {
            Self::Code(named) => named == code,
            Self::Class(named) => *named == Class::of(code),
        }
    }
}

impl Default for RetryRules {
    fn default() -> Self {
        Self {
            max_attempts: 1,
            initial: Duration::from_millis(1_000),
            max: Duration::from_millis(30_000),
            backoff: Backoff::Exponential,
            jitter: 0.2,
            only: None,
            never: Vec::new(),
        }
    }
}

impl RetryRules {
    /// What a node's `retry` says, completed by the defaults.
    pub fn resolve(retry: Option<&Retry>) -> Self {
        let default = Self::default();
        let Some(retry) = retry else { return default };
        let initial = retry.initial_delay.unwrap_or(default.initial);
        let listed = |items: &Vec<String>| items.iter().filter_map(|item| Matcher::parse(item)).collect();
        Self {
            max_attempts: retry.max_attempts.unwrap_or(default.max_attempts).max(1),
            initial,
            // What somebody wrote is not cut short by a default.
            max: retry.max_delay.unwrap_or(default.max.max(initial)),
            backoff: retry.backoff.unwrap_or(default.backoff),
            jitter: retry.jitter.unwrap_or(default.jitter),
            only: retry.only.as_ref().map(listed),
            never: retry.never.as_ref().map(listed).unwrap_or_default(),
        }
    }

    /// Whether a failure with this code is worth another attempt, as far as its code can tell.
    pub fn wants(&self, code: &ErrorCode) -> bool {
        if self.never.iter().any(|item| item.matches(code)) {
            return false;
        }
        match &self.only {
            Some(only) => only.iter().any(|item| item.matches(code)),
            None => Class::of(code) != Class::Unrecoverable,
        }
    }

    /// The delay after so many tries, before the next one.
    ///
    /// The jitter hangs on the id of the attempt that failed, so replay agrees. Interruptions are no tries (`R-CLAIM-4`).
    pub fn delay(&self, tries: u32, attempt_id: &Uuid, retry_after: Option<Duration>) -> Duration {
        let (initial, max) = (self.initial.millis.min(self.max.millis), self.max.millis);
        let grown = match self.backoff {
            Backoff::Fixed => initial,
            Backoff::Linear => initial.saturating_mul(u64::from(tries.max(1))),
            Backoff::Exponential => initial.saturating_mul(2_u64.saturating_pow(tries.saturating_sub(1))),
        };
        let own = jittered(grown.min(max), self.jitter, attempt_id).clamp(initial, max);
        Duration::from_millis(own.max(retry_after.map_or(0, |asked| asked.millis)))
    }
}

/// A length between `millis · (1 - jitter)` and `millis · (1 + jitter)`, chosen by the id.
fn jittered(millis: u64, jitter: f64, attempt_id: &Uuid) -> u64 {
    let spread = u128::from(millis) * u128::from(parts(jitter)) / u128::from(PARTS);
    // The last bytes: version and variant of a UUID stand further to the front.
    let [.., a, b, c, d] = *attempt_id.as_bytes();
    let place = u128::from(u32::from_be_bytes([a, b, c, d]));
    // `spread` is at most `millis`, so nothing is subtracted from less, and the sum fits what it is computed in.
    let length = u128::from(millis) - spread + 2 * spread * place / u128::from(u32::MAX);
    u64::try_from(length).unwrap_or(u64::MAX)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped; what is no number becomes 0")]
fn parts(jitter: f64) -> u32 {
    (jitter.clamp(0.0, 1.0) * f64::from(PARTS)).round() as u32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Known, RunId, attempt_id};
    use super::{Backoff, Duration, ErrorCode, Matcher, Retry, RetryRules, Uuid};

    fn rules(backoff: Backoff, initial: u64, max: u64, jitter: f64) -> RetryRules {
        let (initial, max) = (Duration::from_millis(initial), Duration::from_millis(max));
        RetryRules { initial, max, backoff, jitter, ..RetryRules::default() }
    }

    fn id(attempt: u32) -> Uuid {
        attempt_id(RunId(Uuid::nil()), "build", attempt)
    }

    fn code(text: &str) -> ErrorCode {
        ErrorCode::new(text).unwrap()
    }

    #[test]
    fn what_is_not_written_has_a_default() {
        // R-RETRY-1
        let default = RetryRules::resolve(None);
        assert_eq!(default, rules(Backoff::Exponential, 1_000, 30_000, 0.2));
        assert_eq!((default.max_attempts, &default.only, &default.never), (1, &None, &vec![]));
        assert_eq!(RetryRules::resolve(Some(&Retry::default())), default);
        let retry: Retry = serde_json::from_str(
            r#"{"max_attempts": 4, "initial_delay": "2s", "max_delay": "1m", "backoff": "linear", "jitter": 0.5,
                "only": ["transient", "TOOL_ERROR"], "never": ["NETWORK"]}"#,
        )
        .unwrap();
        let resolved = RetryRules::resolve(Some(&retry));
        assert_eq!(resolved.max_attempts, 4);
        assert_eq!(
            resolved.only,
            Some(vec![Matcher::Class(super::Class::Transient), Matcher::Code(code("TOOL_ERROR"))])
        );
        assert_eq!(resolved.never, [Matcher::Code(code("NETWORK"))]);
        assert_eq!(RetryRules { max_attempts: 1, only: None, never: vec![], ..resolved }, {
            rules(Backoff::Linear, 2_000, 60_000, 0.5)
        });
    }

    #[test]
    fn a_written_delay_is_not_cut_by_a_default() {
        // R-RETRY-1
        let written = |key: &str, value: &str| {
            let retry = serde_json::from_value(serde_json::json!({ key: value, "jitter": 0 })).unwrap();
            RetryRules::resolve(Some(&retry)).delay(1, &id(1), None).millis
        };
        assert_eq!(written("initial_delay", "2m"), 120_000);
        assert_eq!(written("max_delay", "300ms"), 300);
    }

    #[test]
    fn delays_grow_as_written_up_to_the_cap() {
        // R-RETRY-1
        for (backoff, expected) in [
            (Backoff::Fixed, [1_000, 1_000, 1_000, 1_000, 1_000, 1_000]),
            (Backoff::Linear, [1_000, 2_000, 3_000, 4_000, 5_000, 6_000]),
            (Backoff::Exponential, [1_000, 2_000, 4_000, 8_000, 10_000, 10_000]),
        ] {
            let rules = rules(backoff, 1_000, 10_000, 0.0);
            let delays = [1, 2, 3, 4, 5, 6].map(|tries| rules.delay(tries, &id(tries), None).millis);
            assert_eq!(delays, expected, "{backoff:?}");
        }
        assert_eq!(rules(Backoff::Linear, 1_000, 2_500, 0.0).delay(3, &id(3), None).millis, 2_500);
        assert_eq!(rules(Backoff::Fixed, 9_000, 2_500, 0.0).delay(1, &id(1), None).millis, 2_500);
    }

    #[test]
    fn jitter_hangs_on_the_attempt_and_goes_both_ways() {
        // R-RETRY-1
        let rules = rules(Backoff::Linear, 1_000, 30_000, 0.2);
        let delays: Vec<u64> = (1..=1_000).map(|attempt| rules.delay(5, &id(attempt), None).millis).collect();
        assert!(delays.iter().all(|delay| (4_000..=6_000).contains(delay)));
        assert!(delays.iter().any(|delay| *delay < 4_100) && delays.iter().any(|delay| *delay > 5_900));
        let mean = delays.iter().sum::<u64>() / 1_000;
        assert!((4_900..=5_100).contains(&mean), "{mean}");
        assert_eq!(rules.delay(5, &id(7), None), rules.delay(5, &id(7), None));
        // Locked: a replay by another version must find the due times that were written.
        assert_eq!([1, 2, 3].map(|attempt| rules.delay(5, &id(attempt), None).millis), [5_464, 5_923, 4_770]);
    }

    #[test]
    fn jitter_stays_between_the_initial_delay_and_the_cap() {
        // R-RETRY-1
        let rules = rules(Backoff::Exponential, 1_000, 8_000, 1.0);
        for attempt in 1..=200 {
            assert!((1_000..=2_000).contains(&rules.delay(1, &id(attempt), None).millis));
            assert!((1_000..=8_000).contains(&rules.delay(2, &id(attempt), None).millis));
            assert!((1_000..=8_000).contains(&rules.delay(40, &id(attempt), None).millis));
        }
        let (least, most) = (Uuid::from_bytes([0; 16]), Uuid::from_bytes([255; 16]));
        assert_eq!(rules.delay(2, &least, None).millis, 1_000);
        assert_eq!(rules.delay(2, &most, None).millis, 4_000);
    }

    #[test]
    fn a_longer_retry_after_wins() {
        // R-RETRY-1, R-ERR-1
        let rules = rules(Backoff::Fixed, 1_000, 5_000, 0.0);
        for (asked, expected) in [(0, 1_000), (999, 1_000), (1_001, 1_001), (60_000, 60_000), (u64::MAX, u64::MAX)] {
            let asked = Duration::from_millis(asked);
            assert_eq!(rules.delay(1, &id(1), Some(asked)).millis, expected, "{asked}");
        }
    }

    #[test]
    fn lists_name_codes_and_classes() {
        // R-RETRY-1
        let wanted = |only: Option<&[&str]>, never: &[&str]| {
            let list = |items: &[&str]| items.iter().map(ToString::to_string).collect();
            let retry = Retry { only: only.map(list), never: Some(list(never)), ..Retry::default() };
            let rules = RetryRules::resolve(Some(&retry));
            let codes = ["TIMEOUT", "NETWORK", "TOOL_ERROR", "MINE", "LOW_GRADE", "INTERNAL"];
            codes.into_iter().filter(|text| rules.wants(&code(text))).collect::<Vec<_>>().join(" ")
        };
        for (only, never, expected) in [
            (None, &[][..], "TIMEOUT NETWORK TOOL_ERROR MINE LOW_GRADE"),
            (None, &["TIMEOUT"], "NETWORK TOOL_ERROR MINE LOW_GRADE"),
            (None, &["transient"], "TOOL_ERROR MINE LOW_GRADE"),
            (None, &["model-limitation", "NETWORK"], "TIMEOUT LOW_GRADE"),
            (Some(&["TIMEOUT"][..]), &[], "TIMEOUT"),
            (Some(&["transient"]), &[], "TIMEOUT NETWORK"),
            (Some(&["transient", "MINE"]), &["NETWORK"], "TIMEOUT MINE"),
            (Some(&["INTERNAL"]), &[], "INTERNAL"),
            (Some(&["unrecoverable"]), &[], "INTERNAL"),
            (Some(&["TIMEOUT", "INTERNAL"]), &["transient"], "INTERNAL"),
            (Some(&["TIMEOUT"]), &["TIMEOUT"], ""),
            (Some(&[]), &[], ""),
            (Some(&["no such thing"]), &[], ""),
        ] {
            assert_eq!(wanted(only, never), expected, "only {only:?}, never {never:?}");
        }
        assert!(!RetryRules::default().wants(&Known::REJECTED.into()));
    }

    #[test]
    fn extremes_do_not_overflow() {
        for backoff in [Backoff::Fixed, Backoff::Linear, Backoff::Exponential] {
            for jitter in [0.0, 1.0, 7.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE] {
                for tries in [0, 1, 2, 63, 64, 65, u32::MAX] {
                    for (initial, max) in [(0, 0), (0, u64::MAX), (u64::MAX, 0), (u64::MAX, u64::MAX), (1, u64::MAX)] {
                        let delay = rules(backoff, initial, max, jitter).delay(tries, &id(tries), None).millis;
                        assert!(
                            delay >= initial.min(max) && delay <= max,
                            "{backoff:?} {jitter} {tries} {initial} {max}"
                        );
                    }
                }
            }
        }
        assert_eq!(rules(Backoff::Exponential, 1_000, 9_000, f64::NAN).delay(3, &id(3), None).millis, 4_000);
    }

    proptest! {
        #[test]
        fn a_delay_is_always_within_its_bounds(
            choice in 0..3_usize,
            initial: u64,
            max: u64,
            jitter in proptest::num::f64::ANY,
            tries: u32,
            bytes: [u8; 16],
            asked: Option<u64>,
        ) {
            // R-RETRY-1
            let backoff = [Backoff::Fixed, Backoff::Linear, Backoff::Exponential][choice];
            let asked = asked.map(Duration::from_millis);
            let delay = rules(backoff, initial, max, jitter).delay(tries, &Uuid::from_bytes(bytes), asked).millis;
            let least = asked.map_or(0, |asked| asked.millis);
            prop_assert!(delay >= initial.min(max).max(least));
            prop_assert!(delay <= max.max(least));
        }
    }
}
