//! Runs: the stored form of their journals, and what replay refuses.

mod replay;
mod stored;
