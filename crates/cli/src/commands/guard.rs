//! The guard process of a run, which sprag starts by itself: it ends what a killed sprag left running.

use std::path::PathBuf;

use clap::Args;
use sprag_core::run::OwnerId;
use sprag_engine::guard;

use crate::failure::Exit;

/// End what a process of sprag left behind when it dies; started by sprag itself
#[derive(Debug, Args)]
pub struct Guard {
    owner: OwnerId,
    slot_folders: PathBuf,
    state: PathBuf,
}

impl Guard {
    pub fn run(&self) -> Exit {
        match guard::main(self.owner, &self.slot_folders, &self.state) {
            Ok(()) => Exit::OK,
            Err(_) => Exit::INTERNAL,
        }
    }
}
