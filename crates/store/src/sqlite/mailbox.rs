//! The mailbox port.

use std::path::Path;

use rusqlite::{Connection, params};
use sprag_core::run::{Command, CommandId, RunId};

use super::connection;
use super::error::classify;
use super::open::{Sqlite, locked};
use super::writer::Flush;
use crate::error::StoreError;
use crate::mailbox::Mailbox;

/// The last answer, and what tells whether it still is one.
#[derive(Debug)]
pub(super) struct Watch {
    /// A connection of its own: the version of the data is told per connection.
    connection: Connection,
    version: Option<i64>,
    waiting: Vec<(RunId, Command)>,
}

impl Mailbox for Sqlite {
    fn send(&self, run: RunId, command: &Command) -> Result<(), StoreError> {
        let text = serde_json::to_string(command).map_err(|error| StoreError::Damaged { detail: error.to_string() })?;
        self.transact(Flush::Now, |connection, _| {
            let mut statement = connection
                .prepare_cached("INSERT INTO mailbox (id, run, command) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING")?;
            statement.execute(params![command.id.to_string(), run.to_string(), text]).map(|_| ())
        })
    }

    fn waiting(&self) -> Result<Vec<(RunId, Command)>, StoreError> {
        let mut watch = locked(&self.watch);
        // It is put back only if all went well, so what failed is opened again.
        let mut current = match watch.take() {
            Some(current) => current,
            None => Watch::new(&self.path)?,
        };
        current.refresh()?;
        Ok(watch.insert(current).waiting.clone())
    }

    fn remove(&self, commands: &[CommandId]) -> Result<(), StoreError> {
        if commands.is_empty() {
            return Ok(());
        }
        self.transact(Flush::Now, |connection, _| {
            let mut statement = connection.prepare_cached("DELETE FROM mailbox WHERE id = ?1")?;
            commands.iter().try_for_each(|command| statement.execute([command.to_string()]).map(|_| ()))
        })
    }
}

impl Watch {
    fn new(path: &Path) -> Result<Self, StoreError> {
        let connection = connection::reading(path).map_err(|error| classify(&error))?;
        Ok(Self { connection, version: None, waiting: Vec::new() })
    }

    fn refresh(&mut self) -> Result<(), StoreError> {
        let sql = |error: rusqlite::Error| classify(&error);
        let mut statement = self.connection.prepare_cached("PRAGMA data_version").map_err(sql)?;
        // Asked for before the rows are: what comes in between is then read twice, and never missed.
        let version = statement.query_row([], |row| row.get(0)).map_err(sql)?;
        if self.version != Some(version) {
            self.waiting = rows(&self.connection)?;
            self.version = Some(version);
        }
        Ok(())
    }
}

fn rows(connection: &Connection) -> Result<Vec<(RunId, Command)>, StoreError> {
    let sql = |error: rusqlite::Error| classify(&error);
    let mut statement =
        connection.prepare_cached("SELECT id, run, command FROM mailbox ORDER BY number").map_err(sql)?;
    let mut rows = statement.query([]).map_err(sql)?;
    let mut waiting = Vec::new();
    while let Some(row) = rows.next().map_err(sql)? {
        let text = |at: usize| row.get_ref(at).map_err(sql)?.as_str().map_err(|error| unreadable(&error));
        let run = text(1)?.parse().map_err(|error| unreadable(&error))?;
        let command: Command = serde_json::from_str(text(2)?).map_err(|error| unreadable(&error))?;
        if command.id.to_string() != text(0)? {
            return Err(unreadable(&"it is under the id of another one"));
        }
        waiting.push((run, command));
    }
    Ok(waiting)
}

fn unreadable(why: &dyn std::fmt::Display) -> StoreError {
    StoreError::Damaged { detail: format!("a waiting command cannot be read: {why}") }
}
