//! From the text of a workflow file to a checked [`Definition`](crate::definition::Definition), or to every problem it
//! has (`R-FILE-1`).

mod bodies;
mod build;
mod compile;
mod declared;
mod grown;
mod handed;
mod inside;
mod level;
mod names;
mod node;
mod paths;
mod problems;
mod salvage;
mod settle;
mod sites;
mod trail;
mod values;
mod verdict;
mod workflow;

pub use compile::{Loaded, load, place_of_sub_workflow};
pub use grown::{Soil, grown};
pub use handed::{Mismatch, mismatches};
