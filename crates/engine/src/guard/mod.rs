//! The guard: a small process of the same binary that outlives its owner by a moment, however the owner ends, and sees
//! to it that nothing the owner started goes on (`R-CMD-2`, `R-CLAIM-2`).
//!
//! It is told nothing about single commands. It waits for the end of a pipe whose other end only the owner holds, then
//! kills every process that carries the owner's id, and only then gives back the owner's lock. Who gets the lock knows
//! that the owner and all it started are gone.

mod clean_up;
mod parent;
mod process;

pub use clean_up::clean_up_after;
pub use parent::{Guard, GuardProgram};
pub use process::main;
