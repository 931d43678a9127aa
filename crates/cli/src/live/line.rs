//! An event as one line of text.

use sprag_core::run::EndStatus;
use sprag_engine::events::{Event, NodeMoved, What};

use crate::render::visible;
use crate::times;

/// The line of an event.
pub fn of(event: &Event) -> String {
    let line = match &event.what {
        What::RunCreated { workflow, nodes } => format!("run created: workflow {workflow}, {nodes} nodes"),
        What::RunOwned { resumed: true } => "run resumed".into(),
        What::RunOwned { resumed: false } => "run taken".into(),
        What::Node(moved) => node(event, moved),
        What::Produced { node, .. } => format!("{node}: produced its result"),
        What::WaveCompleted { wave } => format!("wave {wave} completed"),
        What::PhaseCompleted { phase } => format!("phase {phase} completed"),
        What::Asked { question, node: Some(node), shown } => {
            format!("{node}: asks {question}: {shown}")
        }
        What::Asked { question, node: None, shown } => format!("asks {question}: {shown}"),
        What::Answered { question, by, .. } => format!("{question} answered by {by}"),
        What::Command { verb, by, refused: None } => format!("{verb} by {by}"),
        What::Command { verb, by, refused: Some(refusal) } => format!("{verb} by {by} refused: {}", refusal.message),
        What::Stopping { cause } => format!("run stops: {cause}"),
        What::RunEnded { status, .. } => format!("run {}", ended(*status)),
    };
    visible(&line).lines().collect::<Vec<_>>().join(" ")
}

/// Whether a person who watches wants to see it: what becomes ready is seen when it starts.
pub fn is_worth_watching(event: &Event) -> bool {
    match &event.what {
        What::Node(moved) => moved.to != "ready",
        What::Command { .. } | What::Stopping { .. } | What::Asked { .. } | What::Answered { .. } => true,
        What::RunCreated { .. }
        | What::RunOwned { .. }
        | What::Produced { .. }
        | What::WaveCompleted { .. }
        | What::PhaseCompleted { .. }
        | What::RunEnded { .. } => false,
    }
}

fn node(event: &Event, moved: &NodeMoved) -> String {
    let mut parts = vec![format!("{}: {}", moved.node, moved.to)];
    if moved.to == "running" && moved.attempt > 1 {
        parts.push(format!("attempt {}", moved.attempt));
    }
    if let Some(error) = &moved.error {
        parts.push(format!("{}: {}", error.code, error.message));
    }
    match (&moved.reason, &moved.cause) {
        (Some(reason), Some(cause)) => parts.push(format!("{reason}: {cause}")),
        (Some(reason), None) => parts.push(reason.clone()),
        (None, _) => {}
    }
    match moved.due {
        Some(due) if moved.to == "failed" => {
            parts.push(format!("again in {}", times::length(due.since(event.at).millis)));
        }
        Some(due) => parts.push(format!("until {}", times::moment(due))),
        None => {}
    }
    parts.join(", ")
}

pub const fn ended(status: EndStatus) -> &'static str {
    match status {
        EndStatus::Completed => "completed",
        EndStatus::Failed => "failed",
        EndStatus::Cancelled => "cancelled",
    }
}
