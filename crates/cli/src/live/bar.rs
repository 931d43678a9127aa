//! A simple progress bar, for a terminal.

use std::collections::BTreeSet;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sprag_engine::events::{Event, What};
use sprag_engine::ops::Resumed;

use super::line;

/// How many running nodes are named.
const NAMED: usize = 3;

/// How far a run is. Outside a terminal nothing is drawn.
pub struct Bar {
    bar: ProgressBar,
    running: BTreeSet<String>,
}

impl Bar {
    pub fn new(nodes: usize, resumed: Option<Resumed>) -> Self {
        let bar = ProgressBar::with_draw_target(Some(nodes as u64), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} nodes  {elapsed}  {wide_msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
        bar.set_position(resumed.map_or(0, |resumed| u64::from(resumed.counts.settled())));
        bar.enable_steady_tick(Duration::from_millis(100));
        Self { bar, running: BTreeSet::new() }
    }

    /// Takes an event in; failures stay on the screen above the bar.
    pub fn take(&mut self, event: &Event) {
        if let What::Node(moved) = &event.what {
            match moved.to {
                "running" => drop(self.running.insert(moved.node.clone())),
                _ => drop(self.running.remove(&moved.node)),
            }
            let final_failure = moved.to == "failed" && moved.due.is_none();
            if final_failure || matches!(moved.to, "completed" | "skipped" | "cancelled") {
                self.bar.inc(1);
            }
            if moved.to == "failed" {
                self.say(&line::of(event));
            }
        } else if line::is_worth_watching(event) {
            self.say(&line::of(event));
        }
    }

    /// Shows what runs now.
    pub fn show(&self) {
        let mut names: Vec<&str> = self.running.iter().map(String::as_str).take(NAMED).collect();
        let more = format!("and {} more", self.running.len().saturating_sub(NAMED));
        if self.running.len() > NAMED {
            names.push(&more);
        }
        self.bar.set_message(names.join(", "));
    }

    /// Prints a line above the bar.
    pub fn say(&self, text: &str) {
        self.bar.println(text);
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
