//! Loading workflow files.

mod examples;
mod expressions;
mod grown;
mod hashes;
mod hostile;
mod inside;
mod mistakes;
mod paths;
mod places;
pub(crate) mod support;
