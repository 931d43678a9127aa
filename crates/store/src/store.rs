//! A store: all ports of one place.

use std::path::Path;
use std::sync::Arc;

use crate::blobs::Blobs;
use crate::catalog::Catalog;
use crate::journal::Journal;
use crate::leases::Leases;
use crate::mailbox::Mailbox;
use crate::memory::Memory;
use crate::sqlite::{OpenError, Sqlite};

/// Everything that sprag remembers in one place. Cloning it is sharing it.
#[derive(Clone)]
pub struct Store {
    /// The journals of runs.
    pub journal: Arc<dyn Journal>,
    /// Commands on their way to runs.
    pub mailbox: Arc<dyn Mailbox>,
    /// Bytes by their digest.
    pub blobs: Arc<dyn Blobs>,
    /// Runs as lists show them.
    pub catalog: Arc<dyn Catalog>,
    /// Who owns runs.
    pub leases: Arc<dyn Leases>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Store")
    }
}

impl Store {
    /// One adapter that has all ports.
    pub fn of<S: Journal + Mailbox + Blobs + Catalog + Leases + 'static>(store: Arc<S>) -> Self {
        Self {
            journal: store.clone(),
            mailbox: store.clone(),
            blobs: store.clone(),
            catalog: store.clone(),
            leases: store,
        }
    }

    /// A store that is gone with the process.
    pub fn memory() -> Self {
        Self::of(Arc::new(Memory::new()))
    }

    /// A store in an SQLite file, which is made if there is none.
    pub fn sqlite(path: &Path) -> Result<Self, OpenError> {
        Sqlite::open(path).map(|store| Self::of(Arc::new(store)))
    }
}
