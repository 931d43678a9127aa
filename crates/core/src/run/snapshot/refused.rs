//! Why a stored run is not taken.

use std::error::Error;
use std::fmt;

use super::MACHINE_VERSION;

/// Why a stored run is not taken. Nothing is lost with it: the journal holds the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unrestorable {
    /// It has a form that this release does not know.
    Version(u32),
    /// It is a run of another workflow, or of another version of this one.
    OtherWorkflow,
    /// A result that is kept beside it is not there: that of the node at this address.
    Missing(String),
    /// It is not what was written.
    Damaged(String),
}

impl fmt::Display for Unrestorable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(version) => {
                write!(formatter, "the stored run has form {version}, and this sprag reads {MACHINE_VERSION}")
            }
            Self::OtherWorkflow => formatter.write_str("the stored run is not one of this workflow"),
            Self::Missing(address) => write!(formatter, "the result of `{address}` is not stored with its run"),
            Self::Damaged(detail) => write!(formatter, "the stored run is damaged: {detail}"),
        }
    }
}

impl Error for Unrestorable {}
