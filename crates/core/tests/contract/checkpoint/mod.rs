//! Checkpoints: how they are stored, when, which are kept, and which one serves.

mod damage;
mod growth;
mod marks;
mod sample;
mod state;
mod stored;
