//! The core as its users see it: workflow files in, definitions or diagnostics out; scripts in real shells; runs
//! and checkpoints as they are stored.

#![allow(clippy::disallowed_methods, reason = "tests are not the core: they may read files and start shells")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that cannot go on stops, and may talk"
)]
#![allow(clippy::too_many_lines, reason = "a table is as long as it has rows")]

mod checkpoint;
mod load;
mod plan;
mod run;
mod shell;
