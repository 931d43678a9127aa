//! I15, I5 and I1: the journal has no gap, its writers follow each other, and what was acknowledged is in it.

use std::collections::BTreeSet;

use sprag_core::graph::NodeIndex;
use sprag_core::run::{Entry, Fence, Input, Refused, Report, Seq, Stage, StopCause};
use sprag_engine::Reply;

use super::history::{History, Line, Verdicts};
use super::track::{moved, staged};

pub(super) fn check(history: &History<'_>, verdicts: &mut Verdicts) {
    numbers(history, verdicts);
    fences(history, verdicts);
    let lines: Vec<_> = history.lines().collect();
    for reply in history.replies {
        acknowledged(&lines, reply, verdicts);
    }
}

fn numbers(history: &History<'_>, verdicts: &mut Verdicts) {
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
    for line in history.lines() {
        if matches!(line.entry, Entry::Created(_)) != (line.seq == Seq(1)) {
            verdicts.add("I15", line.seq, "a creation in the middle, or something else at the start");
        }
    }
}

fn fences(history: &History<'_>, verdicts: &mut Verdicts) {
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

/// How far an entry takes an attempt: a report of a stage is kept once the attempt is beyond that stage.
const fn progress(entry: &Entry) -> u32 {
    match entry {
        Entry::Unknown { .. } => 1,
        Entry::Produced { .. } => 2,
        Entry::Checked { .. } => 3,
        Entry::Graded { .. } => 4,
        _ => 5,
    }
}

fn acknowledged(lines: &[Line<'_>], reply: &Reply, verdicts: &mut Verdicts) {
    let missing = match (&reply.input, &reply.outcome) {
        (Input::Take { owner, .. }, Ok(())) => {
            !lines.iter().any(|line| matches!(line.entry, Entry::Owned { owner: of, .. } if of == owner))
        }
        (Input::Report { node, attempt, report }, Ok(())) => !kept(lines, *node, *attempt, report),
        (Input::Command(command), outcome) => {
            let wanted = outcome.is_ok();
            let recorded = lines.iter().any(|line| {
                matches!(line.entry, Entry::Command(record)
                    if record.command == *command && record.refused.is_none() == wanted)
            });
            // A run that is over is immutable, so the refusal has no place in it.
            !recorded && *outcome != Err(Refused::Ended)
        }
        (Input::Supersede { by }, Ok(())) => {
            let closes = |entry: &Entry| matches!(entry, Entry::Stopping { cause: StopCause::Superseded { by: of }, .. } if of == by);
            !lines.iter().any(|line| closes(line.entry))
        }
        (Input::Take { .. } | Input::Report { .. } | Input::Supersede { .. }, Err(_)) => false,
    };
    if missing {
        verdicts.add("I1", Seq(0), format!("acknowledged and not in the journal: {reply:?}"));
    }
}

fn kept(lines: &[Line<'_>], node: NodeIndex, attempt: u32, report: &Report) -> bool {
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
    let mut current = 0;
    for line in lines {
        match line.entry {
            Entry::Started { node: of, attempt, .. } if *of == node => current = *attempt,
            entry => {
                let about = moved(entry).map(|(of, _)| of).or_else(|| staged(entry).map(|(of, _)| of));
                if about == Some(node) && current == attempt && progress(entry) >= needed {
                    return true;
                }
            }
        }
        if current > attempt {
            return true;
        }
    }
    false
}
