//! The core as its users see it: workflow files in, definitions or diagnostics out; and scripts in real shells.

#![expect(clippy::disallowed_methods, reason = "tests are not the core: they may read files and start shells")]

mod load;
mod shell;
