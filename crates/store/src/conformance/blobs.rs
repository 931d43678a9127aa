//! The blob port.

use sprag_core::hash::Digest;

use super::suite::{Case, Found, ok, same};
use crate::store::Store;

pub(super) const CASES: &[Case] = &[
    ("bytes are found by their digest", bytes_are_found),
    ("keeping the same bytes twice is keeping them once", twice_is_once),
    ("bytes that were not kept are not there", unknown_bytes),
    ("a blob may be empty, or long", any_length),
];

fn bytes_are_found(store: &Store) -> Found {
    let digest = ok(store.blobs.put(b"one"))?;
    same(&digest, &Digest::of(b"one"))?;
    same(&ok(store.blobs.get(digest))?, &Some(b"one".to_vec()))?;
    same(&ok(store.blobs.has(digest))?, &true)
}

fn twice_is_once(store: &Store) -> Found {
    let (first, second) = (ok(store.blobs.put(b"one"))?, ok(store.blobs.put(b"one"))?);
    same(&first, &second)?;
    same(&ok(store.blobs.get(first))?, &Some(b"one".to_vec()))
}

fn unknown_bytes(store: &Store) -> Found {
    let digest = Digest::of(b"nobody kept this");
    same(&ok(store.blobs.get(digest))?, &None)?;
    same(&ok(store.blobs.has(digest))?, &false)
}

fn any_length(store: &Store) -> Found {
    for bytes in [Vec::new(), vec![0; 1], vec![b'\''; 5_000], vec![0xff; 3_000_000]] {
        let digest = ok(store.blobs.put(&bytes))?;
        same(&(ok(store.blobs.get(digest))? == Some(bytes)), &true)?;
    }
    Ok(())
}
