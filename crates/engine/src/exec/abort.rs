//! How another thread stops an attempt.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use rustix::event::{EventfdFlags, eventfd};

/// How an attempt is stopped (`R-CMD-2`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// Its processes are asked to end, and killed when they take too long.
    Gently,
    /// Its processes are killed.
    Now,
}

/// A handle on one attempt, by which it can be stopped from any thread. Every attempt needs its own: a handle that was
/// used for a second attempt would hand it the stop of the first.
#[derive(Debug, Clone)]
pub struct Abort(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// Wakes the thread that waits for the command.
    wake: OwnedFd,
    /// 0 while nothing is asked, else the highest level asked for.
    level: AtomicU8,
}

impl Abort {
    /// A handle for one attempt.
    pub fn new() -> io::Result<Self> {
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self(Arc::new(Shared { wake, level: AtomicU8::new(0) })))
    }

    /// Asks the attempt to stop. Asking again can only make it stop faster.
    pub fn stop(&self, how: Stop) {
        let level = match how {
            Stop::Gently => 1,
            Stop::Now => 2,
        };
        if self.0.level.fetch_max(level, Ordering::SeqCst) < level {
            // The counter cannot overflow: each level is added once. Nothing else can go wrong with an own eventfd.
            let _ = rustix::io::write(&self.0.wake, &1_u64.to_ne_bytes());
        }
    }

    /// What was asked for so far.
    pub fn asked(&self) -> Option<Stop> {
        match self.0.level.load(Ordering::SeqCst) {
            0 => None,
            1 => Some(Stop::Gently),
            _ => Some(Stop::Now),
        }
    }

    /// What becomes readable when something is asked for.
    pub(super) fn wake(&self) -> BorrowedFd<'_> {
        self.0.wake.as_fd()
    }

    /// Makes it unreadable until something else is asked for. Look at [`Self::asked`] afterwards, never before.
    pub(super) fn calm(&self) {
        let _ = rustix::io::read(&self.0.wake, &mut [0; 8]);
    }
}

#[cfg(test)]
mod tests {
    use super::{Abort, Stop};

    #[test]
    fn a_stop_only_gets_faster() {
        // R-CMD-2
        let abort = Abort::new().unwrap();
        assert_eq!(abort.asked(), None);
        abort.stop(Stop::Gently);
        assert_eq!(abort.clone().asked(), Some(Stop::Gently));
        abort.stop(Stop::Now);
        abort.stop(Stop::Gently);
        assert_eq!(abort.asked(), Some(Stop::Now));
    }
}
