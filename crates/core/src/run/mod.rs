//! The rules of a run: what a node's states are, what its failures mean, when it is tried again, what things are called.

pub mod class;
pub mod diagram;
pub mod failure;
pub mod ids;
pub mod retry;
pub mod state;

pub use class::{Class, Known, code_of_exit, code_of_status, failing_exit};
pub use failure::{Feedback, Grade, NodeError, Severity};
pub use ids::{
    CommandId, Fence, OwnerId, QuestionId, RunId, Seq, Timestamp, UnreadableId, UnreadableTime, attempt_id,
    idempotency_key,
};
pub use retry::{Matcher, RetryRules};
pub use state::{InvalidStateTransition, NodeState, is_valid_transition};
