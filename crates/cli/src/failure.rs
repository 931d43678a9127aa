//! What a command can fail with, and how it ends.

use std::fmt;
use std::process::ExitCode;

use sprag_core::codes::Code;
use sprag_core::facts::Facts;
use sprag_engine::EngineError;

/// How the process ends (`R-CLI-3`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Exit(pub u8);

impl Exit {
    /// All went well.
    pub const OK: Self = Self(0);
    /// Usage, or an invalid workflow or workspace.
    pub const INVALID: Self = Self(2);
    /// Only a person can move the run on.
    pub const WAITING: Self = Self(4);
    /// A fault of sprag itself.
    pub const INTERNAL: Self = Self(70);
    /// Interrupted, state saved.
    pub const INTERRUPTED: Self = Self(130);
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.0)
    }
}

/// A failure that ends a command.
#[derive(Debug)]
pub enum Failure {
    /// The engine refused.
    Engine(EngineError),
    /// A run could not go on.
    Run {
        /// What happened.
        message: String,
        /// The stable code and what to do next.
        facts: Facts,
    },
    /// The flags do not go together.
    Usage {
        /// Which.
        message: String,
        /// What to write instead.
        help: String,
    },
    /// The result could not be written.
    Output {
        /// Where to.
        target: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The reader of standard output went away, as in `sprag … | head`: nobody is left to tell.
    ClosedPipe,
}

impl Failure {
    /// The stable code and what to do next.
    pub fn facts(&self) -> Facts {
        match self {
            Self::Engine(error) => error.facts(),
            Self::Run { facts, .. } => facts.clone(),
            Self::Usage { help, .. } => Facts::new(Code::USAGE, help),
            Self::Output { .. } | Self::ClosedPipe => Facts::new(
                Code::OUTPUT_FAILED,
                "check that the folder exists, that it can be written, and that there is space",
            ),
        }
    }

    /// Wraps an error of writing to standard output.
    pub fn standard_output(source: std::io::Error) -> Self {
        if source.kind() == std::io::ErrorKind::BrokenPipe {
            Self::ClosedPipe
        } else {
            Self::Output { target: "standard output".into(), source }
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Engine(error) => error.fmt(formatter),
            Self::Run { message, .. } | Self::Usage { message, .. } => formatter.write_str(message),
            Self::Output { target, source } => write!(formatter, "{target} cannot be written: {source}"),
            Self::ClosedPipe => formatter.write_str("standard output was closed"),
        }
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}
