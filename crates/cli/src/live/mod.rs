//! A run while it goes on: what is printed, what Ctrl-C means, how the command exits.

mod bar;
mod drive;
mod ending;
pub mod line;
mod signals;

pub use drive::drive;
pub use signals::Asked;
