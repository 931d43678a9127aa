//! Running the cases.

use super::{blobs, catalog, leases, mailbox};
use crate::journal::Journal;
use crate::store::Store;

/// What a case found wrong.
pub(super) type Found = Result<(), String>;

/// A case by its name. An unlisted one would be dead code, which the build denies.
pub(super) type Case = (&'static str, fn(&Store) -> Found);

/// Runs every case of every port against fresh stores. The error names the case and what was wrong.
pub fn store(mut fresh: impl FnMut() -> Store) -> Result<(), String> {
    for (name, case) in super::journal::CASES {
        case(fresh().journal.as_ref()).map_err(|problem| format!("{name}: {problem}"))?;
    }
    let ports = [super::journal::WITH_OTHERS, blobs::CASES, mailbox::CASES, catalog::CASES, leases::CASES];
    for (name, case) in ports.concat() {
        case(&fresh()).map_err(|problem| format!("{name}: {problem}"))?;
    }
    Ok(())
}

/// Runs the cases of the journal port alone.
pub fn journal<J: Journal>(mut fresh: impl FnMut() -> J) -> Result<(), String> {
    for (name, case) in super::journal::CASES {
        case(&fresh()).map_err(|problem| format!("{name}: {problem}"))?;
    }
    Ok(())
}

/// Compares what a store said with what it should say.
pub(super) fn same<T: PartialEq + std::fmt::Debug>(found: &T, wanted: &T) -> Found {
    if found == wanted { Ok(()) } else { Err(format!("{found:?} instead of {wanted:?}")) }
}

/// An answer that must not be an error.
pub(super) fn ok<T, E: std::fmt::Display>(answer: Result<T, E>) -> Result<T, String> {
    answer.map_err(|error| error.to_string())
}
