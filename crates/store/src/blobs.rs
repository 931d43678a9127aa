//! The blob port: bytes by their digest.

use sprag_core::hash::Digest;

use crate::error::StoreError;

/// Keeps bytes under their SHA-256. A blob is durable before the commit that names it is appended.
pub trait Blobs: Send + Sync {
    /// Keeps bytes; keeping the same twice is keeping them once. They are durable on return.
    fn put(&self, bytes: &[u8]) -> Result<Digest, StoreError>;

    /// The bytes, or nothing if there are none of this digest. What is stored is compared with its digest:
    /// [`StoreError::Damaged`] if it is something else.
    fn get(&self, digest: Digest) -> Result<Option<Vec<u8>>, StoreError>;

    /// Whether there are bytes of this digest.
    fn has(&self, digest: Digest) -> Result<bool, StoreError>;
}
