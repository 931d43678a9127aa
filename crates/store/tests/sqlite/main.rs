//! What only the SQLite store can do wrong.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test that cannot go on stops")]

mod damage;
mod opening;
mod owners;
mod restart;
mod sample;
mod several;
mod views;
