//! Pictures in, text out: what every format promises, and what collapsing must not break.

mod collapsing;
mod formats;
mod phases;
mod random;
mod sample;
