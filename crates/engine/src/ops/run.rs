//! Starting a run. `run` always starts a new one (`R-RES-1`).

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use sprag_core::definition::Definition;
use sprag_core::limits::Limits;
use sprag_core::params::{self, Given, ParamProblem};
use sprag_core::run::{Created, RunId};
use sprag_core::yaml;
use uuid::Uuid;

use super::live::Live;
use crate::driver::Driver;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::events::Reader;
use crate::host::{Begin, Follower, Host};
use crate::source;
use crate::stored::{self, Overrides, Source};
use crate::support;

/// How a run starts.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// The parameters that were given.
    pub params: BTreeMap<String, Given>,
    /// What is wanted otherwise than the file says.
    pub overrides: Overrides,
}

/// Starts a run of a workflow in this process. `source` is what it was compiled from, if it has files.
pub fn run(
    engine: &Engine,
    definition: Definition,
    source: Option<&Source>,
    options: RunOptions,
) -> Result<Live, EngineError> {
    let (definition, created) = planned(engine, definition, options.params, options.overrides)?;
    let host = engine.host()?;
    let digest = stored::put(&engine.store, &definition, source, options.overrides)?;
    let follower = begun(&host, &definition, Created { definition: Some(digest), ..created });
    let reader = Reader::new(follower.run(), Arc::clone(&definition));
    Ok(Live::new(definition, reader, None, host, follower))
}

/// The parameters in a YAML or JSON file.
pub fn params_of(path: &Path) -> Result<BTreeMap<String, Value>, EngineError> {
    let text = source::read(path, &Limits::default())?;
    let problem = |message: String| {
        let help = "write a mapping of names to values, in YAML or JSON".into();
        EngineError::Params(vec![ParamProblem { name: String::new(), message, help }])
    };
    let value = yaml::plain_value(&text, yaml::Limits::default())
        .map_err(|why| problem(format!("`{}` cannot be used: {why}", path.display())))?;
    match value {
        Value::Object(values) => Ok(values.into_iter().collect()),
        _ => Err(problem(format!("`{}` holds no mapping", path.display()))),
    }
}

/// Starts several runs of one workflow in a host that drives others too.
pub fn run_many(
    engine: &Engine,
    host: &Host,
    definition: Definition,
    count: usize,
) -> Result<Vec<Follower>, EngineError> {
    let (definition, created) = planned(engine, definition, BTreeMap::new(), Overrides::default())?;
    let digest = stored::put(&engine.store, &definition, None, Overrides::default())?;
    let each = || {
        let run = new_run();
        Created { run, first_run: run, definition: Some(digest), ..created.clone() }
    };
    Ok((0..count).map(|_| begun(host, &definition, each())).collect())
}

/// Checks everything that can be checked before anything is written.
fn planned(
    engine: &Engine,
    mut definition: Definition,
    params: BTreeMap<String, Given>,
    overrides: Overrides,
) -> Result<(Arc<Definition>, Created), EngineError> {
    support::check(&definition, &engine.surroundings.functions)?;
    let params = params::resolve(&definition.params, params).map_err(EngineError::Params)?;
    overrides.apply(&mut definition.policy);
    let created = Created::first(new_run(), &definition, params);
    Ok((Arc::new(definition), created))
}

fn begun(host: &Host, definition: &Arc<Definition>, created: Created) -> Follower {
    let run = created.run;
    let driver = Driver::create(Arc::clone(definition), created, host.owner(), slots(definition, None));
    host.begin(Begin { run, definition: Arc::clone(definition), driver })
}

fn new_run() -> RunId {
    RunId(Uuid::now_v7())
}

/// How many attempts may run at once: what was asked for, or the larger of 4 and the number of cores.
pub(super) fn slots(definition: &Definition, asked: Option<u32>) -> u32 {
    let cores =
        || std::thread::available_parallelism().map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(u32::MAX));
    asked.or(definition.policy.max_parallelism).unwrap_or_else(|| cores().max(4))
}
