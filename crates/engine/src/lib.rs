//! What sprag does with what the core decides: reads files, finds the project, drives runs, and offers the verbs
//! ([`ops`]) that the command line and every later face call.

mod check;
mod compiled;
mod driver;
mod engine;
mod error;
pub mod events;
pub mod exec;
pub mod guard;
pub mod host;
mod logs;
pub mod ops;
mod outputs;
mod project;
mod report;
mod run_error;
mod secrets;
mod settings;
mod source;
mod stored;
mod support;

pub use driver::{Driver, Fold, Reply};
pub use engine::Engine;
pub use error::EngineError;
pub use project::Project;
pub use report::{FileReport, Problem, Report};
pub use run_error::RunError;
pub use settings::Settings;
pub use stored::{Overrides, Source};
