//! Judges of histories. They know the contract, not the core: each rule is written down here a second time, over
//! nothing but what was stored, what was executed and what was acknowledged, so that a mistake in the rules of a run
//! cannot hide in a checker that shares it.

mod attempts;
mod case;
mod compare;
mod edges;
mod ending;
mod growth;
mod history;
mod journal;
mod money;
mod moves;
mod outputs;
mod people;
mod recovery;
mod rest;
mod retries;
mod rules;
mod schedule;
mod stopping;
mod timing;
mod track;
mod trust;

pub use compare::{Summary, difference, summary};
pub use history::{History, Violation, check, check_at_rest};
pub use money::spent;
pub use trust::unclean;
