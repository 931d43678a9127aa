//! Stays with a run until it ends, or has to be left.

use std::io::IsTerminal as _;
use std::time::Duration;

use sprag_engine::Engine;
use sprag_engine::events::Event;
use sprag_engine::host::Notice;
use sprag_engine::ops::{Live, LiveNews, Resumed};

use super::bar::Bar;
use super::signals::Asked;
use super::{ending, line};
use crate::context::Context;
use crate::failure::{Exit, Failure};

/// How often signals are looked at while nothing else happens.
const PATIENCE: Duration = Duration::from_millis(50);

/// Drives a run to its end.
pub fn drive(context: &Context, engine: &Engine, mut live: Live, mut asked: Asked) -> Result<Exit, Failure> {
    let mut view = View::new(context, &live);
    let mut begun = false;
    let outcome = loop {
        let LiveNews { events, notices, outcome } = live.next(PATIENCE)?;
        // A run is spoken of once it is durable (`R-JRN-1`).
        if !begun && !events.is_empty() {
            view.begin(&live);
            begun = true;
        }
        // That the store is back is said before what it took, that it is gone after what it took.
        let back = notices.last() == Some(&Notice::StoreBack);
        if !back {
            view.events(&events);
        }
        for notice in &notices {
            view.notice(notice);
        }
        if back {
            view.events(&events);
        }
        if let Some(outcome) = outcome {
            break outcome;
        }
        match asked.look() {
            None => {}
            Some(1) => {
                live.leave();
                view.say("stopping: running nodes may end; Ctrl-C again kills them");
            }
            Some(_) => {
                live.stop();
                view.say("killing what runs");
            }
        }
    };
    view.clear();
    let (run, resumed) = (live.run(), live.resumed());
    // The lease is free and nothing runs before the last word is said.
    drop(live);
    ending::tell(context, engine, run, &outcome, resumed)
}

/// What the person sees meanwhile.
struct View<'context> {
    context: &'context Context,
    bar: Option<Bar>,
    /// Whether nobody reads standard output any more. The run goes on all the same.
    unread: bool,
}

impl<'context> View<'context> {
    fn new(context: &'context Context, live: &Live) -> Self {
        let wanted = !context.json && !context.quiet && std::io::stderr().is_terminal();
        Self { context, bar: wanted.then(|| Bar::new(nodes(live), live.resumed())), unread: false }
    }

    fn begin(&self, live: &Live) {
        let (run, workflow, nodes) = (live.run(), live.definition().id.as_str(), nodes(live));
        self.say(&match live.resumed() {
            None => format!("run {run} of {workflow}, {nodes} {}", noun(nodes)),
            Some(Resumed { counts, .. }) => {
                format!("resuming run {run} of {workflow}, {} of {nodes} nodes are done", counts.settled())
            }
        });
    }

    fn events(&mut self, events: &[Event]) {
        if events.is_empty() {
            return;
        }
        if self.context.json {
            let lines = events.iter().filter_map(|event| serde_json::to_string(event).ok());
            let text: String = lines.flat_map(|line| [line, "\n".to_owned()]).collect();
            self.unread = self.unread || self.context.data(&text).is_err();
            return;
        }
        match &mut self.bar {
            Some(bar) => {
                for event in events {
                    bar.take(event);
                }
                bar.show();
            }
            None if self.context.quiet => {}
            None => {
                let shown = events.iter().filter(|event| line::is_worth_watching(event));
                self.context.say(&shown.map(|event| line::of(event) + "\n").collect::<String>());
            }
        }
    }

    fn notice(&self, notice: &Notice) {
        match notice {
            Notice::StoreUnavailable(why) => {
                self.warn(&format!(
                    "the store cannot be written: {why}; nothing new starts, nothing is lost, trying again"
                ));
            }
            Notice::StoreBack => self.warn("the store can be written again"),
        }
    }

    fn warn(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.say(text),
            None => self.context.complain(&format!("{text}\n")),
        }
    }

    fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.say(text),
            None => self.context.say(&format!("{text}\n")),
        }
    }

    fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.clear();
        }
    }
}

fn nodes(live: &Live) -> usize {
    live.definition().graph.len()
}

const fn noun(count: usize) -> &'static str {
    if count == 1 { "node" } else { "nodes" }
}
