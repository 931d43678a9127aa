//! Checkpoints as bytes: strict, versioned, and the same bytes for the same checkpoint (`R-CP-2`, `R-CP-5`).
//!
//! The record is JSON whose own keys have a fixed order. Values of the workflow keep the order of their keys, because
//! expressions can see it: a run that goes on from a checkpoint must not differ from one that never stopped.

use serde::de::DeserializeOwned;

use super::first::FirstCheckpoint;
use super::header::Header;
use super::held::Blob;
use super::id::CheckpointId;
use super::record::{Checkpoint, Machine};
use super::refused::{Refused, Unwritable};
use super::{CHECKPOINT_VERSION, LARGE_OVER_BYTES, PACKED_OVER_BYTES, PLAIN_BYTES_MAX};
use crate::hash::Digest;

/// How bytes are made smaller. What is packed, and what is believed of it, is decided here; the library that does it,
/// which is zstd wherever sprag stores anything, is the store's.
pub trait Pack {
    /// Packs bytes.
    fn pack(&self, plain: &[u8]) -> Result<Vec<u8>, String>;

    /// Unpacks bytes to exactly `length` ones. More or fewer are an error, and no memory is taken for more.
    fn unpack(&self, packed: &[u8], length: usize) -> Result<Vec<u8>, String>;
}

/// A checkpoint as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoded {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The checksum in their header.
    pub checksum: Digest,
    /// How long it is before it is packed: the size by which [`super::Growth`] decides.
    pub plain_bytes: u64,
    /// What must be in the blob store before the bytes are stored.
    pub blobs: Vec<Blob>,
}

impl Encoded {
    /// Whether it is so long that somebody should be warned.
    pub const fn is_large(&self) -> bool {
        self.bytes.len() > LARGE_OVER_BYTES
    }
}

/// Writes a checkpoint.
pub fn encode(mut checkpoint: Checkpoint, pack: &impl Pack) -> Result<Encoded, Unwritable> {
    let machine = checkpoint.machine.take();
    let (mut plain, blobs) = encode_record(checkpoint)?;
    let record = plain.len() as u64;
    let described = machine.as_ref().map(|machine| (machine.version, machine.bytes.len() as u64));
    if let Some(machine) = machine {
        plain.extend_from_slice(&machine.bytes);
    }
    let plain_bytes = plain.len() as u64;
    if plain_bytes > PLAIN_BYTES_MAX {
        return Err(Unwritable::TooLarge(plain_bytes));
    }
    let packed = plain.len() > PACKED_OVER_BYTES;
    let stored = if packed { pack.pack(&plain).map_err(Unwritable::Packing)? } else { plain };
    let header = Header { version: CHECKPOINT_VERSION, packed, record, machine: described };
    let (mut bytes, checksum) = header.written(&stored);
    bytes.extend_from_slice(&stored);
    Ok(Encoded { bytes, checksum, plain_bytes, blobs })
}

/// Reads the checkpoint of this id.
pub fn decode(bytes: &[u8], id: &CheckpointId, pack: &impl Pack) -> Result<Checkpoint, Refused> {
    let (header, stored) = Header::read(bytes)?;
    let length = header.plain_len().and_then(|length| usize::try_from(length).ok());
    let length = length.ok_or(Refused::TooLarge(u64::MAX))?;
    let unpacked;
    let plain = if header.packed {
        unpacked = pack.unpack(stored, length).map_err(Refused::Packed)?;
        unpacked.as_slice()
    } else {
        stored
    };
    if plain.len() != length {
        return Err(Refused::Packed(format!("{} bytes instead of {length}", plain.len())));
    }
    let record = usize::try_from(header.record).unwrap_or(usize::MAX);
    let (record, machine) = plain.split_at_checked(record).ok_or(Refused::Truncated)?;
    let mut checkpoint = decode_record(header.version, record, id)?;
    checkpoint.machine = header.machine.map(|(version, _)| Machine { version, bytes: machine.to_vec() });
    Ok(checkpoint)
}

/// Writes the record alone, as JSON, for a store that keeps JSON itself. The machine is not in it.
pub fn encode_record(mut checkpoint: Checkpoint) -> Result<(Vec<u8>, Vec<Blob>), Unwritable> {
    if let Some(contradiction) = checkpoint.contradiction() {
        return Err(Unwritable::Content(contradiction));
    }
    let mut blobs = Vec::new();
    checkpoint.held_mut().for_each(|held| held.move_out(&mut blobs));
    let json = serde_json::to_vec(&checkpoint).map_err(|error| Unwritable::Content(error.to_string()))?;
    Ok((json, blobs))
}

/// Reads a record of a version that a store kept as JSON, and migrates it forward. It must be the one of this id.
pub fn decode_record(version: u16, json: &[u8], id: &CheckpointId) -> Result<Checkpoint, Refused> {
    let checkpoint = match version {
        CHECKPOINT_VERSION => parsed::<Checkpoint>(json)?,
        1 => parsed::<FirstCheckpoint>(json)?.migrated().map_err(Refused::Content)?,
        newer if newer > CHECKPOINT_VERSION => return Err(Refused::Newer(newer)),
        other => return Err(Refused::Content(format!("there is no version {other}"))),
    };
    if let Some(contradiction) = checkpoint.contradiction() {
        return Err(Refused::Content(contradiction));
    }
    if checkpoint.id != *id {
        return Err(Refused::Misplaced(Box::new(checkpoint.id)));
    }
    Ok(checkpoint)
}

fn parsed<T: DeserializeOwned>(json: &[u8]) -> Result<T, Refused> {
    serde_json::from_slice(json).map_err(|error| Refused::Content(error.to_string()))
}
