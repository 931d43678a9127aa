//! The mailbox port.

use super::sample::{command, run};
use super::suite::{Case, Found, ok, same};
use crate::store::Store;

pub(super) const CASES: &[Case] = &[
    ("a command waits until it is removed", a_command_waits),
    ("commands wait in the order in which they were sent", oldest_first),
    ("the same command sent twice is one", twice_is_once),
    ("removing what is not there is nothing", removing_nothing),
    ("asking often sees every change", asking_often),
];

fn a_command_waits(store: &Store) -> Found {
    same(&ok(store.mailbox.waiting())?, &Vec::new())?;
    ok(store.mailbox.send(run(1), &command(1, "ann")))?;
    same(&ok(store.mailbox.waiting())?, &vec![(run(1), command(1, "ann"))])?;
    same(&ok(store.mailbox.waiting())?, &vec![(run(1), command(1, "ann"))])?;
    ok(store.mailbox.remove(&[command(1, "ann").id]))?;
    same(&ok(store.mailbox.waiting())?, &Vec::new())
}

fn oldest_first(store: &Store) -> Found {
    for (number, to) in [(7, 1), (3, 2), (5, 1)] {
        ok(store.mailbox.send(run(to), &command(number, "ann")))?;
    }
    let wanted = [(7, 1), (3, 2), (5, 1)].map(|(number, to)| (run(to), command(number, "ann")));
    same(&ok(store.mailbox.waiting())?, &wanted.to_vec())?;
    ok(store.mailbox.remove(&[command(7, "ann").id]))?;
    ok(store.mailbox.send(run(1), &command(7, "ann")))?;
    let wanted = [(3, 2), (5, 1), (7, 1)].map(|(number, to)| (run(to), command(number, "ann")));
    same(&ok(store.mailbox.waiting())?, &wanted.to_vec())
}

fn twice_is_once(store: &Store) -> Found {
    ok(store.mailbox.send(run(1), &command(1, "ann")))?;
    ok(store.mailbox.send(run(2), &command(1, "bob")))?;
    same(&ok(store.mailbox.waiting())?, &vec![(run(1), command(1, "ann"))])
}

fn removing_nothing(store: &Store) -> Found {
    ok(store.mailbox.remove(&[]))?;
    ok(store.mailbox.remove(&[command(1, "ann").id]))?;
    ok(store.mailbox.send(run(1), &command(2, "ann")))?;
    ok(store.mailbox.remove(&[command(1, "ann").id, command(2, "ann").id, command(2, "ann").id]))?;
    same(&ok(store.mailbox.waiting())?, &Vec::new())
}

fn asking_often(store: &Store) -> Found {
    for number in 1..20 {
        ok(store.mailbox.send(run(1), &command(number, "ann")))?;
        same(&ok(store.mailbox.waiting())?.len(), &usize::from(number))?;
        same(&ok(store.mailbox.waiting())?.len(), &usize::from(number))?;
    }
    Ok(())
}
