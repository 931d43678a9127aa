//! Which checkpoints of a run are no longer kept (`R-CP-4`).

use std::collections::BTreeSet;

use super::id::CheckpointId;
use super::mark::{Saved, nearest};

/// The checkpoints of one run that may go, oldest first. The newest `keep` stay, and the newest of a run that can still be
/// resumed always does; so does every full snapshot from which one that stays is read. The journal is not touched.
///
/// Newest means last in the journal: clocks go backwards, entries do not.
pub fn prune(saved: &[Saved], keep: usize, resumable: bool) -> Vec<CheckpointId> {
    let mut ordered: Vec<&Saved> = saved.iter().collect();
    ordered.sort_by_key(|saved| (saved.mark.seq(), saved.mark.id.ms()));
    let keep = if resumable { keep.max(1) } else { keep };
    let (old, kept) = ordered.split_at(ordered.len().saturating_sub(keep));
    let bases: BTreeSet<&CheckpointId> =
        kept.iter().filter_map(|kept| nearest(saved, kept.mark.seq())).map(|base| &base.mark.id).collect();
    old.iter().map(|saved| &saved.mark.id).filter(|id| !bases.contains(id)).cloned().collect()
}
