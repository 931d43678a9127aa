//! Runs in this process, through the library: many at once, and a very large one.

use std::path::Path;
use std::time::{Duration, Instant};

use sprag_core::definition::Definition;
use sprag_core::run::EndStatus;
use sprag_engine::host::{Functions, Outcome, Surroundings};
use sprag_engine::{Engine, ops};
use sprag_store::Store;

fn engine(folder: &Path) -> Engine {
    let store = Store::sqlite(&folder.join("bench.db")).unwrap();
    let (root, state) = (folder.to_owned(), folder.to_owned());
    Engine::with(store, Surroundings { root, state, functions: Functions::new(), guard: None })
}

/// Runs a workflow so many times at once, from the first start to the last end.
pub fn at_once(folder: &Path, definition: Definition, count: usize) -> Duration {
    let engine = engine(folder);
    let host = engine.host().unwrap();
    let began = Instant::now();
    let followers = ops::run_many(&engine, &host, definition, count).unwrap();
    for mut follower in followers {
        match follower.outcome() {
            Outcome::Ended(ending) if ending.status == EndStatus::Completed => {}
            other => panic!("{other:?}"),
        }
    }
    began.elapsed()
}
