//! Whatever happens to the bytes, they are never taken for a checkpoint (`R-CP-5`).

use sprag_core::checkpoint::{Pack, Refused, decode, encode};
use sprag_core::hash::Digest;

use super::sample::{Zstd, id, small};

/// A small checkpoint as it is, and one that is packed.
fn stored() -> [Vec<u8>; 2] {
    let plain = small();
    let mut packed = small();
    packed.machine.as_mut().unwrap().bytes = b"0123456789abcdef".repeat(300);
    [plain, packed].map(|checkpoint| encode(checkpoint, &Zstd).unwrap().bytes)
}

/// The bytes with the checksum that belongs to them, as somebody would write them who means harm.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut covered = bytes[..39].to_vec();
    covered.extend_from_slice(&bytes[71..]);
    bytes[39..71].copy_from_slice(&Digest::of(&covered).0);
    bytes
}

#[test]
fn every_flipped_bit_is_noticed() {
    // R-CP-5
    for bytes in stored() {
        assert!(decode(&bytes, &id(7), &Zstd).is_ok());
        for at in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[at / 8] ^= 1 << (at % 8);
            let refused = decode(&flipped, &id(7), &Zstd).unwrap_err();
            // A damaged one never passes for a newer one: those are not stepped over.
            assert!(!refused.needs_newer(), "bit {at}");
        }
    }
}

#[test]
fn every_cut_and_every_addition_is_noticed() {
    // R-CP-5
    for bytes in stored() {
        for length in 0..bytes.len() {
            assert_eq!(decode(&bytes[..length], &id(7), &Zstd), Err(Refused::Truncated), "{length}");
        }
        let longer = [bytes.as_slice(), b"\n"].concat();
        assert_eq!(decode(&longer, &id(7), &Zstd), Err(Refused::Trailing));
        let twice = [bytes.as_slice(), bytes.as_slice()].concat();
        assert_eq!(decode(&twice, &id(7), &Zstd), Err(Refused::Trailing));
    }
    assert_eq!(decode(b"{}", &id(7), &Zstd), Err(Refused::Foreign));
    assert_eq!(decode(&[b' '; 500], &id(7), &Zstd), Err(Refused::Foreign));
}

#[test]
fn the_parts_of_two_do_not_fit_together() {
    // R-CP-5
    let [plain, packed] = stored();
    for (head, body) in [(&plain, &packed), (&packed, &plain)] {
        let spliced = [&head[..71], &body[71..]].concat();
        assert!(decode(&spliced, &id(7), &Zstd).is_err());
    }
}

#[test]
fn unknown_fields_and_trailing_text_are_refused_anywhere() {
    // R-CP-5: also with a checksum that fits.
    let [plain, _] = stored();
    let text = String::from_utf8_lossy(&plain[71..]).into_owned();
    let places: Vec<usize> = text.match_indices('{').map(|(at, _)| at).collect();
    let mut refused = 0;
    for at in places {
        let mut edited = plain[..71].to_vec();
        let inner = format!("{}\"zzz\":0{}", &text[..=at], if text[at + 1..].starts_with('}') { "" } else { "," });
        edited.extend_from_slice(inner.as_bytes());
        edited.extend_from_slice(&text.as_bytes()[at + 1..]);
        let grown = (edited.len() - plain.len()) as u64;
        for field in [11, 19] {
            let length = u64::from_be_bytes(edited[field..field + 8].try_into().unwrap()) + grown;
            edited[field..field + 8].copy_from_slice(&length.to_be_bytes());
        }
        match decode(&sealed(edited), &id(7), &Zstd) {
            Err(Refused::Content(_)) => refused += 1,
            // A value of the workflow may hold any key, and so may what the fold stored.
            Ok(read) => assert_ne!(read, small()),
            other => panic!("{other:?}"),
        }
    }
    assert!(refused > 20, "{refused}");
}

#[test]
fn headers_that_lie_are_refused() {
    // R-CP-5: each with a checksum that fits.
    let [plain, packed] = stored();
    let with = |bytes: &[u8], at: usize, new: &[u8]| {
        let mut edited = bytes.to_vec();
        edited[at..at + new.len()].copy_from_slice(new);
        decode(&sealed(edited), &id(7), &Zstd)
    };
    assert_eq!(with(&plain, 8, &3_u16.to_be_bytes()), Err(Refused::Newer(3)));
    assert_eq!(with(&plain, 8, &u16::MAX.to_be_bytes()), Err(Refused::Newer(u16::MAX)));
    assert!(matches!(with(&plain, 8, &0_u16.to_be_bytes()), Err(Refused::Content(_))));
    assert!(matches!(with(&plain, 10, &[0b100]), Err(Refused::Content(_))));
    assert!(matches!(with(&plain, 10, &[0]), Err(Refused::Content(_))), "a machine that is not there");
    assert!(matches!(with(&plain, 10, &[3]), Err(Refused::Packed(_))), "packed that is not");
    assert!(with(&packed, 10, &[2]).is_err(), "not packed that is");
    assert!(matches!(with(&plain, 19, &1_u64.to_be_bytes()), Err(Refused::Packed(_))));
    assert_eq!(with(&plain, 19, &u64::MAX.to_be_bytes()), Err(Refused::TooLarge(u64::MAX)));
    assert!(matches!(with(&plain, 19, &(2_u64 << 30).to_be_bytes()), Err(Refused::TooLarge(_))));
}

#[test]
fn a_bomb_is_not_unpacked() {
    // R-CP-5: 64 MiB of nothing in a few kilobytes, behind a header that says little or much.
    let [plain, _] = stored();
    let bomb = Zstd.pack(&vec![b' '; 64 << 20]).unwrap();
    assert!(bomb.len() < 16_384);
    for (declared, expected) in [(100_u64, "not 100 bytes"), (1 << 40, "")] {
        let mut bytes = plain[..71].to_vec();
        bytes[10] = 1;
        bytes[11..19].copy_from_slice(&(bomb.len() as u64).to_be_bytes());
        bytes[19..27].copy_from_slice(&declared.to_be_bytes());
        bytes[27..39].fill(0);
        bytes.extend_from_slice(&bomb);
        match decode(&sealed(bytes), &id(7), &Zstd).unwrap_err() {
            Refused::Packed(detail) => assert_eq!(detail, expected),
            refused => assert_eq!(refused, Refused::TooLarge(1 << 40)),
        }
    }
}
