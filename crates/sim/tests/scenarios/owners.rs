//! Several processes that want the same run: one has it, and the others are told so (`R-CLAIM-2`).

use std::sync::Arc;

use sprag_core::run::{Command, CommandId, Input, OwnerId, Taking, Verb};
use sprag_engine::Driver;
use sprag_sim::World;
use sprag_sim::keep::{Death, File, Keep};
use sprag_store::{Append, Memory, StoreError};
use uuid::Uuid;

/// Each store with a run whose owner died while it worked.
fn abandoned() -> [(World, Box<dyn Keep>); 2] {
    let stores: [Box<dyn Keep>; 2] = [Box::new(Memory::new()), Box::new(File::new(Death::Killed))];
    stores.map(|mut store| {
        let mut world = World::dag("a -> b");
        world.starts().crashes();
        for commit in world.journal() {
            let run = world.folded().unwrap().id().unwrap();
            store.journal().append(&[Append::new(run, commit)]).pop().unwrap().unwrap();
        }
        store.reopen();
        (world, store)
    })
}

/// A process that folded the journal and is about to claim the run.
fn taker(world: &World, owner: u128) -> Driver {
    let run = world.folded().unwrap().id().unwrap();
    let commits = world.journal();
    let commits = commits.iter().map(AsRef::as_ref);
    let definition = Arc::new(world.definition().clone());
    Driver::resume(definition, run, commits, OwnerId(Uuid::from_u128(owner)), Taking::Automatic, 4).unwrap()
}

#[test]
fn of_two_processes_that_take_a_run_at_once_only_one_owns_it() {
    // R-CLAIM-1, R-CLAIM-2
    for (world, store) in abandoned() {
        let store = store.journal();
        let run = world.folded().unwrap().id().unwrap();
        let mut takers = [71, 72].map(|owner| taker(&world, owner));
        let appends: Vec<_> = takers.iter_mut().map(|driver| driver.drain(world.now()).unwrap().unwrap()).collect();
        let results = store.append(&appends);
        assert!(results[0].is_ok());
        assert!(matches!(results[1], Err(StoreError::Conflict { .. } | StoreError::Fenced { .. })), "{results:?}");
        // Repeating what landed is success for whoever wrote it, and changes nothing.
        assert!(store.append(&appends)[0].is_ok());
        assert_eq!(store.read(run, sprag_core::run::Seq(0), usize::MAX).unwrap().len(), world.journal().len() + 1);
    }
}

#[test]
fn nothing_is_answered_before_what_it_rests_on_is_durable() {
    // R-JRN-1
    for (world, store) in abandoned() {
        let store = store.journal();
        let mut driver = taker(&world, 71);
        let pause = |id| Command { id: CommandId(Uuid::from_u128(id)), by: "ann".into(), why: None, verb: Verb::Pause };
        driver.offer(Input::Command(pause(1)));
        let append = driver.drain(world.now()).unwrap().unwrap();
        assert!(driver.replies().is_empty(), "not even the claim is durable");
        let last = store.append(&[append]).pop().unwrap().unwrap();
        driver.durable(last);
        assert_eq!(driver.replies().len(), 2, "the claim and the command");
        driver.offer(Input::Command(pause(1)));
        assert!(driver.drain(world.now()).unwrap().is_none(), "told twice, it counts once");
        assert_eq!(driver.replies().len(), 1, "and is answered again");
    }
}

#[test]
fn the_next_drain_may_be_decided_while_a_commit_is_being_written() {
    // R-JRN-1
    for (world, store) in abandoned() {
        let store = store.journal();
        let run = world.folded().unwrap().id().unwrap();
        let mut driver = taker(&world, 71);
        let claim = driver.drain(world.now()).unwrap().unwrap();
        let command = Command { id: CommandId(Uuid::from_u128(1)), by: "ann".into(), why: None, verb: Verb::Pause };
        driver.offer(Input::Command(command));
        let pause = driver.drain(world.now()).unwrap().unwrap();
        assert_eq!(pause.commit.first, claim.commit.last().next());
        assert!(driver.effects().is_empty() && driver.replies().is_empty());
        // The answer to the first write is lost, so it is sent again, and both land in one call.
        store.append(std::slice::from_ref(&claim)).pop().unwrap().unwrap();
        let results = store.append(&[claim, pause]);
        let last = results.into_iter().last().unwrap().unwrap();
        driver.durable(last);
        assert_eq!(driver.effects().len(), 1, "the attempt that follows the interrupted one");
        assert_eq!(driver.replies().len(), 2);
        assert_eq!(store.read(run, sprag_core::run::Seq(0), usize::MAX).unwrap().len(), world.journal().len() + 2);
    }
}
