//! A run: a pure state machine over its journal.
//!
//! Inputs come in, [`Run::decide`] turns them into entries, [`Run::apply`] takes entries into the state, and
//! [`Run::owed`] reads off the state what the world must do. Time is an argument, the next wake-up a result.

mod address;
mod admit;
mod apply;
mod asking;
mod carrying;
mod cause;
mod class;
mod commit;
mod context;
mod created;
mod decide;
mod depth;
pub mod diagram;
mod edges;
mod entry;
mod failure;
mod fold;
mod growing;
mod ids;
mod input;
mod kept;
mod ledger;
mod left;
mod level;
mod limits;
mod money;
mod parts;
mod question;
mod queue;
mod record;
mod recovering;
pub mod recovery;
mod retry;
mod schedule;
mod scope;
mod setter;
mod snapshot;
mod state;
mod step;
mod summary;
mod trace;
mod trust;
mod view;

pub use cause::{CancelCause, EndFailure, EndStatus, Ending, SkipReason, StopCause, StopLevel};
pub use class::{Class, Known, code_of_exit, code_of_status, failing_exit};
pub use commit::{Commit, JOURNAL_VERSION, Unreadable, entries_from_json};
pub use context::merge_patch;
pub use created::{Created, GrowthLimits};
pub use decide::Refused;
pub use depth::{DEPTH_MAX, is_too_deep};
pub use edges::{DecidedEdge, Joined, SourceEnd, join};
pub use entry::Entry;
pub use failure::{Feedback, Grade, NodeError, Severity};
pub use fold::{AskedQuestion, Closing, Corrupt, CorruptDetail, Ownership, Run};
pub use ids::{
    CommandId, Fence, OwnerId, QuestionId, RunId, Seq, Timestamp, UnreadableId, UnreadableTime, attempt_id, commit_id,
    idempotency_key,
};
pub use input::{Command, Effect, Input, QuestionRef, Report, Stage, Taking, Verb};
pub use kept::{Asking, Carried, Cost, Kept, KeptEnd, KeptGrowth, KeptPlace, KeptResult};
pub use ledger::{LedgerOutcome, LedgerRow, ledger};
pub use parts::{Answer, CommandRecord, Expansion, Growth, Product, Refusal, Taint, Usage, Verdict};
pub use question::{Choice, Question, QuestionKind, shown_digest};
pub use recovering::{Chosen, Terms};
pub use retry::{Matcher, RetryRules};
pub use scope::Scope;
pub use snapshot::{MACHINE_VERSION, Unrestorable};
pub use state::{InvalidStateTransition, NodeState, is_valid_transition};
pub use summary::{Counts, Failing, Summary};
pub use trace::TraceEvent;
pub use view::{PausedBy, RunStatus};
