//! Which checkpoint serves when some cannot be read (`R-CP-5`).

use std::error::Error;
use std::fmt;

use super::id::CheckpointId;
use super::mark::Mark;
use super::refused::Refused;

/// Which checkpoint is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted<'id> {
    /// The newest that can be read.
    Newest,
    /// This one and no other.
    Named(&'id CheckpointId),
}

/// What a run goes on from, and what must be reported first.
#[derive(Debug, Clone, PartialEq)]
pub struct Picked<T> {
    /// The checkpoint; none if the journal serves alone.
    pub checkpoint: Option<(Mark, T)>,
    /// Newer ones that cannot be read, newest first. Their bytes are left as they are.
    pub damaged: Vec<(CheckpointId, Refused)>,
}

/// Why a run cannot go on. There is no way from here to a fresh start: that is for a person to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unserved {
    /// There is no checkpoint of this name.
    NotFound(Box<CheckpointId>),
    /// The one that was named cannot be read.
    Named(Box<CheckpointId>, Refused),
    /// A newer sprag wrote it, so whatever is older is not where the run is.
    Newer(Box<CheckpointId>, Refused),
    /// Neither any checkpoint nor the journal can be read.
    Nothing(Vec<(CheckpointId, Refused)>),
}

impl fmt::Display for Unserved {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound(id) => write!(formatter, "there is no checkpoint `{id}`"),
            Self::Named(id, refused) | Self::Newer(id, refused) => {
                write!(formatter, "the checkpoint `{id}` cannot be used: {refused}")
            }
            Self::Nothing(damaged) => {
                write!(formatter, "neither the journal nor one of {} checkpoints can be read", damaged.len())
            }
        }
    }
}

impl Error for Unserved {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Named(_, refused) | Self::Newer(_, refused) => Some(refused),
            Self::NotFound(_) | Self::Nothing(_) => None,
        }
    }
}

/// Picks what a run goes on from. Each candidate says whether what its mark needs can be read: its own full snapshot, or
/// its base and the journal since. `journal` says whether the journal can be read from its start.
pub fn pick<T>(
    mut candidates: Vec<(Mark, Result<T, Refused>)>,
    wanted: Wanted<'_>,
    journal: bool,
) -> Result<Picked<T>, Unserved> {
    if let Wanted::Named(id) = wanted {
        let named = candidates.into_iter().find(|(mark, _)| mark.id == *id);
        let (mark, read) = named.ok_or_else(|| Unserved::NotFound(Box::new(id.clone())))?;
        return match read {
            Ok(found) => Ok(Picked { checkpoint: Some((mark, found)), damaged: Vec::new() }),
            Err(refused) if refused.needs_newer() => Err(Unserved::Newer(Box::new(mark.id), refused)),
            Err(refused) => Err(Unserved::Named(Box::new(mark.id), refused)),
        };
    }
    candidates.sort_by_key(|(mark, _)| std::cmp::Reverse((mark.seq(), mark.id.ms())));
    let mut damaged = Vec::new();
    for (mark, read) in candidates {
        match read {
            Ok(found) => return Ok(Picked { checkpoint: Some((mark, found)), damaged }),
            Err(refused) if refused.needs_newer() => return Err(Unserved::Newer(Box::new(mark.id), refused)),
            Err(refused) => damaged.push((mark.id, refused)),
        }
    }
    if journal { Ok(Picked { checkpoint: None, damaged }) } else { Err(Unserved::Nothing(damaged)) }
}
