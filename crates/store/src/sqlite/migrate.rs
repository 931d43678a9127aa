//! The form of the database, in numbered steps. A step is never changed once it is released.

use rusqlite::Connection;

/// The steps, in order; the number of a form is that of its last step.
const STEPS: &[&str] = &[include_str!("migrations/0001.sql")];

/// The newest form that this sprag knows.
#[expect(clippy::cast_possible_truncation, reason = "a handful")]
pub(super) const KNOWN: u32 = STEPS.len() as u32;

/// The form of a database.
pub(super) fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Brings a database to the newest form, whole or not at all. Nothing is done to one of an unknown form, which is
/// returned.
pub(super) fn migrate(connection: &Connection) -> rusqlite::Result<u32> {
    if version(connection)? >= KNOWN {
        return version(connection);
    }
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let done = steps(connection).and_then(|version| connection.execute_batch("COMMIT").map(|()| version));
    if done.is_err() {
        // What the error was matters more than that there is nothing to roll back.
        let _ = connection.execute_batch("ROLLBACK");
    }
    done
}

/// Another process may have been faster, so the form is asked for again within the transaction.
fn steps(connection: &Connection) -> rusqlite::Result<u32> {
    let from = version(connection)?;
    for (number, step) in (1_u32..).zip(STEPS) {
        if number > from {
            connection.execute_batch(step)?;
            connection.pragma_update(None, "user_version", number)?;
        }
    }
    Ok(from.max(KNOWN))
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;
    use sprag_core::hash::Digest;
    use sprag_core::run::Seq;

    use super::super::look::APPLICATION_ID;
    use super::{KNOWN, STEPS, migrate};
    use crate::store::Store;

    /// Rows as each form held them.
    const SAMPLES: &[&str] = &[include_str!("migrations/0001.sample.sql")];

    #[test]
    fn every_form_keeps_the_rows_of_the_earlier_ones() {
        // R-JRN-1, R-STORE-1
        assert_eq!(STEPS.len(), SAMPLES.len(), "a step needs sample rows");
        let folder = tempfile::tempdir().unwrap();
        for from in 1..=STEPS.len() {
            let path = folder.path().join(format!("{from}.db"));
            let connection = Connection::open(&path).unwrap();
            connection.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
            for (number, (step, sample)) in (1_u32..).zip(STEPS.iter().zip(SAMPLES)).take(from) {
                connection.execute_batch(step).unwrap();
                connection.pragma_update(None, "user_version", number).unwrap();
                connection.execute_batch(sample).unwrap();
            }
            drop(connection);
            read(&Store::sqlite(&path).unwrap());
        }
    }

    /// The rows of the first form, whatever the form is now.
    fn read(store: &Store) {
        let run = "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap();
        let other = "01890a5d-ac96-774b-bcce-b302099a8058".parse().unwrap();
        let commits = store.journal.read(run, Seq(0), 9).unwrap();
        assert_eq!(commits.iter().map(|commit| commit.last().0).collect::<Vec<_>>(), [4, 7]);
        assert_eq!(store.journal.read(other, Seq(0), 9).unwrap().len(), 1);
        let listed = store.catalog.find(run).unwrap().unwrap();
        assert_eq!((listed.number, listed.summary.status.as_str(), listed.summary.exit), (1, "failed", Some(1)));
        assert_eq!(store.mailbox.waiting().unwrap()[0].1.by, "ann");
        assert_eq!(store.blobs.get(Digest::of(b"a blob")).unwrap().unwrap(), b"a blob");
    }

    #[test]
    fn a_form_of_the_future_is_left_alone() {
        let connection = Connection::open_in_memory().unwrap();
        connection.pragma_update(None, "user_version", KNOWN + 1).unwrap();
        assert_eq!(migrate(&connection).unwrap(), KNOWN + 1);
        let tables: u32 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
        assert_eq!(tables, 0);
    }
}
