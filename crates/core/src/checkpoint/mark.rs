//! A mark: a checkpoint that says only where in the journal it is (`R-CP-6`).

use serde::{Deserialize, Serialize};

use super::id::CheckpointId;
use crate::hash::Digest;
use crate::run::Seq;

/// Why a checkpoint is saved, from weak to strong. One commit has one mark: where several reasons meet, the strongest
/// ([`Ord::max`]) is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// Some time has passed.
    Autosave,
    /// A node is next that costs much.
    BeforeExpensive,
    /// A person is asked next.
    BeforeGate,
    /// A wave is complete.
    WaveEnd,
    /// A phase is complete.
    PhaseEnd,
    /// Somebody asked for it.
    OnDemand,
    /// The run is over.
    RunEnd,
}

impl Trigger {
    /// All triggers, from weak to strong.
    pub const ALL: [Self; 7] = [
        Self::Autosave,
        Self::BeforeExpensive,
        Self::BeforeGate,
        Self::WaveEnd,
        Self::PhaseEnd,
        Self::OnDemand,
        Self::RunEnd,
    ];

    /// The word that is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Autosave => "autosave",
            Self::BeforeExpensive => "before_expensive",
            Self::BeforeGate => "before_gate",
            Self::WaveEnd => "wave_end",
            Self::PhaseEnd => "phase_end",
            Self::OnDemand => "on_demand",
            Self::RunEnd => "run_end",
        }
    }
}

/// A checkpoint in the commit that it closes: the journal up to there is its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// The id of the checkpoint.
    pub id: CheckpointId,
    /// The last completed wave of the phase; none before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wave: Option<u32>,
    /// The phase, from 0.
    pub phase: u16,
    /// Why it was saved.
    pub trigger: Trigger,
    /// What tells it, and the journal before it, from any other.
    pub checksum: Digest,
}

impl Mark {
    /// A mark at the end of a journal. `link` is what the store chains its commits with: the checksum then also covers
    /// every entry before the mark, at no cost that grows with their number.
    pub fn new(id: CheckpointId, wave: Option<u32>, phase: u16, trigger: Trigger, link: &[u8]) -> Self {
        let checksum = checksum(&id, wave, phase, trigger, link);
        Self { id, wave, phase, trigger, checksum }
    }

    /// The last entry of the journal that counts for it.
    pub const fn seq(&self) -> Seq {
        self.id.seq()
    }

    /// Whether it is what was written, at the end of that journal.
    pub fn is_intact(&self, link: &[u8]) -> bool {
        checksum(&self.id, self.wave, self.phase, self.trigger, link) == self.checksum
    }
}

fn checksum(id: &CheckpointId, wave: Option<u32>, phase: u16, trigger: Trigger, link: &[u8]) -> Digest {
    let wave = wave.map_or_else(|| "-".to_owned(), |wave| wave.to_string());
    // No part but the last can hold a line break, so no two marks are the same bytes.
    let mut bytes = format!("sprag mark 1\n{id}\n{wave}\n{phase}\n{}\n", trigger.as_str()).into_bytes();
    bytes.extend_from_slice(link);
    Digest::of(&bytes)
}

/// A mark, and whether a full snapshot was written with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// The mark.
    pub mark: Mark,
    /// The bytes of its full snapshot before packing; none where the journal is all there is.
    pub full: Option<u64>,
}

/// The full snapshot from which the state after an entry is read: the newest that is not newer. Without one, the journal
/// is folded from its start.
pub fn nearest(saved: &[Saved], seq: Seq) -> Option<&Saved> {
    let full = saved.iter().filter(|saved| saved.full.is_some() && saved.mark.seq() <= seq);
    full.max_by_key(|saved| (saved.mark.seq(), saved.mark.id.ms()))
}
