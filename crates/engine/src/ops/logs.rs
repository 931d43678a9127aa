//! The logs of a run's attempts.

use std::path::PathBuf;

use sprag_core::run::RunId;
use sprag_core::suggest;

use super::find::Which;
use super::show::show;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::run_error::RunError;

/// The log of one attempt. The file is there once the attempt has written something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFile {
    /// The node.
    pub node: String,
    /// The attempt.
    pub attempt: u32,
    /// Whether it may still grow.
    pub open: bool,
    /// Where it is.
    pub path: PathBuf,
}

/// The logs of a run, in the order in which its attempts began; of one node or one attempt, if that is wanted.
pub fn logs(
    engine: &Engine,
    which: &Which,
    node: Option<&str>,
    attempt: Option<u32>,
) -> Result<(RunId, Vec<LogFile>), EngineError> {
    let shown = show(engine, which)?;
    let run = shown.run;
    if let Some(wanted) = node.filter(|wanted| !shown.nodes.iter().any(|node| node.id == **wanted)) {
        let names = shown.nodes.iter().map(|node| node.id.as_str());
        let nearest = suggest::nearest(wanted, names).map(str::to_owned);
        return Err(RunError::NoNode { run, node: wanted.to_owned(), nearest }.into());
    }
    let mut files = Vec::new();
    for shown in shown.nodes.into_iter().filter(|shown| node.is_none_or(|wanted| shown.id == wanted)) {
        for record in shown.attempts.iter().filter(|record| attempt.is_none_or(|wanted| record.attempt == wanted)) {
            let path = crate::logs::path(&engine.surroundings.state, run, &shown.id, record.attempt);
            let file =
                LogFile { node: shown.id.clone(), attempt: record.attempt, open: record.ended_at.is_none(), path };
            files.push((record.started_at, file));
        }
    }
    files.sort_by(|a, b| (a.0, &a.1.node, a.1.attempt).cmp(&(b.0, &b.1.node, b.1.attempt)));
    Ok((run, files.into_iter().map(|(_, file)| file).collect()))
}
