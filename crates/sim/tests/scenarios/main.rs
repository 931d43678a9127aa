//! Runs as stories, and what holds for all of them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a story that goes wrong stops")]

mod attempts;
mod breaking;
mod budget;
mod corrupt;
mod corrupt_growth;
mod cost;
mod crashes;
mod damaged;
mod edges;
mod ending;
mod everything;
mod files;
mod generated;
mod growing;
mod grown;
mod grown_crashes;
mod guards;
mod handling;
mod lineages;
mod linking;
mod naming;
mod owners;
mod people;
mod phases;
mod products;
mod recovering;
mod review5;
mod reviewed;
mod scheduling;
mod snapshots;
mod trust;
mod unavailable;
mod unknown;
mod waiting;
