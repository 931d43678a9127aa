//! Checkpoints: how they are stored, when, which are kept, and which one serves.

mod damage;
mod growth;
mod machine;
mod marks;
mod of_run;
mod sample;
mod session_keys;
mod state;
mod stored;
