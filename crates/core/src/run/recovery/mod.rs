//! What is tried when an attempt failed, what it may cost, and what its result is worth (`R-REC-1` to `R-REC-7`).
//!
//! Everything here is a value or a function of values: the run decides with them and keeps what they said.

mod budget;
mod ladder;
mod rules;
mod strategy;
mod taint;
mod tiers;

pub use budget::{Allowance, Exceeded, Purse, expected};
pub use ladder::{Decision, Next, Passed, Situation, TRANSIENT_RETRIES_MAX, choose};
pub use rules::{LADDER_ATTEMPTS_MAX, LadderRules};
pub use strategy::Strategy;
pub use taint::{Confidence, Origin, Unclean, UnreadableConfidence, require_clean, travels};
pub use tiers::{DEFAULT_TIERS, NoHigher, Tiers};
