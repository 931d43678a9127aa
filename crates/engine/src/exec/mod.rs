//! How one attempt at a command is really executed (`R-CMD-1`, `R-CMD-2`, `R-CMD-3`).
//!
//! [`execute`] is a blocking call on a thread that belongs to whoever decides what runs when. It is given plain data
//! ([`CommandJob`]) and a folder for the four files ([`SlotFolder`]), and can be stopped from another thread
//! ([`Abort`]). It never touches the journal.
//!
//! A process is recognised by the variables that it inherits from the command, never by its number alone: see
//! [`Marker`].

mod abort;
mod capture;
mod command;
mod environment;
mod failure;
mod job;
mod log;
mod mask;
mod notice;
mod product;
mod program;
mod slot;
mod sweep;
mod watch;

pub use abort::{Abort, Stop};
pub use command::execute;
pub use job::{CommandJob, GRACE, Identity, Program};
pub use mask::{Mask, MaskStream};
pub use slot::{SlotFolder, SlotFolders, remove_slot_folders};
pub use sweep::{Marker, sweep};
