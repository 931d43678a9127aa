//! Decisions: entries from the state and from what happens outside. Nothing here changes the state.

mod command;
mod failing;
mod follow;
mod growing;
mod input;
mod joining;
mod own_stages;
mod recovering;
mod report;
mod spending;
mod starting;
mod stopping;

pub use input::Refused;
