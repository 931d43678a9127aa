//! Why a checkpoint cannot be read or written.

use std::error::Error;
use std::fmt;

use super::CHECKPOINT_VERSION;
use super::id::CheckpointId;

/// Why stored bytes are not taken as a checkpoint (`R-CP-5`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// They do not begin as a checkpoint does.
    Foreign,
    /// They end too early.
    Truncated,
    /// Something follows the end.
    Trailing,
    /// They are not what was written.
    Checksum,
    /// Written by a newer sprag.
    Newer(u16),
    /// The header says so many bytes, which nobody should unpack.
    TooLarge(u64),
    /// What is packed cannot be unpacked, or not to the length that was written down.
    Packed(String),
    /// The record is not one of its version.
    Content(String),
    /// It is the checkpoint of another run, or of another moment.
    Misplaced(Box<CheckpointId>),
}

impl Refused {
    /// Whether the bytes are whole and another release could read them: nothing is broken, and nothing older should be
    /// used in their place.
    pub const fn needs_newer(&self) -> bool {
        matches!(self, Self::Newer(_))
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign => formatter.write_str("it is not a checkpoint"),
            Self::Truncated => formatter.write_str("it is cut short"),
            Self::Trailing => formatter.write_str("something follows its end"),
            Self::Checksum => formatter.write_str("it is not what was written: the checksum differs"),
            Self::Newer(version) => write!(
                formatter,
                "it has version {version}; this sprag reads up to {CHECKPOINT_VERSION}, so a newer one is needed"
            ),
            Self::TooLarge(bytes) => write!(formatter, "it claims to hold {bytes} bytes, which is too much"),
            Self::Packed(detail) => write!(formatter, "it cannot be unpacked: {detail}"),
            Self::Content(detail) => write!(formatter, "its content makes no sense: {detail}"),
            Self::Misplaced(found) => write!(formatter, "another one is stored in its place: `{found}`"),
        }
    }
}

impl Error for Refused {}

/// Why a checkpoint cannot be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unwritable {
    /// It would be so many bytes long, which nobody would read back.
    TooLarge(u64),
    /// It contradicts itself.
    Content(String),
    /// Packing failed.
    Packing(String),
}

impl fmt::Display for Unwritable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge(bytes) => write!(formatter, "the checkpoint has {bytes} bytes, which is too much"),
            Self::Content(detail) => write!(formatter, "the checkpoint makes no sense: {detail}"),
            Self::Packing(detail) => write!(formatter, "the checkpoint cannot be packed: {detail}"),
        }
    }
}

impl Error for Unwritable {}
