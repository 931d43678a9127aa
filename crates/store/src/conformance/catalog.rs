//! The catalog port.

use sprag_core::run::{EndStatus, PausedBy, RunId, RunStatus, Timestamp};

use super::sample::{commit, run, summary};
use super::suite::{Case, Found, ok, same};
use crate::catalog::Filter;
use crate::journal::Append;
use crate::store::Store;

pub(super) const CASES: &[Case] = &[
    ("runs are listed newest first", newest_first),
    ("a run without a summary is not listed, but found by its id", without_a_summary),
    ("a summary is kept as it was given, and replaced by the next", kept_and_replaced),
    ("an append that is refused changes no list", refused_changes_nothing),
    ("a list is filtered by state", by_state),
    ("a list is filtered by workflow, start and page", by_the_rest),
    ("runs are found by the start of their id", by_prefix),
];

const EVERYTHING: Filter = Filter { statuses: Vec::new(), workflow: None, since: None, before: None, most: 100 };

/// Makes a run with a line in lists.
fn make(store: &Store, number: u8, workflow: &str, status: RunStatus, started_at: i64) -> Found {
    let mut one = Append::new(run(number), commit(run(number), 1, 1, 1));
    one.summary = Some(summary(workflow, status, started_at)?);
    write(store, one)
}

fn write(store: &Store, one: Append) -> Found {
    for answer in store.journal.append(&[one]) {
        ok(answer)?;
    }
    Ok(())
}

fn listed(store: &Store, filter: &Filter) -> Result<Vec<RunId>, String> {
    Ok(ok(store.catalog.list(filter))?.iter().map(|listed| listed.run).collect())
}

/// Six runs, made in the order of their numbers, which is not the order of their starts.
fn six(store: &Store) -> Found {
    make(store, 1, "build", RunStatus::Created, 600)?;
    make(store, 2, "ship", RunStatus::Running, 500)?;
    make(store, 3, "build", RunStatus::Paused(PausedBy::Verb), 400)?;
    make(store, 4, "build", RunStatus::Paused(PausedBy::Question), 300)?;
    make(store, 5, "ship", RunStatus::Ended(EndStatus::Completed), 200)?;
    make(store, 6, "build", RunStatus::Ended(EndStatus::Failed), 100)
}

fn newest_first(store: &Store) -> Found {
    same(&ok(store.catalog.list(&EVERYTHING))?.len(), &0)?;
    six(store)?;
    let all = ok(store.catalog.list(&EVERYTHING))?;
    same(&all.iter().map(|listed| listed.run).collect(), &[6, 5, 4, 3, 2, 1].map(run).to_vec())?;
    same(&all.iter().map(|listed| listed.number).collect(), &vec![6, 5, 4, 3, 2, 1])
}

fn without_a_summary(store: &Store) -> Found {
    make(store, 1, "build", RunStatus::Created, 1)?;
    write(store, Append::new(run(2), commit(run(2), 1, 1, 1)))?;
    make(store, 3, "build", RunStatus::Created, 1)?;
    same(&listed(store, &EVERYTHING)?, &vec![run(3), run(1)])?;
    same(&ok(store.catalog.find(run(2)))?, &None)?;
    same(&ok(store.catalog.find(run(3)))?.map(|listed| listed.number), &Some(3))?;
    same(&ok(store.catalog.starting_with("02", 9))?, &vec![run(2)])
}

fn kept_and_replaced(store: &Store) -> Found {
    same(&ok(store.catalog.find(run(1)))?, &None)?;
    make(store, 1, "build", RunStatus::Created, 1)?;
    let found = ok(store.catalog.find(run(1)))?.map(|listed| listed.summary);
    same(&found, &Some(*summary("build", RunStatus::Created, 1)?))?;
    write(store, Append::new(run(1), commit(run(1), 2, 1, 1)))?;
    same(&ok(store.catalog.find(run(1)))?.map(|listed| listed.summary), &found)?;
    let mut next = Append::new(run(1), commit(run(1), 3, 1, 1));
    next.summary = Some(summary("build", RunStatus::Running, 1)?);
    write(store, next)?;
    let found = ok(store.catalog.find(run(1)))?;
    same(&found.map(|listed| listed.summary), &Some(*summary("build", RunStatus::Running, 1)?))
}

