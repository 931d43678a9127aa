//! Moments and lengths of time as people read them.

use sprag_core::run::Timestamp;

/// A moment to the second: `2026-01-31 09:30:00Z`.
pub fn moment(at: Timestamp) -> String {
    let text = at.to_string();
    let seconds = text.split_once('.').map_or(text.as_str(), |(seconds, _)| seconds);
    seconds.replacen('T', " ", 1) + "Z"
}

/// A length of time, as precise as it matters: `37 ms`, `4.2 s`, `3 min 12 s`, `2 h 5 min`.
pub fn length(millis: u64) -> String {
    let seconds = millis / 1000;
    match seconds {
        0 => format!("{millis} ms"),
        1..=59 => format!("{seconds}.{} s", millis % 1000 / 100),
        60..=3599 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::{Timestamp, length, moment};

    #[test]
    fn lengths_and_moments() {
        for (millis, text) in
            [(0, "0 ms"), (999, "999 ms"), (4_250, "4.2 s"), (192_000, "3 min 12 s"), (7_500_000, "2 h 5 min")]
        {
            assert_eq!(length(millis), text);
        }
        assert_eq!(moment(Timestamp::from_millis(1_769_851_800_250)), "2026-01-31 09:30:00Z");
    }
}
