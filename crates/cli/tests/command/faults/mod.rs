//! Faults that a run survives, and those it says clearly: disks, files, crowds, secrets, results.

mod canary;
mod chain;
mod disk;
mod environment;
mod journal;
mod outputs;
mod rig;
mod store;
mod together;
mod views;
mod workspace;
