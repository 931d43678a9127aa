//! The lease port.

use super::sample::owner;
use super::suite::{Case, Found, ok, same};
use crate::leases::Holder;
use crate::store::Store;

pub(super) const CASES: &[Case] = &[
    ("nobody holds what nobody took", nobody_at_first),
    ("a lease is held until it is dropped", held_until_dropped),
    ("leases of several owners are apart", several_owners),
    ("what is shared keeps a lease held", shared_keeps_it_held),
    ("a held lease is not abandoned and cannot be forgotten", held_is_not_abandoned),
    ("forgetting what is not there is nothing", forgetting_nothing),
];

fn is_held(store: &Store, number: u8) -> Result<bool, String> {
    match ok(store.leases.holder(owner(number)))? {
        Holder::Alive { .. } => Ok(true),
        Holder::Nobody => Ok(false),
        Holder::Ending => Err("this process is not ending".to_owned()),
    }
}

fn nobody_at_first(store: &Store) -> Found {
    same(&is_held(store, 1)?, &false)?;
    same(&ok(store.leases.abandoned())?, &Vec::new())
}

fn held_until_dropped(store: &Store) -> Found {
    for _ in 0..2 {
        let lease = ok(store.leases.hold(owner(1), "note"))?;
        same(&is_held(store, 1)?, &true)?;
        drop(lease);
        same(&is_held(store, 1)?, &false)?;
    }
    same(&ok(store.leases.abandoned())?, &Vec::new())
}

fn several_owners(store: &Store) -> Found {
    let first = ok(store.leases.hold(owner(1), ""))?;
    let second = ok(store.leases.hold(owner(2), ""))?;
    drop(first);
    same(&(is_held(store, 1)?, is_held(store, 2)?, is_held(store, 3)?), &(false, true, false))?;
    drop(second);
    same(&is_held(store, 2)?, &false)
}

/// A guard that outlives its process keeps the lock, if leases are locks.
fn shared_keeps_it_held(store: &Store) -> Found {
    let lease = ok(store.leases.hold(owner(1), ""))?;
    if let Some(shared) = lease.shared() {
        let (one, two) = (ok(shared)?, lease.shared());
        drop(one);
        same(&is_held(store, 1)?, &true)?;
        drop(two);
        same(&is_held(store, 1)?, &true)?;
    }
    drop(lease);
    same(&is_held(store, 1)?, &false)
}

fn held_is_not_abandoned(store: &Store) -> Found {
    let lease = ok(store.leases.hold(owner(1), "note"))?;
    same(&ok(store.leases.abandoned())?, &Vec::new())?;
    ok(store.leases.forget(owner(1)))?;
    same(&is_held(store, 1)?, &true)?;
    drop(lease);
    Ok(())
}

fn forgetting_nothing(store: &Store) -> Found {
    ok(store.leases.forget(owner(1)))?;
    same(&is_held(store, 1)?, &false)
}
