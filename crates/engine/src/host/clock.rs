//! The wall clock as the journal sees it.

use std::time::{SystemTime, UNIX_EPOCH};

use sprag_core::run::Timestamp;

/// Tells the time, and never an earlier one than before: a clock that is set back must not reorder a journal.
#[derive(Debug, Default)]
pub struct Clock {
    last: i64,
}

impl Clock {
    /// Never tells an earlier time than this, even if the clock of this process is behind that of an earlier one.
    pub const fn not_before(&mut self, at: Timestamp) {
        if at.millis > self.last {
            self.last = at.millis;
        }
    }

    /// Now.
    pub fn now(&mut self) -> Timestamp {
        self.last = self.last.max(wall_millis());
        Timestamp::from_millis(self.last)
    }
}

fn wall_millis() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
