//! A run as bytes, and back: a stored result of folding its journal (`R-JRN-2`, `R-CP-6`).

mod refused;
mod restore;
mod rows;
mod seen;
mod stored;
mod take;

pub use refused::Unrestorable;

/// The version of the form. There is no migration: whoever finds another one folds the journal.
pub const MACHINE_VERSION: u32 = 1;
