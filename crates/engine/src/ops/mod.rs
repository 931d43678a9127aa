//! The verbs. Every face of sprag calls these and renders what they return.

mod find;
mod live;
mod logs;
mod people;
mod resume;
mod run;
mod runs;
mod saved;
mod show;
mod steer;
mod validate;
mod watch;

pub use find::Which;
pub use live::{Live, LiveNews, Resumed};
pub use logs::{LogFile, Logs, logs};
pub use people::{Decision, Message};
pub use resume::{ResumeOptions, resume};
pub use run::{RunOptions, params_of, run, run_many};
pub use runs::{RunLine, RunState, list, summary};
pub use saved::{Saved, saved};
pub use show::{AttemptRecord, ShownNode, ShownRun, show};
pub use steer::{Steered, cancel};
pub use validate::{Checked, open, schema, validate};
pub use watch::{Watch, watch};
