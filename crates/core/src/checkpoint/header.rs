//! What stands before a stored checkpoint, so that anything wrong with it is noticed before it is read.
//!
//! The layout is the same in every version: a reader can tell a damaged checkpoint from a newer one.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `spragckp` |
//! | 2 | the version of the record |
//! | 1 | flags: 1 packed, 2 with a machine |
//! | 8 | the length of what follows the header |
//! | 8 | the length of the record, unpacked |
//! | 4 | the version of the machine, or 0 |
//! | 8 | the length of the machine behind the record, unpacked, or 0 |
//! | 32 | SHA-256 of all of the above and of what follows |

use sha2::{Digest as _, Sha256};

use super::refused::Refused;
use super::{CHECKPOINT_VERSION, PLAIN_BYTES_MAX};
use crate::hash::Digest;

const MAGIC: &[u8; 8] = b"spragckp";
const PACKED: u8 = 1;
const MACHINE: u8 = 2;
const CHECKED_LEN: usize = 39;
/// How long a header is.
pub(super) const HEADER_LEN: usize = CHECKED_LEN + 32;

/// What a header says about what follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub version: u16,
    pub packed: bool,
    /// How long the record is.
    pub record: u64,
    /// The version of the machine and how long it is.
    pub machine: Option<(u32, u64)>,
}

impl Header {
    /// How long record and machine are together.
    pub fn plain_len(&self) -> Option<u64> {
        self.record.checked_add(self.machine.map_or(0, |(_, length)| length))
    }

    /// The header and the checksum in it, for these bytes behind it.
    pub fn written(&self, stored: &[u8]) -> (Vec<u8>, Digest) {
        let (version, length) = self.machine.unwrap_or_default();
        let flags = u8::from(self.packed) * PACKED + u8::from(self.machine.is_some()) * MACHINE;
        let mut bytes = Vec::with_capacity(HEADER_LEN + stored.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&self.version.to_be_bytes());
        bytes.push(flags);
        bytes.extend_from_slice(&(stored.len() as u64).to_be_bytes());
        bytes.extend_from_slice(&self.record.to_be_bytes());
        bytes.extend_from_slice(&version.to_be_bytes());
        bytes.extend_from_slice(&length.to_be_bytes());
        let checksum = checksum(&bytes, stored);
        bytes.extend_from_slice(&checksum.0);
        (bytes, checksum)
    }

    /// Reads a header, and gives it with what follows it; nothing of either was changed since it was written.
    pub fn read(bytes: &[u8]) -> Result<(Self, &[u8]), Refused> {
        if !bytes.starts_with(MAGIC) {
            return Err(if MAGIC.starts_with(bytes) { Refused::Truncated } else { Refused::Foreign });
        }
        let (head, stored) = bytes.split_at_checked(HEADER_LEN).ok_or(Refused::Truncated)?;
        let (checked, sum) = head.split_at(CHECKED_LEN);
        let length = number::<8>(checked, 11);
        match (stored.len() as u64).cmp(&length) {
            std::cmp::Ordering::Less => return Err(Refused::Truncated),
            std::cmp::Ordering::Greater => return Err(Refused::Trailing),
            std::cmp::Ordering::Equal => {}
        }
        if checksum(checked, stored).0 != *sum {
            return Err(Refused::Checksum);
        }
        let version = u16::from_be_bytes([checked[8], checked[9]]);
        if version > CHECKPOINT_VERSION {
            return Err(Refused::Newer(version));
        }
        let (flags, record) = (checked[10], number::<8>(checked, 19));
        // Four bytes fit.
        let machine = (u32::try_from(number::<4>(checked, 27)).unwrap_or(u32::MAX), number::<8>(checked, 31));
        if flags & !(PACKED | MACHINE) != 0 || (flags & MACHINE == 0 && machine != (0, 0)) {
            return Err(Refused::Content("its header contradicts itself".to_owned()));
        }
        let header =
            Self { version, packed: flags & PACKED != 0, record, machine: (flags & MACHINE != 0).then_some(machine) };
        match header.plain_len() {
            Some(plain) if plain > PLAIN_BYTES_MAX => Err(Refused::TooLarge(plain)),
            None => Err(Refused::TooLarge(u64::MAX)),
            Some(_) => Ok((header, stored)),
        }
    }
}

/// The number in so many bytes from a place on.
fn number<const LEN: usize>(bytes: &[u8], at: usize) -> u64 {
    bytes.iter().skip(at).take(LEN).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn checksum(checked: &[u8], stored: &[u8]) -> Digest {
    let mut hash = Sha256::new();
    hash.update(checked);
    hash.update(stored);
    Digest(hash.finalize().into())
}
