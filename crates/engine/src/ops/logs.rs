//! The logs of a run's attempts.

use std::path::PathBuf;

use sprag_core::run::RunId;
use sprag_core::suggest;

use super::find::Which;
use super::watch::{Watch, watch};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::events::{Event, NodeMoved, What};
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

/// The logs of a run, and those that come while it goes on.
#[derive(Debug)]
pub struct Logs<'engine> {
    watch: Watch<'engine>,
    state: PathBuf,
    node: Option<String>,
    attempt: Option<u32>,
    files: Vec<LogFile>,
}

/// The logs of a run, in the order in which its attempts began; of one node or one attempt, if that is wanted.
pub fn logs<'engine>(
    engine: &'engine Engine,
    which: &Which,
    node: Option<String>,
    attempt: Option<u32>,
) -> Result<Logs<'engine>, EngineError> {
    let watch = watch(engine, which)?;
    let graph = &watch.definition().graph;
    let names = || graph.nodes().map(|node| graph.id(node).as_str());
    if let Some(wanted) = node.as_deref().filter(|wanted| names().all(|name| name != *wanted)) {
        let nearest = suggest::nearest(wanted, names()).map(str::to_owned);
        return Err(RunError::NoNode { run: watch.run(), node: wanted.to_owned(), nearest }.into());
    }
    let state = engine.surroundings.state.clone();
    let mut logs = Logs { watch, state, node, attempt, files: Vec::new() };
    logs.read()?;
    Ok(logs)
}

impl Logs<'_> {
    /// The run.
    pub const fn run(&self) -> RunId {
        self.watch.run()
    }

    /// All logs so far.
    pub fn files(&self) -> &[LogFile] {
        &self.files
    }

    /// Reads what happened since, and says whether more can come.
    pub fn read(&mut self) -> Result<bool, EngineError> {
        // Asked first: what a dying owner wrote is read all the same.
        let alive = self.watch.is_alive()?;
        while let Some(events) = self.watch.read()? {
            for event in &events {
                self.take(event);
            }
        }
        Ok(alive && !self.watch.has_ended())
    }

    fn take(&mut self, event: &Event) {
        let What::Node(moved) = &event.what else { return };
        let NodeMoved { node, attempt, to, .. } = &**moved;
        if self.node.as_ref().is_some_and(|wanted| wanted != node) || self.attempt.is_some_and(|it| it != *attempt) {
            return;
        }
        if *to == "running" {
            let path = crate::logs::path(&self.state, self.run(), node, *attempt);
            self.files.push(LogFile { node: node.clone(), attempt: *attempt, open: true, path });
            return;
        }
        // It is one of those that began last.
        let ended = self.files.iter_mut().rev().find(|file| file.attempt == *attempt && file.node == *node);
        if let Some(file) = ended {
            file.open = false;
        }
    }
}
