//! What it means that a command failed (`R-CMD-1`, `R-CMD-2`, `R-ERR-1`).

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use serde_json::{Map, Value};
use sprag_core::file::{self, ErrorCode};
use sprag_core::run::{Feedback, Grade, Known, NodeError, Severity, code_of_exit};

use super::capture::Capture;
use super::job::CommandJob;
use super::notice::{last_line, message};
use super::slot::{Files, read_written};
use super::watch::Stopped;

/// What shells add to the number of a signal to say it as an exit code.
const SIGNAL_BASE: i32 = 128;

/// The signals that end a process by default, by number.
const SIGNALS: [(i32, &str); 22] = [
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (4, "SIGILL"),
    (5, "SIGTRAP"),
    (6, "SIGABRT"),
    (7, "SIGBUS"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (10, "SIGUSR1"),
    (11, "SIGSEGV"),
    (12, "SIGUSR2"),
    (13, "SIGPIPE"),
    (14, "SIGALRM"),
    (15, "SIGTERM"),
    (16, "SIGSTKFLT"),
    (24, "SIGXCPU"),
    (25, "SIGXFSZ"),
    (26, "SIGVTALRM"),
    (27, "SIGPROF"),
    (29, "SIGIO"),
    (31, "SIGSYS"),
];

/// The error of a command that was stopped.
pub fn of_stop(why: Stopped) -> NodeError {
    match why {
        Stopped::Timeout(limit) => NodeError::new(Known::TIMEOUT, format!("took longer than {}", shown(limit))),
        Stopped::Idle(limit) => NodeError::new(Known::TIMEOUT, format!("no output for {}", shown(limit))),
        Stopped::Aborted => NodeError::new(Known::INTERRUPTED, "aborted"),
    }
}

/// The error of a command that ended with something else than 0.
pub fn of_exit(job: &CommandJob, files: &Files, capture: &Capture, status: ExitStatus) -> NodeError {
    let exit = status.code().or_else(|| status.signal().map(|signal| SIGNAL_BASE + signal)).unwrap_or(1);
    let mut error = NodeError::new(code_of_exit(exit, &job.errors), String::new());
    let mut unusable = Vec::new();
    match written(files) {
        Ok(None) => {}
        Ok(Some(said)) => apply(job, &said, &mut error, &mut unusable),
        Err(why) => unusable.push(why),
    }
    if error.message.is_empty() {
        error.message = last_line(capture.tail()).unwrap_or_else(|| ending(status));
    }
    if !unusable.is_empty() {
        error.message = format!("{} (in the file of `SPRAG_ERROR`: {})", error.message, unusable.join("; "));
    }
    error
}

fn shown(limit: Duration) -> file::Duration {
    file::Duration::from_millis(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX))
}

fn ending(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with code {code}"),
        (None, Some(signal)) => match SIGNALS.iter().find(|(number, _)| *number == signal) {
            Some((_, name)) => format!("was killed by signal {name} ({signal})"),
            None => format!("was killed by signal {signal}"),
        },
        (None, None) => "ended in an unknown way".into(),
    }
}

/// What the command says about its failure, if it says something.
fn written(files: &Files) -> Result<Option<Map<String, Value>>, String> {
    let Some(bytes) = read_written(&files.error)? else { return Ok(None) };
    match serde_json::from_slice(&bytes) {
        Ok(Value::Object(said)) => Ok(Some(said)),
        Ok(_) => Err("it is not a JSON object".into()),
        Err(error) => Err(format!("it is not JSON: {error}")),
    }
}

/// Takes over what can be used, and notes what cannot.
fn apply(job: &CommandJob, said: &Map<String, Value>, error: &mut NodeError, unusable: &mut Vec<String>) {
    let masked = |text: &str| job.mask.as_ref().map_or_else(|| text.to_owned(), |mask| mask.text(text));
    for (name, value) in said {
        match (name.as_str(), value) {
            (_, Value::Null) => {}
            ("code", Value::String(text)) => match ErrorCode::new(&masked(text)) {
                Ok(code) => error.code = code,
                Err(why) => unusable.push(message(&why)),
            },
            ("message", Value::String(text)) => error.message = message(&masked(text)),
            ("grade", Value::String(text)) if Grade::from_name(text).is_some() => error.grade = Grade::from_name(text),
            ("feedback", value) => match feedback(value) {
                Some(list) => {
                    let hidden = list.into_iter().map(|one| Feedback { text: masked(&one.text), ..one });
                    error.feedback = hidden.collect();
                }
                None => unusable.push("`feedback` is neither a text nor a list of `{severity, text}`".into()),
            },
            ("code" | "message", _) => unusable.push(format!("`{name}` is not a text")),
            ("grade", _) => unusable.push("`grade` is none of A, B, C, D, F".into()),
            // Whatever else a program wants to note there is its own.
            _ => {}
        }
    }
}

/// A text is one critical piece of feedback; a list holds texts and pieces.
fn feedback(value: &Value) -> Option<Vec<Feedback>> {
    let critical = |text: &str| Feedback { severity: Severity::Critical, text: text.to_owned() };
    match value {
        Value::String(text) => Some(vec![critical(text)]),
        Value::Array(list) => list
            .iter()
            .map(|one| match one {
                Value::String(text) => Some(critical(text)),
                other => serde_json::from_value(other.clone()).ok(),
            })
            .collect(),
        _ => None,
    }
}
