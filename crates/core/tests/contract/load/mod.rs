//! Loading workflow files.

mod examples;
mod expressions;
mod hashes;
mod hostile;
mod mistakes;
mod paths;
mod places;
pub(crate) mod support;
