//! The files and folders that a node declares as its outputs: removed before an attempt, harvested after it
//! (`R-CACHE-3`).

mod beneath;
mod clear;
mod harvest;
#[cfg(test)]
mod tests;

pub use clear::clear;
pub use harvest::harvest;
