//! A commit: the entries of one drain, stored as one row (`R-JRN-1`).

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::entry::Entry;
use super::ids::{Fence, OwnerId, RunId, Seq, Timestamp, commit_id};

/// Changes whenever the stored form of entries does. Older forms are migrated forward when they are read; newer ones
/// are refused.
pub const JOURNAL_VERSION: u32 = 1;

/// Entries that become durable together.
#[derive(Debug, Clone, PartialEq)]
pub struct Commit {
    /// The number of the first entry.
    pub first: Seq,
    /// When it was decided.
    pub at: Timestamp,
    /// Under which ownership.
    pub fence: Fence,
    /// Repeating a commit that landed is success, so it can be told from any other.
    pub id: Uuid,
    /// The facts.
    pub entries: Vec<Entry>,
}

/// The stored form of the entries of a commit: strict and versioned.
#[derive(Serialize)]
struct StoredRef<'entries> {
    v: u32,
    entries: &'entries [Entry],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    v: u32,
    entries: Vec<Entry>,
}

/// Why stored entries cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unreadable {
    /// Written by a newer sprag.
    Newer(u32),
    /// Not what was written.
    Damaged(String),
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Newer(version) => write!(
                formatter,
                "the journal has format {version}; this sprag reads up to {JOURNAL_VERSION}, so a newer one is needed"
            ),
            Self::Damaged(detail) => write!(formatter, "the journal is damaged: {detail}"),
        }
    }
}

impl std::error::Error for Unreadable {}

impl Commit {
    /// A commit with its id.
    pub fn new(run: RunId, owner: OwnerId, first: Seq, at: Timestamp, fence: Fence, entries: Vec<Entry>) -> Self {
        Self { first, at, fence, id: commit_id(run, owner, fence, first), entries }
    }

    /// The number of the last entry.
    pub const fn last(&self) -> Seq {
        Seq(self.first.0 + (self.entries.len() as u64).saturating_sub(1))
    }

    /// The entries as JSON text.
    pub fn entries_to_json(&self) -> Result<String, String> {
        serde_json::to_string(&StoredRef { v: JOURNAL_VERSION, entries: &self.entries })
            .map_err(|error| error.to_string())
    }
}

/// Reads entries that [`Commit::entries_to_json`] wrote.
pub fn entries_from_json(text: &str) -> Result<Vec<Entry>, Unreadable> {
    #[derive(Deserialize)]
    struct Version {
        v: u32,
    }
    let damaged = |error: serde_json::Error| Unreadable::Damaged(error.to_string());
    let stored = serde_json::from_str::<Stored>(text);
    match stored {
        Ok(stored) if stored.v == JOURNAL_VERSION => Ok(stored.entries),
        Ok(Stored { v, .. }) if v > JOURNAL_VERSION => Err(Unreadable::Newer(v)),
        Ok(Stored { v, .. }) => Err(Unreadable::Damaged(format!("there is no format {v}"))),
        // What cannot be read may be from the future: then that is the thing to say.
        Err(error) => match serde_json::from_str::<Version>(text) {
            Ok(Version { v }) if v > JOURNAL_VERSION => Err(Unreadable::Newer(v)),
            _ => Err(damaged(error)),
        },
    }
}
