//! Planning: what a run keeps of an earlier one.

mod changed;
mod eligibility;
mod growth;
mod lineage;
mod rules;
mod shape;
mod support;
mod ways;
