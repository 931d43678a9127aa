//! A run that this process drives.

use std::sync::Arc;
use std::time::Duration;

use sprag_core::definition::Definition;
use sprag_core::run::{Counts, RunId, Seq};

use crate::error::EngineError;
use crate::events::{Event, Reader};
use crate::host::{Follower, Heard, Host, Notice, Outcome};

/// A run that goes on in this process until it ends, has to wait for a person, or is told to leave.
#[derive(Debug)]
pub struct Live {
    definition: Arc<Definition>,
    reader: Reader,
    resumed: Option<Resumed>,
    host: Host,
    follower: Follower,
}

/// Where a run stood when it was resumed.
#[derive(Debug, Clone, Copy)]
pub struct Resumed {
    /// How its nodes were doing.
    pub counts: Counts,
    /// The last entry there was.
    pub seq: Seq,
}

/// What was heard of a live run.
#[derive(Debug, Default)]
pub struct LiveNews {
    /// What happened, in order; all of it is durable.
    pub events: Vec<Event>,
    /// What a person should know.
    pub notices: Vec<Notice>,
    /// How it came to its end here.
    pub outcome: Option<Outcome>,
}

impl Live {
    pub(super) const fn new(
        definition: Arc<Definition>,
        reader: Reader,
        resumed: Option<Resumed>,
        host: Host,
        follower: Follower,
    ) -> Self {
        Self { definition, reader, resumed, host, follower }
    }

    /// The run.
    pub const fn run(&self) -> RunId {
        self.follower.run()
    }

    /// The workflow.
    pub const fn definition(&self) -> &Arc<Definition> {
        &self.definition
    }

    /// Where the run stood when it was resumed; nothing for a new one.
    pub const fn resumed(&self) -> Option<Resumed> {
        self.resumed
    }

    /// What happened since the last time; waits for something until the time is over.
    pub fn next(&mut self, patience: Duration) -> Result<LiveNews, EngineError> {
        let Heard { commits, notices, outcome } = self.follower.next(patience)?;
        let events = commits.iter().flat_map(|commit| self.reader.read(commit)).collect();
        Ok(LiveNews { events, notices, outcome })
    }

    /// Starts nothing more, and goes when what runs has ended (`R-GATE-3`).
    pub fn leave(&self) {
        self.host.leave();
    }

    /// Kills what runs, and goes.
    pub fn stop(&self) {
        self.host.stop();
    }
}
