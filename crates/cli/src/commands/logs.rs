//! `sprag logs`: what the attempts of a run printed.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom};
use std::time::Duration;

use clap::Args;
use serde_json::json;
use sprag_engine::ops::{self, LogFile, Which};
use sprag_engine::{Engine, EngineError};

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::printed::Printed;

/// How often a log that may grow is looked at.
const POLL: Duration = Duration::from_millis(50);
const CHUNK: usize = 64 * 1024;

/// Print what nodes printed
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sprag logs @last\n  sprag logs @last build\n  sprag logs 0199f3 build --attempt 2\n  \
                        sprag logs -f @last"
)]
pub struct Logs {
    /// The run: its id, the beginning of it, or `@last`
    #[arg(value_name = "RUN", default_value = "@last")]
    run: Which,
    /// Only this node
    #[arg(value_name = "NODE")]
    node: Option<String>,
    /// Only this attempt
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    attempt: Option<u32>,
    /// Go on until the run ends, or nobody runs it
    #[arg(short, long)]
    follow: bool,
}

impl Logs {
    pub fn run(self, context: &Context) -> Result<Exit, Failure> {
        if context.json && self.follow {
            return Err(Failure::Usage {
                message: "`--json` and `--follow` do not go together: a log is bytes, not JSON".into(),
                help: "`sprag logs --json` names the files; `sprag events --json -f` follows a run".into(),
            });
        }
        let engine = Engine::open(&context.project()?, context.store())?;
        let headings = self.node.is_none() || self.attempt.is_none();
        let mut logs = ops::logs(&engine, &self.run, self.node, self.attempt)?;
        if context.json {
            let files = logs.files().iter().map(|file| {
                json!({ "node": file.node, "attempt": file.attempt, "path": file.path, "there": file.path.exists() })
            });
            context.document(&json!({ "run_id": logs.run(), "logs": files.collect::<Vec<_>>() }))?;
            return Ok(Exit::OK);
        }
        let mut shown = Shown { context, printed: context.printed(), headings, current: None, logs: Vec::new() };
        if !self.follow {
            shown.print(logs.files())?;
            if shown.current.is_none() {
                context.say("nothing was printed\n");
            }
            shown.printed.end()?;
            return Ok(Exit::OK);
        }
        loop {
            let more = logs.read()?;
            // What was written before the end of the run is printed after it.
            shown.print(logs.files())?;
            if !more {
                shown.printed.end()?;
                return Ok(Exit::OK);
            }
            std::thread::sleep(POLL);
        }
    }
}

/// The logs that are being printed.
struct Shown<'context> {
    context: &'context Context,
    printed: Printed,
    headings: bool,
    /// The log that was printed last.
    current: Option<usize>,
    /// For each, in the order in which they came, how much of it was printed; nothing more is to come of `None`.
    logs: Vec<Option<u64>>,
}

impl Shown<'_> {
    fn print(&mut self, files: &[LogFile]) -> Result<(), Failure> {
        self.logs.resize(files.len(), Some(0));
        for (at, file) in files.iter().enumerate() {
            if let Some(from) = self.logs[at] {
                let to = self.print_from(at, file, from)?;
                self.logs[at] = file.open.then_some(to);
            }
        }
        Ok(())
    }

    /// Prints what was added to a log, and says how long it is.
    fn print_from(&mut self, at: usize, file: &LogFile, from: u64) -> Result<u64, Failure> {
        let unreadable = |error: std::io::Error| {
            Failure::Engine(EngineError::Unreadable { path: file.path.clone(), why: error.to_string() })
        };
        match std::fs::metadata(&file.path) {
            Ok(found) if found.len() > from => {}
            Ok(_) => return Ok(from),
            // It is made by its first byte.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(from),
            Err(error) => return Err(unreadable(error)),
        }
        let mut log = File::open(&file.path).map_err(unreadable)?;
        log.seek(SeekFrom::Start(from)).map_err(unreadable)?;
        let mut chunk = vec![0; CHUNK];
        let mut to = from;
        loop {
            let count = log.read(&mut chunk).map_err(unreadable)?;
            if count == 0 {
                return Ok(to);
            }
            if self.current != Some(at) {
                self.current = Some(at);
                self.printed.end()?;
                if self.headings {
                    self.context.say(&format!("--- {} (attempt {})\n", file.node, file.attempt));
                }
            }
            self.printed.write(&chunk[..count])?;
            to += count as u64;
        }
    }
}
