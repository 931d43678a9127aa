//! Secrets: where their values come from, and how they stay out of everything that is kept (`R-SEC-1`).

mod forms;
mod masker;
mod resolve;
mod secret;
mod stream;
#[cfg(test)]
mod tests;

pub use masker::Masker;
pub use resolve::resolve;
pub use secret::Secret;
