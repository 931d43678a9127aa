//! `sprag logs`: what the attempts of a run printed.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::time::Duration;

use clap::Args;
use serde_json::json;
use sprag_engine::ops::{self, LogFile, Which};
use sprag_engine::{Engine, EngineError};

use crate::context::Context;
use crate::failure::{Exit, Failure};

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
    #[arg(long, value_name = "N")]
    attempt: Option<u32>,
    /// Go on until the run ends, or nobody runs it
    #[arg(short, long)]
    follow: bool,
}

impl Logs {
    pub fn run(self, context: &Context) -> Result<Exit, Failure> {
        let engine = Engine::open(&context.project()?, context.store())?;
        let mut shown = Shown { context, headings: self.node.is_none() || self.attempt.is_none(), logs: Vec::new() };
        let (run, files) = ops::logs(&engine, &self.run, self.node.as_deref(), self.attempt)?;
        if context.json {
            let files = files.iter().map(|file| {
                json!({ "node": file.node, "attempt": file.attempt, "path": file.path, "there": file.path.exists() })
            });
            context.document(&json!({ "run_id": run, "logs": files.collect::<Vec<_>>() }))?;
            return Ok(Exit::OK);
        }
        shown.print(&files)?;
        if !self.follow {
            if shown.logs.is_empty() {
                context.say("nothing was printed\n");
            }
            return Ok(Exit::OK);
        }
        let which = Which::Named(run.to_string());
        let mut watch = ops::watch(&engine, &which)?;
        loop {
            // What was written before the end of the run is printed after it.
            let alive = watch.is_alive()?;
            while !watch.read()?.is_empty() {}
            shown.print(&ops::logs(&engine, &which, self.node.as_deref(), self.attempt)?.1)?;
            if !alive || watch.has_ended() {
                return Ok(Exit::OK);
            }
            std::thread::sleep(POLL);
        }
    }
}

/// The logs that are being printed, each with how much of it was.
struct Shown<'context> {
    context: &'context Context,
    headings: bool,
    logs: Vec<(LogFile, u64)>,
}

impl Shown<'_> {
    fn print(&mut self, files: &[LogFile]) -> Result<(), Failure> {
        for file in files {
            let known = self.logs.iter().position(|(known, _)| known.path == file.path);
            let from = known.map_or(0, |at| self.logs[at].1);
            let read = self.print_from(file, from, known.is_none())?;
            match known {
                Some(at) => self.logs[at].1 += read,
                None if read > 0 => self.logs.push((file.clone(), read)),
                None => {}
            }
        }
        Ok(())
    }

    fn print_from(&self, file: &LogFile, from: u64, new: bool) -> Result<u64, Failure> {
        let unreadable = |error: std::io::Error| {
            Failure::Engine(EngineError::Unreadable { path: file.path.clone(), why: error.to_string() })
        };
        let mut log = match File::open(&file.path) {
            Ok(log) => log,
            // It is made by its first byte.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(unreadable(error)),
        };
        std::io::Seek::seek(&mut log, std::io::SeekFrom::Start(from)).map_err(unreadable)?;
        let mut chunk = vec![0; CHUNK];
        let mut read = 0;
        loop {
            let count = log.read(&mut chunk).map_err(unreadable)?;
            if count == 0 {
                return Ok(read);
            }
            if read == 0 && new && self.headings {
                self.context.say(&format!("--- {} (attempt {})\n", file.node, file.attempt));
            }
            self.context.bytes(&chunk[..count])?;
            read += count as u64;
        }
    }
}
