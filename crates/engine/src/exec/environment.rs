//! The variables of a command: built from nothing, so that what a workflow does depends on what it names (`R-CMD-1`).

use std::env;
use std::ffi::OsString;
use std::process::Command;

use super::job::{CommandJob, Identity};
use super::slot::Files;

/// Where programs are looked for when sprag itself was not told.
const PATH_DEFAULT: &str = "/usr/local/bin:/usr/bin:/bin";

/// The variable by which every process of an attempt is found.
pub const ATTEMPT_VARIABLE: &str = "SPRAG_ATTEMPT_ID";

/// The variable by which every process of an owner is found.
pub const OWNER_VARIABLE: &str = "SPRAG_OWNER";

/// Where the command of a job looks for programs.
pub fn search_path(job: &CommandJob) -> OsString {
    let own = job.secrets.iter().rev().chain(job.environment.iter().rev()).find(|(name, _)| name == "PATH");
    match own {
        Some((_, value)) => value.into(),
        None => env::var_os("PATH").unwrap_or_else(|| PATH_DEFAULT.into()),
    }
}

/// Gives a command its variables. What comes later wins, so nothing can take sprag's own names away.
pub fn furnish(command: &mut Command, job: &CommandJob, files: &Files) {
    command.env_clear();
    command.env("PATH", env::var_os("PATH").unwrap_or_else(|| PATH_DEFAULT.into()));
    for name in ["LANG", "TZ"].into_iter().chain(job.pass_env.iter().map(String::as_str)) {
        if let Some(value) = env::var_os(name) {
            command.env(name, value);
        }
    }
    command.envs(job.environment.iter().chain(&job.secrets).map(|(name, value)| (name, value)));
    let identity = &job.identity;
    command.env("SPRAG_RUN_ID", identity.run.to_string());
    command.env("SPRAG_NODE_ID", &identity.node);
    command.env("SPRAG_ATTEMPT", identity.attempt.to_string());
    command.env(ATTEMPT_VARIABLE, identity.attempt_id.to_string());
    command.env("SPRAG_IDEMPOTENCY_KEY", identity.idempotency_key.to_string());
    command.env(OWNER_VARIABLE, identity.owner.to_string());
    command.env("SPRAG_INPUT", &files.input);
    command.env("SPRAG_OUTPUT", &files.output);
    command.env("SPRAG_CONTEXT", &files.context);
    command.env("SPRAG_ERROR", &files.error);
    command.env("TRACEPARENT", traceparent(identity));
    match job.deadline {
        Some(deadline) => command.env("SPRAG_DEADLINE", deadline.to_string()),
        None => command.env_remove("SPRAG_DEADLINE"),
    };
}

/// The run is the trace and the attempt the span, so that whoever stores spans finds them by ids that sprag shows.
fn traceparent(identity: &Identity) -> String {
    let (span, _) = identity.attempt_id.as_u64_pair();
    format!("00-{}-{span:016x}-01", identity.run.0.simple())
}

#[cfg(test)]
mod tests {
    use sprag_core::run::{OwnerId, RunId};

    use super::{Identity, traceparent};

    #[test]
    fn a_trace_is_the_run_and_a_span_the_attempt() {
        // R-CMD-1
        let run: RunId = "0198c5f2-7b3a-7d10-8e4f-1a2b3c4d5e6f".parse().unwrap();
        let attempt: RunId = "00000000-0000-0001-af49-2f85f3547c7a".parse().unwrap();
        let identity = Identity {
            run,
            node: "build".into(),
            attempt: 1,
            attempt_id: attempt.0,
            idempotency_key: run.0,
            owner: OwnerId(run.0),
        };
        assert_eq!(traceparent(&identity), "00-0198c5f27b3a7d108e4f1a2b3c4d5e6f-0000000000000001-01");
    }
}
