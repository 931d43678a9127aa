//! Ctrl-C, once and twice (`R-GATE-3`).

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// How often the process was asked to end.
pub struct Asked {
    signals: Option<Signals>,
    count: u32,
}

impl Asked {
    /// Listens from now on. Where that is not possible the signals end the process, as they always do.
    pub fn listen() -> Self {
        Self { signals: Signals::new([SIGINT, SIGTERM]).ok(), count: 0 }
    }

    /// How often it was asked so far, and whether that is news.
    pub fn look(&mut self) -> Option<u32> {
        let fresh = self.signals.as_mut().map_or(0, |signals| signals.pending().count());
        if fresh == 0 {
            return None;
        }
        self.count += u32::try_from(fresh).unwrap_or(u32::MAX);
        Some(self.count)
    }
}
