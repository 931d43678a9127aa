//! The journal port.

use std::sync::Arc;

use sprag_core::run::{Commit, Fence, OwnerId, RunId, Seq};

use super::sample::{commit, run};
use super::suite::{Found, ok, same};
use crate::error::StoreError;
use crate::journal::{Append, Journal};
use crate::store::Store;

type Case = (&'static str, fn(&dyn Journal) -> Found);

/// An unlisted case would be dead code, which the build denies.
pub(super) const CASES: &[Case] = &[
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
    ("reading stops where it is told to", reading_stops),
    ("numbers may be large", numbers_may_be_large),
    ("a relaxed append is read back like any other", relaxed_is_read_back),
    ("two threads that append to one run take turns", threads_take_turns),
];

/// Cases that need the other ports, too.
pub(super) const WITH_OTHERS: &[super::suite::Case] = &[("names of nodes are no part of a journal", names_are_extra)];

fn append(store: &dyn Journal, run: RunId, commit: &Arc<Commit>) -> Result<Seq, StoreError> {
    let one = Append::new(run, Arc::clone(commit));
    let mut answers = store.append(&[one]);
    answers.pop().unwrap_or(Err(StoreError::NoRun(run)))
}

fn lands(store: &dyn Journal, run: RunId, commit: &Arc<Commit>) -> Found {
    match append(store, run, commit) {
        Ok(last) if last == commit.last() => Ok(()),
        other => Err(format!("should land and say {}: {other:?}", commit.last())),
    }
}

fn holds(store: &dyn Journal, run: RunId, after: u64, expected: &[&Arc<Commit>]) -> Found {
    let found = store.read(run, Seq(after), usize::MAX).map_err(|error| error.to_string())?;
    let same = found.len() == expected.len() && found.iter().zip(expected).all(|(found, wanted)| found == *wanted);
    if same { Ok(()) } else { Err(format!("read {found:?} instead of {expected:?}")) }
}

fn conflicts(answer: &Result<Seq, StoreError>, last: u64) -> Found {
    match answer {
        Err(StoreError::Conflict { actual, .. }) if *actual == Seq(last) => Ok(()),
        other => Err(format!("should conflict at {last}: {other:?}")),
    }
}

fn what_was_appended_is_read_back(store: &dyn Journal) -> Found {
    let (first, second) = (commit(run(1), 1, 3, 1), commit(run(1), 4, 1, 1));
    lands(store, run(1), &first)?;
    lands(store, run(1), &second)?;
    holds(store, run(1), 0, &[&first, &second])
}

fn reading_starts_after_an_entry(store: &dyn Journal) -> Found {
    let (first, second) = (commit(run(1), 1, 3, 1), commit(run(1), 4, 2, 1));
    lands(store, run(1), &first)?;
    lands(store, run(1), &second)?;
    holds(store, run(1), 2, &[&first, &second])?;
    holds(store, run(1), 3, &[&second])?;
    holds(store, run(1), 4, &[&second])?;
    holds(store, run(1), 5, &[])
}

fn a_stale_append_conflicts(store: &dyn Journal) -> Found {
    let first = commit(run(1), 1, 3, 1);
    lands(store, run(1), &first)?;
    conflicts(&append(store, run(1), &commit(run(1), 3, 1, 2)), 3)?;
    holds(store, run(1), 0, &[&first])
}

fn a_gap_is_refused(store: &dyn Journal) -> Found {
    let first = commit(run(1), 1, 3, 1);
    lands(store, run(1), &first)?;
    conflicts(&append(store, run(1), &commit(run(1), 6, 1, 1)), 3)?;
    holds(store, run(1), 0, &[&first])
}

fn repeating_is_success(store: &dyn Journal) -> Found {
    let (first, second) = (commit(run(1), 1, 3, 1), commit(run(1), 4, 1, 1));
    lands(store, run(1), &first)?;
    lands(store, run(1), &first)?;
    lands(store, run(1), &second)?;
    lands(store, run(1), &first)?;
    holds(store, run(1), 0, &[&first, &second])
}

fn another_commit_is_no_repetition(store: &dyn Journal) -> Found {
    let first = commit(run(1), 1, 3, 1);
    lands(store, run(1), &first)?;
    conflicts(&append(store, run(1), &commit(run(1), 1, 3, 2)), 3)?;
    holds(store, run(1), 0, &[&first])
}

/// Two processes that claim a run at the same moment expect the same place and the same fence.
fn one_of_two_claims_wins(store: &dyn Journal) -> Found {
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

fn a_longer_commit_is_no_repetition(store: &dyn Journal) -> Found {
    let first = commit(run(1), 1, 3, 1);
    lands(store, run(1), &first)?;
    conflicts(&append(store, run(1), &commit(run(1), 1, 5, 1)), 3)?;
    holds(store, run(1), 0, &[&first])
}

fn an_old_owner_is_fenced(store: &dyn Journal) -> Found {
    let (first, second) = (commit(run(1), 1, 1, 2), commit(run(1), 2, 1, 3));
    lands(store, run(1), &first)?;
    lands(store, run(1), &second)?;
    match append(store, run(1), &commit(run(1), 3, 1, 2)) {
        Err(StoreError::Fenced { held: Fence(2), current: Fence(3) }) => {}
        other => return Err(format!("should be fenced: {other:?}")),
    }
    holds(store, run(1), 0, &[&first, &second])
}

fn a_newer_fence_takes_over(store: &dyn Journal) -> Found {
    let (first, second) = (commit(run(1), 1, 1, 1), commit(run(1), 2, 1, 7));
    lands(store, run(1), &first)?;
    lands(store, run(1), &second)?;
    lands(store, run(1), &commit(run(1), 3, 1, 7))
}

fn appends_fail_alone(store: &dyn Journal) -> Found {
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

fn an_unknown_run_is_told(store: &dyn Journal) -> Found {
    let unknown = store.read(run(1), Seq(0), usize::MAX);
    if !matches!(unknown, Err(StoreError::NoRun(_))) {
        return Err(format!("{unknown:?}"));
    }
    match append(store, run(1), &commit(run(1), 4, 1, 1)) {
        Err(StoreError::NoRun(_)) => Ok(()),
        other => Err(format!("{other:?}")),
    }
}

fn an_empty_commit_is_refused(store: &dyn Journal) -> Found {
    lands(store, run(1), &commit(run(1), 1, 1, 1))?;
    conflicts(&append(store, run(1), &commit(run(1), 2, 0, 1)), 1)
}

fn reading_stops(store: &dyn Journal) -> Found {
    let commits = [commit(run(1), 1, 3, 1), commit(run(1), 4, 1, 1), commit(run(1), 5, 2, 1)];
    for commit in &commits {
        lands(store, run(1), commit)?;
    }
    let [first, second, third] = &commits;
    for (after, most, wanted) in [
        (0, 0, vec![]),
        (0, 1, vec![first]),
        (0, 2, vec![first, second]),
        (0, 9, vec![first, second, third]),
        (3, 1, vec![second]),
        (5, 1, vec![third]),
        (6, 1, vec![]),
        (u64::MAX, 1, vec![]),
    ] {
        let found = ok(store.read(run(1), Seq(after), most))?;
        same(&found, &wanted.into_iter().map(Arc::clone).collect())?;
    }
    Ok(())
}

fn numbers_may_be_large(store: &dyn Journal) -> Found {
    let first = commit(run(1), 1, 1, u64::MAX - 1);
    lands(store, run(1), &first)?;
    conflicts(&append(store, run(1), &commit(run(1), u64::MAX - 1, 1, u64::MAX)), 1)?;
    conflicts(&append(store, run(1), &commit(run(1), 0, 1, u64::MAX)), 1)?;
    match append(store, run(1), &commit(run(1), 2, 1, 5)) {
        Err(StoreError::Fenced { held: Fence(5), current }) if current == first.fence => {}
        other => return Err(format!("should be fenced: {other:?}")),
    }
    lands(store, run(1), &commit(run(1), 2, 1, u64::MAX))?;
    holds(store, run(1), 0, &[&first, &commit(run(1), 2, 1, u64::MAX)])
}

fn relaxed_is_read_back(store: &dyn Journal) -> Found {
    let commits = [commit(run(1), 1, 1, 1), commit(run(1), 2, 1, 1), commit(run(1), 3, 1, 1)];
    for (commit, relaxed) in commits.iter().zip([true, true, false]) {
        let mut one = Append::new(run(1), Arc::clone(commit));
        one.relaxed = relaxed;
        for answer in store.append(&[one]) {
            ok(answer)?;
        }
    }
    holds(store, run(1), 0, &[&commits[0], &commits[1], &commits[2]])
}

/// Each place has one commit, and whoever lost a place is told so.
fn threads_take_turns(store: &dyn Journal) -> Found {
    const PLACES: u64 = 20;
    let mine = |owner: u8, place: u64| {
        let owner = OwnerId(uuid::Uuid::from_bytes([owner; 16]));
        let sample = commit(run(1), place, 1, 1);
        Arc::new(Commit::new(run(1), owner, Seq(place), sample.at, Fence(1), sample.entries.clone()))
    };
    let won = |owner: u8| {
        let places = (1..=PLACES).map(|place| match append(store, run(1), &mine(owner, place)) {
            Ok(_) => Ok(1),
            Err(StoreError::Conflict { .. }) => Ok(0),
            Err(error) => Err(error.to_string()),
        });
        places.sum::<Result<u64, String>>()
    };
    let (first, second) = std::thread::scope(|scope| {
        let (first, second) = (scope.spawn(|| won(1)), scope.spawn(|| won(2)));
        (first.join(), second.join())
    });
    let died = |_| "a thread died".to_owned();
    same(&(first.map_err(died)?? + second.map_err(died)??), &PLACES)?;
    let stored = ok(store.read(run(1), Seq(0), usize::MAX))?;
    same(&stored.iter().map(|commit| commit.first.0).collect(), &(1..=PLACES).collect::<Vec<_>>())
}

fn names_are_extra(store: &Store) -> Found {
    let first = commit(run(1), 1, 1, 1);
    let mut one = Append::new(run(1), Arc::clone(&first));
    one.names = Some(Arc::new(["build".to_owned(), "it's \"odd\"".to_owned()]));
    for answer in store.journal.append(&[one]) {
        ok(answer)?;
    }
    holds(store.journal.as_ref(), run(1), 0, &[&first])
}
