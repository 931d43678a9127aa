//! The mailbox port: commands from people to runs that another process owns (`R-ASK-2`).

use sprag_core::run::{Command, CommandId, RunId};

use crate::error::StoreError;

/// Carries commands to whoever owns a run. A command stays until it is removed, which its reader does once the journal
/// holds it; read twice, it counts once, because its id is in the journal.
pub trait Mailbox: Send + Sync {
    /// Leaves a command for a run; the same id twice is one command. Durable on return.
    fn send(&self, run: RunId, command: &Command) -> Result<(), StoreError>;

    /// The commands that wait, oldest first. Cheap when nothing was sent, so that owners may ask often.
    fn waiting(&self) -> Result<Vec<(RunId, Command)>, StoreError>;

    /// Removes commands; those that are not there are none.
    fn remove(&self, commands: &[CommandId]) -> Result<(), StoreError>;
}
