//! I15, I5 and I1: the journal has no gap, its writers follow each other, and what was acknowledged is in it.

use std::collections::{BTreeMap, BTreeSet};

use sprag_core::graph::NodeIndex;
use sprag_core::run::{
    CommandId, CommandRecord, Entry, Fence, Input, OwnerId, Refused, Report, RunId, Seq, Stage, StopCause,
};
use sprag_engine::Reply;

use super::case::Case;
use super::history::Verdicts;
use super::track::{moved, staged};

pub(super) fn check(history: &Case<'_>, verdicts: &mut Verdicts) {
    numbers(history, verdicts);
    fences(history, verdicts);
    let kept = Kept::of(history);
    for reply in history.replies {
        if kept.misses(reply) {
            verdicts.add("I1", Seq(0), format!("acknowledged and not in the journal: {reply:?}"));
        }
    }
}

fn numbers(history: &Case<'_>, verdicts: &mut Verdicts) {
    let mut next = 1;
    let mut ids = BTreeSet::new();
    for commit in history.commits {
        if commit.first.0 != next || commit.entries.is_empty() {
            let count = commit.entries.len();
            verdicts.add("I15", commit.first, format!("a commit of {count} entries, where entry {next} was due"));
        }
        next = commit.first.0 + commit.entries.len() as u64;
        if !ids.insert(commit.id) {
            verdicts.add("I15", commit.first, format!("commit {} is there twice", commit.id));
        }
    }
    for line in &history.lines {
        if matches!(line.entry, Entry::Created(_)) != (line.seq == Seq(1)) {
            verdicts.add("I15", line.seq, "a creation in the middle, or something else at the start");
        }
    }
}

fn fences(history: &Case<'_>, verdicts: &mut Verdicts) {
    let mut current = Fence(0);
    for commit in history.commits {
        for entry in &commit.entries {
            if let Entry::Owned { fence, .. } = entry {
                if *fence <= current {
                    verdicts.add("I5", commit.first, format!("fence {fence} follows fence {current}"));
                }
                current = *fence;
            }
        }
        if commit.fence != current {
            verdicts.add("I5", commit.first, format!("written under fence {}, not {current}", commit.fence));
        }
    }
}

/// What the journal keeps of what was told.
struct Kept<'run> {
    owners: BTreeSet<OwnerId>,
    commands: BTreeMap<CommandId, Vec<&'run CommandRecord>>,
    /// How far the journal says that each attempt went.
    progress: BTreeMap<(NodeIndex, u32), u32>,
    /// The last attempt of each node.
    last: BTreeMap<NodeIndex, u32>,
    /// The run that goes on instead.
    superseded: Option<RunId>,
}

impl<'run> Kept<'run> {
    fn of(history: &Case<'run>) -> Self {
        let mut kept = Self {
            owners: BTreeSet::new(),
            commands: BTreeMap::new(),
            progress: BTreeMap::new(),
            last: BTreeMap::new(),
            superseded: None,
        };
        for line in &history.lines {
            match line.entry {
                Entry::Owned { owner, .. } => {
                    kept.owners.insert(*owner);
                }
                Entry::Stopping { cause: StopCause::Superseded { by }, .. } => kept.superseded = Some(*by),
                Entry::Command(record) => kept.commands.entry(record.command.id).or_default().push(record),
                Entry::Started { node, attempt, .. } => {
                    kept.last.insert(*node, *attempt);
                    // Its work was done, or may have been, in an earlier run: nobody is asked to do it.
                    if *attempt == 1 && history.asks_again(*node) {
                        kept.progress.insert((*node, 1), 1);
                    }
                }
                entry => {
                    let about = moved(entry).map(|(of, _)| of).or_else(|| staged(entry).map(|(of, _)| of));
                    if let Some(node) = about {
                        let attempt = kept.last.get(&node).copied().unwrap_or(0);
                        let reached = kept.progress.entry((node, attempt)).or_default();
                        *reached = progress(entry).max(*reached);
                    }
                }
            }
        }
        kept
    }

    fn misses(&self, reply: &Reply) -> bool {
        match (&reply.input, &reply.outcome) {
            (Input::Take { owner, .. }, Ok(())) => !self.owners.contains(owner),
            (Input::Report { node, attempt, report }, Ok(())) => !self.reached(*node, *attempt, report),
            (Input::Command(command), outcome) => {
                let records = self.commands.get(&command.id).into_iter().flatten();
                let same = |record: &&&CommandRecord| {
                    record.command == *command && record.refused.is_none() == outcome.is_ok()
                };
                // A run that is over is immutable, so the refusal has no place in it.
                records.filter(same).count() == 0 && *outcome != Err(Refused::Ended)
            }
            (Input::Supersede { by }, Ok(())) => self.superseded != Some(*by),
            (Input::Take { .. } | Input::Report { .. } | Input::Supersede { .. }, Err(_)) => false,
        }
    }

    fn reached(&self, node: NodeIndex, attempt: u32, report: &Report) -> bool {
        let stage = match report {
            Report::Produced(_) => Stage::Work,
            Report::Failed(stage, _) | Report::FailedAt(stage, ..) => *stage,
            Report::Checked => Stage::Check,
            Report::Graded { .. } => Stage::Evaluate,
            Report::Probed { .. } => Stage::Probe,
            Report::Decomposed(_) => Stage::Decompose,
        };
        let needed = match stage {
            Stage::Work => 1,
            Stage::Probe | Stage::Decompose => 2,
            Stage::Grow | Stage::Children | Stage::Check => 3,
            Stage::Evaluate | Stage::Gate | Stage::Done => 4,
        };
        self.last.get(&node).is_some_and(|last| *last > attempt)
            || self.progress.get(&(node, attempt)).is_some_and(|progress| *progress >= needed)
    }
}

/// How far an entry takes an attempt: a report of a stage is kept once the attempt is beyond that stage.
const fn progress(entry: &Entry) -> u32 {
    match entry {
        Entry::Unknown { .. } => 1,
        Entry::Produced { .. } | Entry::Expanded(_) | Entry::Gathered { .. } => 2,
        Entry::Checked { .. } => 3,
        Entry::Graded { .. } => 4,
        _ => 5,
    }
}
