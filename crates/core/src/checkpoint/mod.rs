//! Checkpoints: what a run has come to, as a record that any store can keep (`R-CP-1`…`R-CP-6`).
//!
//! The journal is the truth and a checkpoint a way to get there sooner, so everything here is allowed to refuse: what
//! cannot be read exactly is an error, and the next older checkpoint or the journal serves.

mod address;
mod codec;
mod first;
mod growth;
mod header;
mod held;
mod id;
mod mark;
mod marker;
mod of_run;
mod pick;
mod policy;
mod prune;
mod record;
mod refused;
mod state;
mod state_fold;
mod trigger;

pub use address::{Address, NotAnAddress};
pub use codec::{Encoded, Pack, decode, decode_record, encode, encode_record};
pub use growth::Growth;
pub use held::{Blob, Held, json_bytes};
pub use id::{CheckpointId, NotACheckpointId};
pub use mark::{Mark, Saved, Trigger, nearest};
pub use marker::{Marked, Marker};
pub use of_run::About;
pub use pick::{Picked, Unserved, Wanted, pick};
pub use prune::prune;
pub use record::{
    Checkpoint, Cost, ExecutionConfig, Machine, Metadata, NodeRecord, RunRecord, SchemaVersion, ShapeEdge, Spent,
    WorkflowShape,
};
pub use refused::{Refused, Unwritable};
pub use state::{DecisionKind, DecisionRecord, Message, MessageKind, Task, Update, WorkflowState};
pub use state_fold::StateFold;
pub use trigger::trigger_of;

/// The version of the stored record. Older ones are migrated forward when they are read; newer ones are refused.
pub const CHECKPOINT_VERSION: u16 = 2;

/// A record longer than this is packed whole (`R-CP-2`).
pub const PACKED_OVER_BYTES: usize = 4 * 1024;

/// An output longer than this, as JSON, goes to the blob store (`R-CP-2`).
pub const BLOB_OVER_BYTES: u64 = 64 * 1024;

/// A stored checkpoint longer than this is worth a warning (`R-CP-2`).
pub const LARGE_OVER_BYTES: usize = 500_000;

/// The longest record that is unpacked, whatever its header says.
pub const PLAIN_BYTES_MAX: u64 = 1 << 30;
