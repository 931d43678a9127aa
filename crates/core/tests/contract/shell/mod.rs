//! `R-EXPR-2` with real shells: where values may stand, and that none ever becomes code.

mod limits;
mod payloads;
mod placement;
mod random;
mod support;
