//! What sprag does with what the core decides: reads files, finds the project, and offers the verbs ([`ops`]) that the
//! command line and every later face call.

pub mod check;
mod compiled;
mod driver;
mod error;
pub mod exec;
pub mod guard;
pub mod ops;
pub mod outputs;
mod project;
mod report;
pub mod secrets;
mod settings;
mod source;

pub use driver::{Driver, NotYetSupported, Reply};
pub use error::EngineError;
pub use project::Project;
pub use report::{FileReport, Problem, Report};
pub use settings::Settings;
