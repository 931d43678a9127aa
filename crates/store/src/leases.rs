//! The lease port: a process's right to own runs, and whether another process still has it (`R-CLAIM-2`).

use std::fs::File;

use sprag_core::run::OwnerId;

use crate::error::StoreError;

/// Who holds a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holder {
    /// The process that took it, which is alive.
    Alive {
        /// Its process id, where that means something to the one who asks.
        pid: Option<u32>,
    },
    /// Only what it left behind: it died, and its guard still ends its children. Soon nobody does.
    Ending,
    /// Nobody: it and its children are gone, so another process may go on at once.
    Nobody,
}

/// The lease of this process, held until it is dropped.
pub trait Lease: Send + Sync {
    /// A handle that keeps the lease held for as long as any copy of it is open, for a guard to inherit; nothing where
    /// leases end by time.
    fn shared(&self) -> Option<Result<File, StoreError>>;
}

/// Leases of processes.
pub trait Leases: Send + Sync {
    /// Takes a lease for this process. `note` is kept with it for whoever cleans up after the process.
    fn hold(&self, owner: OwnerId, note: &str) -> Result<Box<dyn Lease>, StoreError>;

    /// Who holds a lease now.
    fn holder(&self, owner: OwnerId) -> Result<Holder, StoreError>;

    /// Leases that nobody holds and nobody has forgotten yet, with their notes: processes that died.
    fn abandoned(&self) -> Result<Vec<(OwnerId, String)>, StoreError>;

    /// Forgets a lease that nobody holds.
    fn forget(&self, owner: OwnerId) -> Result<(), StoreError>;
}
