//! Workflows, what their work does, and what goes wrong, all from one seed.

mod growing;
mod node;
mod options;
mod recovering;
mod scenario;
mod script;
mod workflow;

pub use options::Features;
pub use scenario::Scenario;
