//! Runs as stories, and what holds for all of them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a story that goes wrong stops")]

mod attempts;
mod breaking;
mod corrupt;
mod corrupt_growth;
mod cost;
mod crashes;
mod damaged;
mod edges;
mod ending;
mod files;
mod generated;
mod growing;
mod grown;
mod grown_crashes;
mod guards;
mod handling;
mod naming;
mod owners;
mod people;
mod phases;
mod products;
mod reviewed;
mod scheduling;
mod unavailable;
mod unknown;
mod waiting;
