//! What the shell tests share.

mod harness;
pub mod payloads;
pub mod scripts;

pub use harness::{Directory, Lcg, Shell, pieces, run, shells};
