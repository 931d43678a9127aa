//! The reference: a store in memory. Every other store is compared with it.

mod journal;
mod rest;
mod state;

pub use state::Memory;
