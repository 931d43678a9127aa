//! Commands with real processes: what they get, what they leave, and how they end.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod bed;
mod environment;
mod failing;
mod files;
mod guarding;
mod output;
mod resources;
mod stopping;
