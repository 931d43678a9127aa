//! From the state of a run to what an executor needs: templates filled in, secrets resolved (`R-EXPR-2`, `R-CMD-1`).

use std::path::Path;

use serde_json::Value;
use sprag_core::expr::{self, EvalError};
use sprag_core::file::{Json, TextOr};
use sprag_core::graph::NodeIndex;
use sprag_core::run::{Known, NodeError, OwnerId, Run, Scope, attempt_id, idempotency_key};

use super::functions::{Call, Functions};
use super::secrets::Secrets;
use super::slots::Task;
use crate::exec::{Abort, CommandJob, GRACE, Identity, Program};
use crate::logs;

/// Where a process executes what it owns.
pub(super) struct Place<'host> {
    pub owner: OwnerId,
    pub root: &'host Path,
    pub state: &'host Path,
    pub functions: &'host Functions,
}

/// A command, ready to be started.
pub(super) fn command(
    place: &Place<'_>,
    run: &Run,
    secrets: &mut Secrets,
    node: NodeIndex,
    attempt: u32,
) -> Result<Task, NodeError> {
    let definition = run.definition();
    let spec = &definition.node(node).spec;
    let scope = Scope::of_node(run, node);
    let text = |template: &str| expr::text(template, &scope).map_err(|error| unusable(&error));
    let mut environment = Vec::new();
    let program = match spec.run.as_ref() {
        Some(TextOr::Text(script)) => {
            let bound = expr::bound_script(script, &scope).map_err(|error| unusable(&error))?;
            environment = bound.environment;
            Program::Shell(bound.script)
        }
        Some(TextOr::Long(arguments)) => {
            Program::Arguments(arguments.iter().map(|argument| text(&argument.0)).collect::<Result<_, _>>()?)
        }
        None => return Err(NodeError::new(Known::INTERNAL, "the node has no command")),
    };
    for (name, value) in &spec.env {
        environment.push((name.as_str().to_owned(), text(&value.0.0)?));
    }
    let folder = match &spec.cwd {
        Some(folder) => place.root.join(text(&folder.0)?),
        None => place.root.to_owned(),
    };
    let mut handed = Vec::new();
    for name in &spec.secrets {
        handed.push((name.as_str().to_owned(), secrets.value(name)?));
    }
    let input = serde_json::to_vec(&run.input_of(node))
        .map_err(|error| NodeError::new(Known::INTERNAL, format!("the input cannot be written: {error}")))?;
    let identity = identity(place, run, node, attempt)?;
    let log = logs::path(place.state, identity.run, &identity.node, attempt);
    let job = CommandJob {
        identity,
        program,
        folder,
        environment,
        pass_env: spec.pass_env.iter().map(|name| name.as_str().to_owned()).collect(),
        secrets: handed,
        mask: secrets.mask(),
        input,
        output: spec.output.unwrap_or_default(),
        errors: spec.errors.clone(),
        timeout: spec.timeout.map(std_duration),
        idle_timeout: spec.idle_timeout.map(std_duration),
        deadline: run.deadline(),
        log,
        grace: GRACE,
    };
    Ok(Task::Command { job: Box::new(job), root: place.root.to_owned(), outputs: spec.outputs.clone() })
}

/// A function of the host, ready to be called.
pub(super) fn call(
    place: &Place<'_>,
    run: &Run,
    node: NodeIndex,
    attempt: u32,
    abort: &Abort,
) -> Result<Task, NodeError> {
    let spec = &run.definition().node(node).spec;
    let name = spec.call.as_deref().unwrap_or_default();
    let Some(function) = place.functions.find(name) else {
        let message = format!("no function `{name}` is registered in this process");
        return Err(NodeError::new(Known::MISSING_DEPENDENCY, message));
    };
    let with = match &spec.with {
        Some(Json(value)) => expr::json(value, &Scope::of_node(run, node)).map_err(|error| unusable(&error))?,
        None => Value::Null,
    };
    let Identity { run: id, node: name, attempt_id, idempotency_key, .. } = identity(place, run, node, attempt)?;
    let call = Call {
        run: id,
        node: name,
        attempt,
        attempt_id,
        idempotency_key,
        with,
        input: run.input_of(node),
        abort: abort.clone(),
    };
    Ok(Task::Call { function, call: Box::new(call), timeout: spec.timeout.map(std_duration) })
}

fn identity(place: &Place<'_>, run: &Run, node: NodeIndex, attempt: u32) -> Result<Identity, NodeError> {
    let created = run.created().ok_or_else(|| NodeError::new(Known::INTERNAL, "the run was never created"))?;
    let name = run.definition().graph.id(node).to_string();
    Ok(Identity {
        run: created.run,
        attempt,
        attempt_id: attempt_id(created.run, &name, attempt),
        idempotency_key: idempotency_key(created.first_run, &name, run.generation(node)),
        node: name,
        owner: place.owner,
    })
}

fn unusable(error: &EvalError) -> NodeError {
    NodeError::new(Known::CONDITION_ERROR, error.message.clone())
}

const fn std_duration(duration: sprag_core::file::Duration) -> std::time::Duration {
    std::time::Duration::from_millis(duration.millis)
}