fn refused_changes_nothing(store: &Store) -> Found {
    make(store, 1, "build", RunStatus::Created, 1)?;
    let running = summary("build", RunStatus::Running, 1)?;
    // One that is stale, one that landed before, and a run that cannot be.
    for (number, commit) in [(1, commit(run(1), 1, 1, 2)), (1, commit(run(1), 1, 1, 1)), (2, commit(run(2), 2, 1, 1))] {
        let mut one = Append::new(run(number), commit);
        one.summary = Some(running.clone());
        store.journal.append(&[one]);
    }
    let found = ok(store.catalog.find(run(1)))?;
    same(&found.map(|listed| listed.summary.status), &Some(RunStatus::Created))?;
    same(&listed(store, &EVERYTHING)?, &vec![run(1)])
}

fn by_state(store: &Store) -> Found {
    six(store)?;
    for (statuses, wanted) in [
        (vec!["created"], vec![1]),
        (vec!["paused"], vec![4, 3]),
        (vec!["failed", "running"], vec![6, 2]),
        (vec!["cancelled"], vec![]),
        (vec!["created", "running", "paused", "completed", "failed", "cancelled"], vec![6, 5, 4, 3, 2, 1]),
    ] {
        let wanted = wanted.into_iter().map(run).collect();
        same(&listed(store, &Filter { statuses, ..EVERYTHING })?, &wanted)?;
    }
    Ok(())
}

fn by_the_rest(store: &Store) -> Found {
    six(store)?;
    let build = || Some("build".to_owned());
    let since = |millis| Some(Timestamp::from_millis(millis));
    for (filter, wanted) in [
        (Filter { workflow: build(), ..EVERYTHING }, vec![6, 4, 3, 1]),
        (Filter { workflow: Some("Build".to_owned()), ..EVERYTHING }, vec![]),
        (Filter { since: since(400), ..EVERYTHING }, vec![3, 2, 1]),
        (Filter { since: since(601), ..EVERYTHING }, vec![]),
        (Filter { before: Some(4), ..EVERYTHING }, vec![3, 2, 1]),
        (Filter { before: Some(1), ..EVERYTHING }, vec![]),
        (Filter { before: Some(u64::MAX), most: 1, ..EVERYTHING }, vec![6]),
        (Filter { most: 0, ..EVERYTHING }, vec![]),
        (Filter { most: usize::MAX, ..EVERYTHING }, vec![6, 5, 4, 3, 2, 1]),
        (Filter { workflow: build(), most: 2, ..EVERYTHING }, vec![6, 4]),
        (Filter { workflow: build(), since: since(200), before: Some(4), statuses: vec!["paused"], most: 9 }, vec![3]),
    ] {
        same(&listed(store, &filter)?, &wanted.into_iter().map(run).collect())?;
    }
    Ok(())
}

fn by_prefix(store: &Store) -> Found {
    six(store)?;
    for (prefix, most, wanted) in [
        ("", 9, vec![6, 5, 4, 3, 2, 1]),
        ("0", 2, vec![6, 5]),
        ("03", 9, vec![3]),
        ("03030303-0303-0303-0303-030303030303", 9, vec![3]),
        ("03030303-0303-0303-0303-0303030303030", 9, vec![]),
        ("03030303-", 0, vec![]),
        ("z", 9, vec![]),
        ("~", 9, vec![]),
        ("%", 9, vec![]),
        ("0_", 9, vec![]),
    ] {
        let wanted: Vec<_> = wanted.into_iter().map(run).collect();
        same(&ok(store.catalog.starting_with(prefix, most))?, &wanted)?;
    }
    Ok(())
}
