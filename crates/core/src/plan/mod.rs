//! Planning: what a run can keep of an earlier one, what it must do, and whether it may go on at all.
//!
//! Everything here is a pure function over plain data: the caller says what an earlier run left ([`Past`]), and gets a
//! [`Plan`] to show and the [`Carried`](crate::run::Carried) values that the new run begins with (`R-RES-2`, `R-RES-7`). See
//! `docs/design/010-planning.md`.

mod carried;
mod changes;
mod class;
mod eligible;
mod error;
mod fork;
mod in_place;
mod inside;
mod judge;
mod link;
mod make;
mod of_run;
mod options;
mod past;
mod planned;
mod reason;
mod resume_point;
mod told;

pub use changes::{Changes, changes};
pub use class::{FailureClass, Fate};
pub use eligible::{Candidate, Ineligible, Search, Standing, latest_resumable};
pub use error::PlanError;
pub use fork::fork;
pub use in_place::{Closing, Resumed, Way, way};
pub use link::{NewRun, forked, link};
pub use make::{Request, plan};
pub use options::{Mode, ResumeOptions, TaskHashes, no_task_hashes};
pub use past::{Inside, Past, PastNode};
pub use planned::{Action, Plan, PlannedNode, Saved};
pub use reason::{Given, Reason};
