//! What is done after an owner, by its guard and once more by whoever takes over.

use std::io;
use std::path::Path;

use sprag_core::run::OwnerId;

use crate::exec::{Marker, remove_slot_folders, sweep};

/// Kills every process that a dead owner left, then removes its folder of slots. Returns how many processes there were.
///
/// `slot_folders` is what the owner noted; nothing but a folder of slots is ever removed. It is safe to repeat.
///
/// Only a process that goes on is an error. A folder may be in a place that this process does not know, such as the
/// `$XDG_RUNTIME_DIR` of a login that is over; nobody uses it any more, and it must not keep a run from going on.
pub fn clean_up_after(owner: OwnerId, slot_folders: &Path, state_folder: &Path) -> io::Result<usize> {
    let killed = sweep(&Marker::of_owner(owner))?;
    let _ = remove_slot_folders(owner, slot_folders, state_folder);
    Ok(killed)
}
