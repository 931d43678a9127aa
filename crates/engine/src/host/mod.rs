//! Drives runs for real: one thread decides and writes, slots execute, listeners follow.

mod clock;
mod coordinator;
mod follower;
mod functions;
mod outcome;
mod owned;
mod prepare;
mod secrets;
mod slots;
mod start;
mod tail;
mod writing;

pub use clock::Clock;
pub use follower::{Follower, Heard};
pub use functions::{Call, Functions};
pub use outcome::{Notice, Outcome};
pub use start::{Begin, Host, Surroundings, clean_up};
