//! A new branch from a past point (`R-RES-4`).

use super::error::PlanError;
use super::make::{Request, make};
use super::options::{Mode, ResumeOptions, TaskHashes};
use super::past::Past;
use super::planned::Plan;
use crate::definition::Definition;

/// Plans a fork. `past` is the run as it was at that point; with `from`, as it was before that node first started.
///
/// What had completed by then is kept, whatever parameters the fork is given: they hold from here on. The fork is the
/// first run of a lineage of its own, so all its idempotency keys are new (`R-CLAIM-6`), and earlier costs are not its
/// own.
pub fn fork(
    definition: &Definition,
    past: &Past,
    from: Option<&str>,
    task_hashes: &TaskHashes<'_>,
) -> Result<Plan, PlanError> {
    let options =
        ResumeOptions { re_execute_nodes: from.into_iter().map(str::to_owned).collect(), ..ResumeOptions::default() };
    let request = Request {
        definition,
        past: Some(past),
        mode: Mode::Incremental,
        options: &options,
        in_place: false,
        params: None,
        task_hashes,
    };
    make(&request, true)
}
