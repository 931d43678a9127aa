//! The id of a checkpoint: `<workflow>-<run>-<ms>-<seq>` (`R-CP-1`).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::file::WorkflowId;
use crate::run::{RunId, Seq, Timestamp};

/// The length of a UUID with its hyphens.
const UUID_LEN: usize = 36;

/// The id of a checkpoint. It says where the checkpoint belongs, so that one found at another place is noticed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct CheckpointId {
    workflow: WorkflowId,
    run: RunId,
    ms: u64,
    seq: Seq,
}

impl CheckpointId {
    /// The id of a checkpoint made at a moment, after an entry of the journal. Before 1970 counts as 1970.
    pub fn new(workflow: WorkflowId, run: RunId, at: Timestamp, seq: Seq) -> Self {
        Self { workflow, run, ms: u64::try_from(at.millis).unwrap_or(0), seq }
    }

    /// The workflow.
    pub const fn workflow(&self) -> &WorkflowId {
        &self.workflow
    }

    /// The run.
    pub const fn run(&self) -> RunId {
        self.run
    }

    /// The last entry of the journal that counts for it.
    pub const fn seq(&self) -> Seq {
        self.seq
    }

    /// When it was made, in milliseconds since 1970.
    pub const fn ms(&self) -> u64 {
        self.ms
    }
}

impl fmt::Display for CheckpointId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}-{}-{}", self.workflow, self.run, self.ms, self.seq)
    }
}

impl FromStr for CheckpointId {
    type Err = NotACheckpointId;

    /// Read from the right, since a workflow's id may hold anything that follows it.
    fn from_str(text: &str) -> Result<Self, NotACheckpointId> {
        let parts = || {
            let (rest, seq) = text.rsplit_once('-')?;
            let (rest, ms) = rest.rsplit_once('-')?;
            let (workflow, run) = rest.split_at_checked(rest.len().checked_sub(UUID_LEN)?)?;
            let workflow = WorkflowId::new(workflow.strip_suffix('-')?).ok()?;
            Some(Self { workflow, run: run.parse().ok()?, ms: ms.parse().ok()?, seq: Seq(seq.parse().ok()?) })
        };
        // There is one way to write each, so that a name never misses its checkpoint.
        parts().filter(|id| id.to_string() == text).ok_or_else(|| NotACheckpointId { text: text.to_owned() })
    }
}

impl From<CheckpointId> for String {
    fn from(id: CheckpointId) -> Self {
        id.to_string()
    }
}

impl TryFrom<String> for CheckpointId {
    type Error = NotACheckpointId;

    fn try_from(text: String) -> Result<Self, NotACheckpointId> {
        text.parse()
    }
}

/// A text that is no id of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotACheckpointId {
    text: String,
}

impl fmt::Display for NotACheckpointId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` is not a checkpoint, `<workflow>-<run>-<ms>-<seq>`", self.text.escape_debug())
    }
}

impl std::error::Error for NotACheckpointId {}

#[cfg(test)]
mod tests {
    use super::{CheckpointId, RunId, Seq, Timestamp, WorkflowId};

    const RUN: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

    #[test]
    fn ids_are_read_as_they_are_written() {
        // R-CP-1
        let tricky = format!("{RUN}-1-2");
        for workflow in ["w", "a-b.c_d", "1-2-3", RUN, tricky.as_str()] {
            let workflow = WorkflowId::new(workflow).unwrap();
            let run: RunId = RUN.parse().unwrap();
            for (ms, seq) in [(0, 0), (1_769_851_800_250, 7), (i64::MAX, u64::MAX)] {
                let id = CheckpointId::new(workflow.clone(), run, Timestamp::from_millis(ms), Seq(seq));
                let text = id.to_string();
                assert_eq!(text, format!("{workflow}-{RUN}-{ms}-{seq}"));
                let read: CheckpointId = text.parse().unwrap();
                assert_eq!((read.workflow(), read.run(), read.seq()), (&workflow, run, Seq(seq)));
                assert_eq!(read, id);
            }
        }
    }

    #[test]
    fn nothing_else_is_an_id() {
        // R-CP-1
        let upper = RUN.to_uppercase();
        let simple = RUN.replace('-', "");
        for bad in [
            String::new(),
            "-".into(),
            "w-1-2".into(),
            format!("{RUN}-1-2"),
            format!("-{RUN}-1-2"),
            format!("w{RUN}-1-2"),
            format!("w-{RUN}-1"),
            format!("w-{RUN}--1-2"),
            format!("w-{RUN}-01-2"),
            format!("w-{RUN}-1-+2"),
            format!("w-{RUN}-1-2 "),
            format!("w-{RUN}-1-18446744073709551616"),
            format!("w-{upper}-1-2"),
            format!("w-{simple}-1-2"),
            format!("a/b-{RUN}-1-2"),
            format!("é-{RUN}-1-2"),
            "ééééééééééééééééééé-1-2".into(),
        ] {
            assert!(bad.parse::<CheckpointId>().is_err(), "{bad}");
        }
        let before =
            CheckpointId::new(WorkflowId::new("w").unwrap(), RunId::default(), Timestamp::from_millis(-5), Seq(1));
        assert_eq!(before.ms(), 0);
    }
}
