//! The form of the database, in numbered steps. A step is never changed once it is released.

use rusqlite::Connection;

/// The steps, in order; the number of a form is that of its last step.
const STEPS: &[&str] = &[include_str!("migrations/0001.sql")];

/// The newest form that this sprag knows.
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

    use super::{KNOWN, STEPS, migrate};

    /// Rows as each form held them.
    const SAMPLES: &[&str] = &[include_str!("migrations/0001.sample.sql")];

    #[test]
    fn every_form_keeps_the_rows_of_the_earlier_ones() {
        // R-JRN-1, R-STORE-1
        assert_eq!(STEPS.len(), SAMPLES.len(), "a step needs sample rows");
        for from in 1..=STEPS.len() {
            let connection = Connection::open_in_memory().unwrap();
            for (number, (step, sample)) in (1_u32..).zip(STEPS.iter().zip(SAMPLES)).take(from) {
                connection.execute_batch(step).unwrap();
                connection.pragma_update(None, "user_version", number).unwrap();
                connection.execute_batch(sample).unwrap();
            }
            assert_eq!(migrate(&connection).unwrap(), KNOWN);
            for (table, rows) in [("run", 2), ("names", 1), ("commits", 3), ("mailbox", 1), ("blob", 1)] {
                let sql = format!("SELECT count(*) FROM {table}");
                let count: i64 = connection.query_row(&sql, [], |row| row.get(0)).unwrap();
                assert_eq!(count, rows, "{table}");
            }
        }
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
