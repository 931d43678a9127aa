//! The catalog port.

use rusqlite::types::Value;
use rusqlite::{Connection, Row, params, params_from_iter};
use sprag_core::run::RunId;

use super::error::classify;
use super::open::Sqlite;
use crate::catalog::{Catalog, Filter, Listed};
use crate::error::StoreError;

impl Catalog for Sqlite {
    fn list(&self, filter: &Filter) -> Result<Vec<Listed>, StoreError> {
        let (sql, values) = query(filter);
        self.reading(|connection| collect(connection, &sql, values))
    }

    fn find(&self, run: RunId) -> Result<Option<Listed>, StoreError> {
        const SQL: &str = "SELECT number, id, summary FROM run WHERE id = ?1 AND summary IS NOT NULL";
        self.reading(|connection| collect(connection, SQL, vec![run.to_string().into()])).map(|mut found| found.pop())
    }

    fn starting_with(&self, prefix: &str, most: usize) -> Result<Vec<RunId>, StoreError> {
        // Every letter of an id comes before `~`, so the ids that start like this are one stretch of the index.
        let end = format!("{prefix}~");
        self.reading(|connection| {
            let sql = |error: rusqlite::Error| classify(&error);
            let mut statement = connection
                .prepare_cached("SELECT id FROM run WHERE id >= ?1 AND id < ?2 ORDER BY number DESC LIMIT ?3")
                .map_err(sql)?;
            let mut rows = statement.query(params![prefix, end, limit(most)]).map_err(sql)?;
            let mut runs = Vec::new();
            while let Some(row) = rows.next().map_err(sql)? {
                runs.push(run(row, 0)?);
            }
            Ok(runs)
        })
    }
}

/// Only the conditions that are there, so that an index can serve them.
fn query(filter: &Filter) -> (String, Vec<Value>) {
    let mut sql = String::from("SELECT number, id, summary FROM run WHERE summary IS NOT NULL");
    let mut values: Vec<Value> = Vec::new();
    if !filter.statuses.is_empty() {
        sql.push_str(" AND status IN (");
        sql.push_str(&vec!["?"; filter.statuses.len()].join(", "));
        sql.push(')');
        values.extend(filter.statuses.iter().map(|status| Value::from((*status).to_owned())));
    }
    if let Some(workflow) = &filter.workflow {
        sql.push_str(" AND workflow = ?");
        values.push(workflow.clone().into());
    }
    if let Some(since) = filter.since {
        sql.push_str(" AND started_at >= ?");
        values.push(since.millis.into());
    }
    if let Some(before) = filter.before {
        sql.push_str(" AND number < ?");
        values.push(i64::try_from(before).unwrap_or(i64::MAX).into());
    }
    sql.push_str(" ORDER BY number DESC LIMIT ?");
    values.push(limit(filter.most).into());
    (sql, values)
}

fn collect(connection: &Connection, sql: &str, values: Vec<Value>) -> Result<Vec<Listed>, StoreError> {
    let failed = |error: rusqlite::Error| classify(&error);
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let mut rows = statement.query(params_from_iter(values)).map_err(failed)?;
    let mut listed = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        listed.push(line(row)?);
    }
    Ok(listed)
}

fn line(row: &Row<'_>) -> Result<Listed, StoreError> {
    let failed = |error: rusqlite::Error| classify(&error);
    let run = run(row, 1)?;
    let text = row.get_ref(2).map_err(failed)?;
    let text = text.as_str().map_err(|error| StoreError::Damaged { detail: error.to_string() })?;
    let summary = serde_json::from_str(text).map_err(|error| StoreError::Damaged {
        detail: format!("the summary of run `{run}` cannot be read: {error}"),
    })?;
    Ok(Listed { number: row.get::<_, i64>(0).map_err(failed)?.cast_unsigned(), run, summary })
}

fn run(row: &Row<'_>, at: usize) -> Result<RunId, StoreError> {
    let damaged = |error: &dyn std::fmt::Display| StoreError::Damaged { detail: format!("a run has no id: {error}") };
    let text = row.get_ref(at).map_err(|error| classify(&error))?.as_str().map_err(|error| damaged(&error))?;
    text.parse().map_err(|error| damaged(&error))
}

fn limit(most: usize) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
}
