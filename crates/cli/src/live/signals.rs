//! Ctrl-C, once and twice (`R-GATE-3`).

use std::io::{self, Read as _};
use std::os::unix::net::UnixStream;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level::pipe;

/// How often the process was asked to end.
pub struct Asked {
    /// Each signal is a byte of it: two that come between two looks are two.
    heard: Option<UnixStream>,
    count: u32,
}

impl Asked {
    /// Listens from now on. Where that is not possible the signals end the process, as they always do.
    pub fn listen() -> Self {
        Self { heard: heard().ok(), count: 0 }
    }

    /// How often it was asked so far, if that is news.
    pub fn look(&mut self) -> Option<u32> {
        let mut bytes = [0; 64];
        let fresh = self.heard.as_mut()?.read(&mut bytes).unwrap_or(0);
        if fresh == 0 {
            return None;
        }
        self.count = self.count.saturating_add(u32::try_from(fresh).unwrap_or(u32::MAX));
        Some(self.count)
    }
}

fn heard() -> io::Result<UnixStream> {
    let (heard, told) = UnixStream::pair()?;
    heard.set_nonblocking(true)?;
    pipe::register(SIGINT, told.try_clone()?)?;
    pipe::register(SIGTERM, told)?;
    Ok(heard)
}
