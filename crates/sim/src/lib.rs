//! A world for runs: virtual time, scripted work, people who answer when told, crashes wherever one likes. It runs the
//! engine's own driver over the memory store, or any other, so what holds here holds there.

mod chance;
pub mod check;
pub mod generate;
pub mod keep;
mod lineage;
mod linking;
mod owner;
mod play;
mod rng;
mod script;
mod story;
mod verbs;
mod world;

pub use play::{Faults, Player};
pub use rng::Rng;
pub use script::{Outcome, Script};
pub use story::dag;
pub use world::{Crash, Execution, World, WorldOptions};
