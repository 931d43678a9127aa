//! Runs as stories.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a story that goes wrong stops")]

mod breaking;
mod guards;
