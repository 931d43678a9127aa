//! Runs: the stored form of their journals, what replay refuses, and how failed nodes are recovered.

mod carried;
mod climbing;
mod ladder;
mod replay;
mod situations;
mod stored;
