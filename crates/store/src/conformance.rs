//! What every journal must do. An adapter's test is one line: `conformance::journal(MyJournal::new)`.

use std::sync::Arc;

use sprag_core::run::{Commit, Entry, Fence, OwnerId, RunId, Seq, Timestamp};

use crate::error::StoreError;
use crate::journal::{Append, Journal};

/// Runs every case against fresh stores. The error names the case and what was wrong.
pub fn journal<J: Journal>(mut fresh: impl FnMut() -> J) -> Result<(), String> {
    for (name, case) in CASES {
        case(&fresh()).map_err(|problem| format!("{name}: {problem}"))?;
    }
    Ok(())
}

type Case = fn(&dyn Journal) -> Result<(), String>;

/// An unlisted case would be dead code, which the build denies.
const CASES: &[(&str, Case)] = &[
    ("what was appended is read back", what_was_appended_is_read_back),
    ("reading starts after an entry", reading_starts_after_an_entry),
    ("a stale append conflicts and writes nothing", a_stale_append_conflicts),
    ("a gap is refused", a_gap_is_refused),
    ("repeating a commit that landed is success", repeating_is_success),
    ("another commit at the same place is no repetition", another_commit_is_no_repetition),
    ("one of two claims at the same moment wins", one_of_two_claims_wins),
    ("a longer commit at the same place is no repetition", a_longer_commit_is_no_repetition),
    ("an old owner is fenced", an_old_owner_is_fenced),
    ("a newer fence takes the run over", a_newer_fence_takes_over),
    ("appends of one call succeed and fail alone", appends_fail_alone),
    ("an unknown run is told as such", an_unknown_run_is_told),
    ("a commit without entries is refused", an_empty_commit_is_refused),
];

fn run(number: u8) -> RunId {
    RunId(uuid::Uuid::from_bytes([number; 16]))
}

/// A commit of so many entries. What they say does not matter to a store; how they are told apart does.
fn commit(run: RunId, first: u64, count: usize, fence: u64) -> Arc<Commit> {
    let entries = (0..count).map(|at| Entry::Held { on: at % 2 == 0 }).collect();
    let at = Timestamp::from_millis(i64::try_from(first).unwrap_or(0));
    Arc::new(Commit::new(run, OwnerId::default(), Seq(first), at, Fence(fence), entries))
}

fn append(store: &dyn Journal, run: RunId, commit: &Arc<Commit>) -> Result<Seq, StoreError> {
    let one = Append::new(run, Arc::clone(commit));
    let mut answers = store.append(&[one]);
    answers.pop().unwrap_or(Err(StoreError::NoRun(run)))
}

fn lands(store: &dyn Journal, run: RunId, commit: &Arc<Commit>) -> Result<(), String> {
    match append(store, run, commit) {
        Ok(last) if last == commit.last() => Ok(()),
        other => Err(format!("should land and say {}: {other:?}", commit.last())),
    }
}

fn holds(store: &dyn Journal, run: RunId, after: u64, expected: &[&Arc<Commit>]) -> Result<(), String> {
    let found = store.read(run, Seq(after), usize::MAX).map_err(|error| error.to_string())?;
    let same = found.len() == expected.len() && found.iter().zip(expected).all(|(found, wanted)| found == *wanted);
    if same { Ok(()) } else { Err(format!("read {found:?} instead of {expected:?}")) }
}

fn conflicts(answer: &Result<Seq, StoreError>, last: u64) -> Result<(), String> {
    match answer {
        Err(StoreError::Conflict { actual, .. }) if *actual == Seq(last) => Ok(()),
        other => Err(format!("should conflict at {last}: {other:?}")),
    }
}

fn what_was_appended_is_read_back(store: &dyn Journal) -> Result<(), String> {
    let (first, second) = (commit(run(1), 1, 3, 1), commit(run(1), 4, 1, 1));
    lands(store, run(1), &first)?;
    lands(store, run(1), &second)?;
    holds(store, run(1), 0, &[&first, &second])
}

fn reading_starts_after_an_entry(store: &dyn Journal) -> Result<(), String> {
    let (first, second) = (commit(run(1), 1, 3, 1), commit(run(1), 4, 2, 1));
    lands(store, run(1), &first)?;
    lands(store, run(1), &second)?;
    holds(store, run(1), 2, &[&first, &second])?;
    holds(store, run(1), 3, &[&second])?;
    holds(store, run(1), 4, &[&second])?;
    holds(store, run(1), 5, &[])
}

fn a_stale_append_conflicts(store: &dyn Journal) -> Result<(), String> {
    let first = commit(run(1), 1, 3, 1);
    lands(store, run(1), &first)?;
    conflicts(&append(store, run(1), &commit(run(1), 3, 1, 2)), 3)?;
    holds(store, run(1), 0, &[&first])
}

