//! Several processes that want the same run: one has it, and the others are told so (`R-CLAIM-2`).

use std::sync::Arc;

use sprag_core::run::{OwnerId, Taking};
use sprag_engine::Driver;
use sprag_sim::World;
use sprag_store::{Journal, MemoryJournal, StoreError};
use uuid::Uuid;

/// A store with a run whose owner died while it worked.
fn abandoned() -> (World, MemoryJournal) {
    let mut world = World::dag("a -> b");
    world.starts().crashes();
    let store = MemoryJournal::new();
    for commit in world.journal() {
        let run = world.folded().unwrap().id().unwrap();
        store.append(&[sprag_store::Append { run, commit }]).pop().unwrap().unwrap();
    }
    (world, store)
}

#[test]
fn of_two_processes_that_take_a_run_at_once_only_one_owns_it() {
    // R-CLAIM-1, R-CLAIM-2
    let (world, store) = abandoned();
    let run = world.folded().unwrap().id().unwrap();
    let mut takers: Vec<_> = [71_u128, 72]
        .into_iter()
        .map(|owner| {
            let commits = world.journal();
            let owner = OwnerId(Uuid::from_u128(owner));
            let definition = Arc::new(world.definition().clone());
            Driver::resume(definition, run, commits.iter().map(AsRef::as_ref), owner, Taking::Automatic, 4).unwrap()
        })
        .collect();
    let appends: Vec<_> = takers.iter_mut().map(|driver| driver.drain(world.now()).unwrap().unwrap()).collect();
    let results = store.append(&appends);
    assert!(results[0].is_ok());
    assert!(matches!(results[1], Err(StoreError::Conflict { .. } | StoreError::Fenced { .. })), "{results:?}");
    // Repeating what landed is success for whoever wrote it, and changes nothing.
    assert!(store.append(&appends)[0].is_ok());
    assert_eq!(store.read(run, sprag_core::run::Seq(0)).unwrap().len(), world.journal().len() + 1);
}
