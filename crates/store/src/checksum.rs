//! What tells a stored commit from a changed one: a chain of checksums, one a commit.
//!
//! A checksum covers the commit and the checksum of the one before, so a row that was changed, replaced, moved or taken
//! out of the middle is noticed by whoever reads on from a row it trusts. It guards against accidents, not against
//! somebody who can compute it as well.

use sha2::{Digest as _, Sha256};
use sprag_core::run::{Fence, RunId, Seq, Timestamp};
use uuid::Uuid;

/// The checksum of a stored commit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Checksum(pub [u8; 16]);

/// What is stored of a commit, as a checksum sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'text> {
    pub run: RunId,
    pub first: Seq,
    pub last: Seq,
    pub at: Timestamp,
    pub id: Uuid,
    pub fence: Fence,
    /// The text that is stored, byte for byte.
    pub entries: &'text str,
}

impl Checksum {
    /// The checksum of the commit that follows one with this checksum; the first follows the default.
    pub fn followed_by(self, row: &Row<'_>) -> Self {
        let mut hash = Sha256::new();
        // Everything before the text has a fixed length, so no two rows give the same bytes.
        hash.update(self.0);
        hash.update(row.run.0.as_bytes());
        hash.update(row.first.0.to_le_bytes());
        hash.update(row.last.0.to_le_bytes());
        hash.update(row.at.millis.to_le_bytes());
        hash.update(row.id.as_bytes());
        hash.update(row.fence.0.to_le_bytes());
        hash.update(row.entries.as_bytes());
        let digest: [u8; 32] = hash.finalize().into();
        let mut first = [0; 16];
        first.copy_from_slice(&digest[..16]);
        Self(first)
    }
}

#[cfg(test)]
mod tests {
    use super::{Checksum, Row};
    use sprag_core::run::{Fence, RunId, Seq, Timestamp};
    use uuid::Uuid;

    const ROW: Row<'_> = Row {
        run: RunId(Uuid::from_u128(1)),
        first: Seq(2),
        last: Seq(3),
        at: Timestamp::from_millis(4),
        id: Uuid::from_u128(5),
        fence: Fence(6),
        entries: "seven",
    };

    #[test]
    fn it_never_changes() {
        // R-JRN-1: a later release must trust what this one wrote.
        let sum = u128::from_be_bytes(Checksum::default().followed_by(&ROW).0);
        assert_eq!(format!("{sum:032x}"), "2fa5d9f57447d5c61b2931b65bd07aa2");
    }

    #[test]
    fn it_covers_every_part() {
        let sum = Checksum::default().followed_by(&ROW);
        for other in [
            Row { run: RunId(Uuid::from_u128(9)), ..ROW },
            Row { first: Seq(9), ..ROW },
            Row { last: Seq(9), ..ROW },
            Row { at: Timestamp::from_millis(9), ..ROW },
            Row { id: Uuid::from_u128(9), ..ROW },
            Row { fence: Fence(9), ..ROW },
            Row { entries: "sevem", ..ROW },
        ] {
            assert_ne!(Checksum::default().followed_by(&other), sum, "{other:?}");
        }
        assert_ne!(sum.followed_by(&ROW), sum);
    }
}
