//! One attempt at a command, from its four files to its product.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, ExitStatus, Stdio};
use std::time::Instant;

use rustix::process::Pid;
use sprag_core::run::{Known, NodeError, Product};

use super::abort::Abort;
use super::capture::Capture;
use super::environment::{furnish, search_path};
use super::failure;
use super::job::CommandJob;
use super::product;
use super::program::{command, not_started};
use super::slot::{Files, SlotFolder};
use super::sweep::Marker;
use super::watch::{Stopped, Watch, kill_all};

/// Executes an attempt and returns when it is over. What it left in its slot stays there until the next attempt, or until
/// the slot is tidied.
///
/// Of a command that was stopped no process is left. What a command that ended by itself left in the background lives
/// on until its owner ends, but nobody reads its output any more.
pub fn execute(job: &CommandJob, slot: &SlotFolder, abort: &Abort) -> Result<Product, NodeError> {
    if abort.asked().is_some() {
        return Err(failure::of_stop(Stopped::Aborted));
    }
    let files = slot.open(&job.input).map_err(|error| {
        NodeError::new(Known::UNAVAILABLE, format!("the files of the attempt could not be made: {error}"))
    })?;
    let began = Instant::now();
    let mut child = start(job, &files)?;
    let mut capture = Capture::new(job);
    let outcome = Watch::new(job, abort, &mut capture, &mut child, began).and_then(Watch::until_end);
    let (stopped, status) = settle(job, &mut child, outcome).map_err(|error| {
        NodeError::new(Known::UNAVAILABLE, format!("the command could not be watched, so it was killed: {error}"))
    })?;
    capture.finish();
    let outcome = match stopped {
        Some(why) => Err(failure::of_stop(why)),
        None if status.success() => product::of(job, &files, &capture),
        None => Err(failure::of_exit(job, &files, &capture, status)),
    };
    slot.keep(files);
    outcome
}

/// Starts the command with nothing of ours but three streams. A group of its own keeps the terminal's Ctrl-C from it
/// (`R-GATE-3`).
fn start(job: &CommandJob, files: &Files) -> Result<Child, NodeError> {
    let mut command = command(job, &search_path(job))?;
    furnish(&mut command, job, files);
    command.current_dir(&job.folder).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().map_err(|error| {
        let mut error = not_started(job, &command, &error);
        if let Some(mask) = &job.mask {
            error.message = mask.text(&error.message);
        }
        error
    })
}

/// Reaps the process, whatever happened, so that no zombie is left.
fn settle(
    job: &CommandJob,
    child: &mut Child,
    outcome: io::Result<Option<Stopped>>,
) -> io::Result<(Option<Stopped>, ExitStatus)> {
    let killed = match &outcome {
        Ok(_) => Ok(()),
        Err(_) => kill_all(Pid::from_child(child), &Marker::of_attempt(job.identity.attempt_id)),
    };
    let status = child.wait()?;
    killed?;
    Ok((outcome?, status))
}