fn a_gap_is_refused(store: &dyn Journal) -> Result<(), String> {
    let first = commit(run(1), 1, 3, 1);
    lands(store, run(1), &first)?;
    conflicts(&append(store, run(1), &commit(run(1), 6, 1, 1)), 3)?;
    holds(store, run(1), 0, &[&first])
}

fn repeating_is_success(store: &dyn Journal) -> Result<(), String> {
    let (first, second) = (commit(run(1), 1, 3, 1), commit(run(1), 4, 1, 1));
    lands(store, run(1), &first)?;
    lands(store, run(1), &first)?;
    lands(store, run(1), &second)?;
    lands(store, run(1), &first)?;
    holds(store, run(1), 0, &[&first, &second])
}

fn another_commit_is_no_repetition(store: &dyn Journal) -> Result<(), String> {
    let first = commit(run(1), 1, 3, 1);
    lands(store, run(1), &first)?;
    conflicts(&append(store, run(1), &commit(run(1), 1, 3, 2)), 3)?;
    holds(store, run(1), 0, &[&first])
}

/// Two processes that claim a run at the same moment expect the same place and the same fence.
fn one_of_two_claims_wins(store: &dyn Journal) -> Result<(), String> {
    let first = commit(run(1), 1, 3, 1);
    lands(store, run(1), &first)?;
    let claim = |owner: u8| {
        let owner = OwnerId(uuid::Uuid::from_bytes([owner; 16]));
        Arc::new(Commit::new(run(1), owner, Seq(4), first.at, Fence(4), first.entries.clone()))
    };
    lands(store, run(1), &claim(1))?;
    conflicts(&append(store, run(1), &claim(2)), 6)?;
    holds(store, run(1), 0, &[&first, &claim(1)])
}

fn a_longer_commit_is_no_repetition(store: &dyn Journal) -> Result<(), String> {
    let first = commit(run(1), 1, 3, 1);
    lands(store, run(1), &first)?;
    conflicts(&append(store, run(1), &commit(run(1), 1, 5, 1)), 3)?;
    holds(store, run(1), 0, &[&first])
}

fn an_old_owner_is_fenced(store: &dyn Journal) -> Result<(), String> {
    let (first, second) = (commit(run(1), 1, 1, 2), commit(run(1), 2, 1, 3));
    lands(store, run(1), &first)?;
    lands(store, run(1), &second)?;
    match append(store, run(1), &commit(run(1), 3, 1, 2)) {
        Err(StoreError::Fenced { held: Fence(2), current: Fence(3) }) => {}
        other => return Err(format!("should be fenced: {other:?}")),
    }
    holds(store, run(1), 0, &[&first, &second])
}

fn a_newer_fence_takes_over(store: &dyn Journal) -> Result<(), String> {
    let (first, second) = (commit(run(1), 1, 1, 1), commit(run(1), 2, 1, 7));
    lands(store, run(1), &first)?;
    lands(store, run(1), &second)?;
    lands(store, run(1), &commit(run(1), 3, 1, 7))
}

fn appends_fail_alone(store: &dyn Journal) -> Result<(), String> {
    let one = Append::new;
    let batch = [
        one(run(1), commit(run(1), 1, 1, 1)),
        one(run(2), commit(run(2), 5, 1, 1)),
        one(run(1), commit(run(1), 2, 1, 1)),
        one(run(3), commit(run(3), 1, 2, 1)),
    ];
    let answers: Vec<_> = store.append(&batch).iter().map(|answer| answer.as_ref().ok().copied()).collect();
    if answers != [Some(Seq(1)), None, Some(Seq(2)), Some(Seq(2))] {
        return Err(format!("{answers:?}"));
    }
    holds(store, run(1), 0, &[&batch[0].commit, &batch[2].commit])
}

fn an_unknown_run_is_told(store: &dyn Journal) -> Result<(), String> {
    let unknown = store.read(run(1), Seq(0), usize::MAX);
    if !matches!(unknown, Err(StoreError::NoRun(_))) {
        return Err(format!("{unknown:?}"));
    }
    match append(store, run(1), &commit(run(1), 4, 1, 1)) {
        Err(StoreError::NoRun(_)) => Ok(()),
        other => Err(format!("{other:?}")),
    }
}

fn an_empty_commit_is_refused(store: &dyn Journal) -> Result<(), String> {
    lands(store, run(1), &commit(run(1), 1, 1, 1))?;
    conflicts(&append(store, run(1), &commit(run(1), 2, 0, 1)), 1)
}
