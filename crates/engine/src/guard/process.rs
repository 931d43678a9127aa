//! The guard itself.

use std::io::{self, Read};
use std::path::Path;

use sprag_core::run::OwnerId;

use super::clean_up::clean_up_after;

/// What the guard process does; it returns when the owner and all it started are gone.
///
/// The end of the pipe comes when no process holds its other end any more. That includes a command which the owner was
/// just starting when it died: until `execve` it holds a copy of everything the owner had open, and from `execve` on it
/// carries the owner's id. So there is no moment in which a process is neither waited for nor found.
pub fn main(owner: OwnerId, slot_folders: &Path, state_folder: &Path) -> io::Result<()> {
    let mut input = io::stdin().lock();
    let mut told = [0; 64];
    loop {
        match input.read(&mut told) {
            Ok(0) => break,
            // A farewell; the owner may still have left processes in the background, so nothing is done differently.
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // A pipe that cannot be read says nothing about the owner any more, and too early is safer than never.
            Err(_) => break,
        }
    }
    clean_up_after(owner, slot_folders, state_folder).map(drop)
}
