//! The real binary in an empty folder: what it prints, where to, and how it exits.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test that cannot go on stops and says why"
)]

mod faults;
mod graph;
mod guarding;
mod help;
mod hostile;
mod kills;
mod ledger;
mod owner;
mod printing;
mod processes;
mod project;
mod reading;
mod reviewed;
mod running;
mod space;
mod steering;
mod validate;
mod wide;
