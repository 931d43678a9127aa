//! The guard process of a run, which sprag starts by itself: it ends what a killed sprag left running.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
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
        // A terminal that hangs up and a machine that asks everybody to end must not end the guard before what it guards;
        // where that cannot be arranged, whoever takes over does its work.
        for signal in [SIGHUP, SIGINT, SIGTERM] {
            drop(flag::register(signal, Arc::default()));
        }
        match guard::main(self.owner, &self.slot_folders, &self.state) {
            Ok(()) => Exit::OK,
            Err(_) => Exit::INTERNAL,
        }
    }
}
