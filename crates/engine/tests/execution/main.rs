//! Commands with real processes: what they get, what they leave, and how they end.

mod bed;
mod environment;
mod failing;
mod files;
mod guarding;
mod output;
mod resources;
mod stopping;
